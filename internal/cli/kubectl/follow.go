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

// update is what a watch found out about one of the tests and suites that are followed.
type update struct {
	index    int      // of the test or suite among those that are followed
	moment   moment   // the present state; empty until read is true
	read     bool     // the moment was read at least once
	messages []string // tests of the suite that have ended since the last update
	outage   string   // a message about the server, while the moment is unchanged
	err      error    // why the test or suite can't be followed any more
}

// isLast reports whether no more updates of this test or suite follow.
func (u update) isLast() bool { return u.err != nil || u.outage == "" && u.moment.ended() }

// follow sends updates of tests and suites until each has ended, was deleted or can't be followed, or the
// context ends. It then closes the channel. The caller must read the channel until then.
func (c *cluster) follow(ctx context.Context, objects []client.Object, patience time.Duration) <-chan update {
	updates := make(chan update)
	var followers sync.WaitGroup
	for i, o := range objects {
		f := &follower{cluster: c, index: i, uid: o.GetUID(), kind: kindOf(o), key: client.ObjectKeyFromObject(o),
			patience: patience}
		f.watchObject, f.deleted = f.watchTest, testMoment{}
		if f.kind == v1alpha1.LoadTestSuiteKind {
			f.watchObject, f.watchTests, f.deleted = f.watchSuite, f.watchSuiteTests, suiteMoment{}
		}
		followers.Go(func() { f.run(ctx, updates) })
	}
	go func() {
		followers.Wait()
		close(updates)
	}()
	return updates
}

// change applies to an update what a watch found.
type change func(*update)

// follower follows one test or suite. It watches the object itself, and of a suite also the tests. A test's
// progress is read from its status, which only the operator writes.
type follower struct {
	cluster  *cluster
	index    int
	uid      types.UID
	kind     string
	key      client.ObjectKey
	patience time.Duration

	watchObject func(send func(change)) *objectWatch
	watchTests  func(send func(change)) *objectWatch // nil for a test
	deleted     moment                               // the moment of a deleted test or suite
}

func (f *follower) run(ctx context.Context, updates chan<- update) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	u := update{index: f.index, moment: f.deleted}
	for change := range f.changes(ctx) {
		if ctx.Err() != nil {
			continue // a change that arrived after the end
		}
		u.outage, u.messages = "", nil
		change(&u)
		if !u.read && u.err == nil && u.outage == "" {
			continue // the suite's tests were read before the suite
		}
		updates <- u
		if u.isLast() {
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
	var watches sync.WaitGroup
	watches.Go(func() {
		if err := f.watchObject(send).run(ctx); ctx.Err() == nil && !errors.Is(err, errGone) {
			send(func(u *update) { u.err = f.cluster.explainOf(f.kind, "watch", f.key, err) })
		}
	})
	if f.watchTests != nil {
		watches.Go(func() {
			_ = f.watchTests(send).run(ctx) // without the right to list tests there is still the suite's own status
		})
	}
	go func() {
		watches.Wait()
		close(changes)
	}()
	return changes
}

// watch watches the object itself, and applies each of its states to the update.
func (f *follower) watch(send func(change), list client.ObjectList, apply func(*update, client.Object)) *objectWatch {
	sendDeleted := func() { send(func(u *update) { u.moment, u.read = f.deleted, true }) }
	return &objectWatch{
		source: f.cluster.client, key: f.key, list: list, patience: f.patience,
		onObject: func(o client.Object) {
			if o.GetUID() != f.uid { // a later object of the same name
				sendDeleted()
				return
			}
			send(func(u *update) {
				u.read = true
				apply(u, o)
			})
		},
		onGone:   sendDeleted,
		onOutage: func(words string) { send(func(u *update) { u.outage = words }) },
	}
}

func (f *follower) watchTest(send func(change)) *objectWatch {
	return f.watch(send, &v1alpha1.LoadTestList{}, func(u *update, o client.Object) {
		test, _ := o.(*v1alpha1.LoadTest)
		u.moment = testMoment{test}
	})
}
