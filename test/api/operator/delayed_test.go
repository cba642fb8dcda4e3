package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// delayed reads as a cache does whose watch is behind: while it is held, it answers what it answered last.
type delayed struct {
	client.Client
	held    bool
	answers map[string][]byte
}

func (d *delayed) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return d.answer(fmt.Sprintf("%T %s %s", into, into.GetObjectKind().GroupVersionKind().Kind, key), into, func() error {
		return d.Client.Get(ctx, key, into, options...)
	})
}

func (d *delayed) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	return d.answer(fmt.Sprintf("%T %s %s %s", into, into.GetObjectKind().GroupVersionKind().Kind, asked.Namespace, asked.LabelSelector), into, func() error {
		return d.Client.List(ctx, into, options...)
	})
}

func (d *delayed) answer(question string, into any, ask func() error) error {
	if text, known := d.answers[question]; d.held && known {
		return json.Unmarshal(text, into)
	}
	if err := ask(); err != nil {
		return err
	}
	text, err := json.Marshal(into)
	d.answers[question] = text
	return err
}

// behind gives the lab's operator a cache that can be held.
func (l *lab) behind() *delayed {
	d := &delayed{Client: l.operator, answers: map[string][]byte{}}
	l.operator = d
	l.restart()
	return d
}

// What the operator did last it knows, even where its cache doesn't: it waits for the watch, and asks nothing in vain.
func TestAStaleCacheCausesNoRepetition(t *testing.T) {
	l := newLab(t)
	cache := l.behind()
	test := minimal("behind")
	l.wires(test)
	l.create(test)
	for l.podNames("behind") == "" {
		cache.held = false
		l.pass("behind") // the view of this pass is the last for a while: it is older than what the pass does
		cache.held = true
	}
	l.asked.take()
	for range 5 {
		if result := l.pass("behind"); result.RequeueAfter <= 0 || result.RequeueAfter > controllersForget {
			t.Errorf("the watch is waited for %s at most", result.RequeueAfter)
		}
	}
	if asked := l.asked.take(); asked.total() > 0 {
		t.Errorf("a view from before its own last act is acted upon:\n%s", asked)
	}
	cache.held = false
	l.settle("behind")
	l.want("behind", "Scheduled=False Pending")
}

// controllersForget is longer than a view is waited for.
const controllersForget = 11 * time.Second

// A new operator has no memory. Acting upon an old view does no harm then either: names are taken already, and the status is written only over the
// version that was read.
func TestAnAttemptIsCountedOnceWithAStaleCache(t *testing.T) {
	l := newLab(t)
	cache := l.behind()
	l.forgetful = true
	test := minimal("numa")
	l.wires(test)
	l.create(test)
	l.settle("numa")
	l.schedule()
	l.refuse("generator")
	l.pass("numa") // decides that the first attempt is void
	cache.held = true
	l.wantAttempt("numa", 2)
	l.repeats("numa")
	l.wantAttempt("numa", 2)

	l.operator = cache.Client // an operator whose caches are not behind goes on
	l.settleAndReap("numa")
	l.scheduleOn("node-b")
	l.refuse("generator")
	l.settleAndReap("numa")
	l.wantAttempt("numa", 3)

	l.operator = cache // and this one still sees the first attempt
	l.repeats("numa")
	l.wantAttempt("numa", 3)
	cache.held = false
	l.settleAndReap("numa")
	l.wantAttempt("numa", 3)
}

// refuse is a kubelet that has no room in one NUMA node for the only pod of a role.
func (l *lab) refuse(role string) {
	l.t.Helper()
	l.setStatus(l.pod(role), corev1.PodStatus{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: "no devices on one NUMA node"})
}

// repeats lets the operator look again and again, and fails if it makes pods.
func (l *lab) repeats(name string) {
	l.t.Helper()
	l.asked.take()
	for range 5 {
		l.pass(name)
	}
	if made := l.asked.take()["POST pods"]; made > 0 {
		l.t.Errorf("%d pods of a void attempt were made again", made)
	}
}

func (l *lab) settleAndReap(name string) {
	l.t.Helper()
	for range 3 {
		l.settle(name)
		l.reap()
	}
}

func (l *lab) wantAttempt(name string, want int32) {
	l.t.Helper()
	if status := l.get(name).Status; status.Attempt != want || len(status.Operator.ExcludedNodes) != int(want)-1 {
		l.t.Fatalf("attempt %d without %v, want attempt %d; status:\n%s", status.Attempt, status.Operator.ExcludedNodes, want, l.describe(name))
	}
}
