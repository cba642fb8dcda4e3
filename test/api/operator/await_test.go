package operator

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// awaitBound is much more than anything takes that is waited for, on a machine that does much else: where twenty others wanted each processor, ten tests took more than a minute.
const awaitBound = 5 * time.Minute

// await waits until it is so, and fails if that doesn't come to be.
func (l *lab) await(what string, so func() bool) {
	l.t.Helper()
	err := wait.PollUntilContextTimeout(l.t.Context(), 50*time.Millisecond, awaitBound, true, func(context.Context) (bool, error) { return so(), nil })
	if err != nil {
		l.t.Fatalf("%s: waited for %s in vain", what, awaitBound)
	}
}

// awaitCondition waits until a condition is as said, such as "Complete=True Measured".
func (l *lab) awaitCondition(name, want string) {
	l.t.Helper()
	defer func() {
		if l.t.Failed() {
			l.t.Logf("status:\n%s", l.describe(name))
		}
	}()
	l.await(want, func() bool {
		for _, c := range l.get(name).Status.Conditions {
			if fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason) == want {
				return true
			}
		}
		return false
	})
}

// awaitPods waits until the pods of a test are made: the device's and a generator's.
func (l *lab) awaitPods(name string) {
	l.t.Helper()
	l.await("pods of "+name, func() bool {
		roles := map[string]bool{}
		for _, pod := range l.pods() {
			roles[pod.Labels[v1alpha1.LabelRole]] = roles[pod.Labels[v1alpha1.LabelRole]] || pod.Labels[v1alpha1.LabelTest] == name
		}
		return roles["dut"] && roles["generator"]
	})
}
