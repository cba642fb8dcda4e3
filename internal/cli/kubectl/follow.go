package kubectl

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// news is one thing that happened to a test or suite that is followed.
type news struct {
	of     int      // the index of the test or suite among those that are followed
	moment moment   // as it is now
	told   []string // messages: tests of the suite that have ended
	outage string   // a message about the server, while the moment is unchanged
	err    error    // why it can't be followed any more
	seen   bool     // the moment was read; before, it is empty
}

// last says that there will be no more news of this test or suite.
func (n news) last() bool { return n.err != nil || n.outage == "" && n.moment.ended() }

// follow sends news of tests and suites until each has ended, was deleted, or can't be followed, or the context ends; then it closes the channel.
// The channel must be read until then.
func (c *cluster) follow(ctx context.Context, objects []client.Object, patience time.Duration) <-chan news {
	out := make(chan news)
	var all sync.WaitGroup
	for i, o := range objects {
		f := &follower{cluster: c, of: i, uid: o.GetUID(), kind: kindOf(o), at: client.ObjectKeyFromObject(o), patience: patience}
		f.itself, f.nothing = f.test, testMoment{}
		if f.kind == v1alpha1.LoadTestSuiteKind {
			f.itself, f.beside, f.nothing = f.suite, f.suiteTests, suiteMoment{}
		}
		all.Go(func() { f.run(ctx, out) })
	}
	go func() {
		all.Wait()
		close(out)
	}()
	return out
}

// change applies to the news what a watch found.
type change func(*news)

// follower follows one test or suite: the object itself, and a suite's tests, too. A test's progress is read from its status, which only the operator
// writes.
type follower struct {
	cluster  *cluster
	of       int
	uid      types.UID
	kind     string
	at       client.ObjectKey
	patience time.Duration

	itself, beside func(send func(change)) *objectWatch // beside is nil for a test
	nothing        moment                               // the moment of a deleted one
}

func (f *follower) run(ctx context.Context, out chan<- news) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	n := news{of: f.of, moment: f.nothing}
	for change := range f.changes(ctx) {
		if ctx.Err() != nil {
			continue // a change that arrived after the end
		}
		n.outage, n.told = "", nil
		change(&n)
		if !n.seen && n.err == nil && n.outage == "" {
			continue // the suite's tests were read before the suite
		}
		out <- n
		if n.last() {
			end()
		}
	}
}

// changes returns the changes that both watches find. The channel closes when the context has ended.
func (f *follower) changes(ctx context.Context) <-chan change {
	changes := make(chan change)
	send := func(c change) {
		select {
		case changes <- c:
		case <-ctx.Done():
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		if err := f.itself(send).run(ctx); ctx.Err() == nil && !errors.Is(err, errGone) {
			send(func(n *news) { n.err = f.cluster.explainOf(f.kind, "watch", f.at, err) })
		}
	})
	if f.beside != nil {
		both.Go(func() {
			_ = f.beside(send).run(ctx) // without the right to list tests there is still the suite's own status
		})
	}
	go func() {
		both.Wait()
		close(changes)
	}()
	return changes
}

// object watches the object itself.
func (f *follower) object(send func(change), list client.ObjectList, take func(*news, client.Object)) *objectWatch {
	gone := func() { send(func(n *news) { n.moment, n.seen = f.nothing, true }) }
	return &objectWatch{
		source: f.cluster.client, at: f.at, list: list, patience: f.patience,
		seen: func(o client.Object) {
			if o.GetUID() != f.uid { // another one of its name
				gone()
				return
			}
			send(func(n *news) {
				n.seen = true
				take(n, o)
			})
		},
		gone: gone,
		tell: func(words string) { send(func(n *news) { n.outage = words }) },
	}
}

func (f *follower) test(send func(change)) *objectWatch {
	return f.object(send, &v1alpha1.LoadTestList{}, func(n *news, o client.Object) {
		test, _ := o.(*v1alpha1.LoadTest)
		n.moment = testMoment{test}
	})
}
