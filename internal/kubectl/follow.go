package kubectl

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// news is one thing that was seen of one test.
type news struct {
	of     int    // the test's place among those that are followed
	moment moment // as it is now
	outage string // words about the server; the moment is as it was
	err    error  // it can't be followed any more
}

// last says that nothing more comes of this test.
func (n news) last() bool { return n.err != nil || n.outage == "" && n.moment.ended() }

// follow tells of the tests until each has ended, is gone, or can't be followed, or the context ends; then it closes the channel. The
// channel must be read until then.
func (c *cluster) follow(ctx context.Context, tests []*v1alpha1.LoadTest, patience time.Duration) <-chan news {
	out := make(chan news)
	var all sync.WaitGroup
	for i, test := range tests {
		f := &follower{cluster: c, of: i, uid: test.UID, at: client.ObjectKeyFromObject(test), patience: patience}
		all.Go(func() { f.run(ctx, out) })
	}
	go func() {
		all.Wait()
		close(out)
	}()
	return out
}

// follower follows one test: its object, and beside it what its runner says.
type follower struct {
	cluster  *cluster
	of       int
	uid      types.UID
	at       client.ObjectKey
	patience time.Duration
}

func (f *follower) run(ctx context.Context, out chan<- news) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	n := news{of: f.of}
	for change := range f.changes(ctx) {
		if ctx.Err() != nil {
			continue // what was under way when it ended
		}
		n.outage = ""
		change(&n)
		if n.moment.test == nil && n.err == nil && n.outage == "" && n.moment.said != nil {
			continue // the runner spoke before the test was seen
		}
		out <- n
		if n.last() {
			end()
		}
	}
}

// changes are what happens to the news, from both watches. The channel closes when the context has ended.
func (f *follower) changes(ctx context.Context) <-chan func(*news) {
	changes := make(chan func(*news))
	send := func(change func(*news)) {
		select {
		case changes <- change:
		case <-ctx.Done():
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		if err := f.test(send).keep(ctx); ctx.Err() == nil && !errors.Is(err, errGone) {
			send(func(n *news) { n.err = f.cluster.explain("watch", f.at, err) })
		}
	})
	both.Go(func() {
		_ = f.progress(send).keep(ctx) // who may not read it sees the status' progress
	})
	go func() {
		both.Wait()
		close(changes)
	}()
	return changes
}

func (f *follower) test(send func(func(*news))) *sight {
	gone := func() { send(func(n *news) { n.moment = moment{} }) }
	return &sight{
		source: f.cluster.client, at: f.at, list: &v1alpha1.LoadTestList{}, patience: f.patience,
		seen: func(o client.Object) {
			test, ok := o.(*v1alpha1.LoadTest)
			if !ok || test.UID != f.uid { // another one of its name
				gone()
				return
			}
			send(func(n *news) { n.moment.test = test })
		},
		gone: gone,
		tell: func(words string) { send(func(n *news) { n.outage = words }) },
	}
}

func (f *follower) progress(send func(func(*news))) *sight {
	at := client.ObjectKey{Namespace: f.at.Namespace, Name: manifests.ProgressName(f.at.Name)}
	return &sight{
		source: f.cluster.client, at: at, list: &corev1.ConfigMapList{}, patience: f.patience,
		seen: func(o client.Object) {
			cm, ok := o.(*corev1.ConfigMap)
			if !ok || cm.Labels[v1alpha1.LabelUID] != string(f.uid) {
				return
			}
			if p, err := delivery.DecodeProgress(cm.Data); err == nil && p != nil { // one of another release is none
				send(func(n *news) { n.moment.said = p })
			}
		},
	}
}
