//go:build full

package sriov

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// faults breaks what the page has built, one thing after another, and holds the ends to docs/reliability.md. The
// machine is the last, as nothing repairs it.
func (l *lab) faults(limit int64, before string) {
	l.Run("a cable that is pulled for a moment", func(t *testing.T) {
		s := l.in(t)
		s.begin("cable")
		s.pull("ens1f0", 5*time.Second)
		s.complete("cable", lineratev1alpha1.ReasonMeasured)
		s.bounds("cable", limit)
		s.givenBack(before)
	})
	l.Run("a generator's pod that is deleted", func(t *testing.T) {
		s := l.in(t)
		s.begin("pod")
		s.mustOnDesk("kubectl -n lab delete pod --wait=false -l linerate.dev/test=pod,linerate.dev/role=generator")
		s.complete("pod", lineratev1alpha1.ReasonEvicted, lineratev1alpha1.ReasonGeneratorLost)
		s.noFigure("pod")
		s.givenBack(before)
	})
	l.Run("the device's machine whose power is cut", func(t *testing.T) {
		s := l.in(t)
		s.begin("machine")
		s.machines.Machine(s.nodeOf("machine", "dut")).Kill()
		s.complete("machine", lineratev1alpha1.ReasonDUTFailed, lineratev1alpha1.ReasonNodeLost)
		s.noFigure("machine")
	})
}

// in is the lab for a test of its own.
func (l *lab) in(t *testing.T) *lab {
	s := *l
	s.T = t
	return &s
}

// begin applies the page's known.yaml under another name, and returns once windows are measured.
func (l *lab) begin(name string) {
	l.Helper()
	l.hurryNodes()
	l.mustOnDesk("sed 's/name: known,/name: " + name + ",/' known.yaml | kubectl apply -f -")
	l.mustOnDesk(fmt.Sprintf("timeout %.0f bash -c 'until kubectl -n lab wait pod -l linerate.dev/test=%s "+
		"--for=condition=Ready --timeout=1m; do sleep 1; done'", patience.Seconds(), name))
	l.calmNodes()
	l.await(name, "measured windows", func(test *lineratev1alpha1.LoadTest) bool {
		p := test.Status.Progress
		return p != nil && p.Percent != nil && *p.Percent > 0
	})
}

func (l *lab) mustOnDesk(command string) string {
	l.Helper()
	output, err := l.onDesk(command)
	if err != nil {
		l.Fatalf("%s: %v: %s", command, err, output)
	}
	return output
}

// bounds: where a function lost its carrier, its trial was repeated, and the figure is the limit. igbvf's functions don't
// learn that a cable is out. The figure is then a lower bound, as nothing came back for a while.
func (l *lab) bounds(name string, limit int64) {
	l.Helper()
	test := l.await(name, "status", func(*lineratev1alpha1.LoadTest) bool { return true })
	r := test.Status.Result
	if r == nil || r.Reason != string(report.DeviceLost) {
		l.answers(name, limit)
		return
	}
	received := statustest.Received(r)
	l.Logf("at least %v packets/s of a limit of %d", received, limit)
	if len(received) != 2 || slices.Max(received) > limit+limit/100 {
		l.Errorf("the directions %v packets/s aren't two of at most %d", received, limit)
	}
}

// pull pulls the cable of a port out of both machines, and plugs it in again: a real one that is out takes the carrier
// of both ends.
func (l *lab) pull(port string, span time.Duration) {
	l.Helper()
	plug := func(in bool) {
		for _, name := range l.names {
			if err := l.machines.Machine(name).SetLink(port, in); err != nil {
				l.Fatal(err)
			}
		}
	}
	plug(false)
	time.Sleep(span) // how long the fault lasts
	plug(true)
}

func (l *lab) nodeOf(test, role string) string {
	l.Helper()
	return l.mustOnDesk("kubectl -n lab get pod -l linerate.dev/test=" + test + ",linerate.dev/role=" + role +
		" -o jsonpath='{.items[0].spec.nodeName}'")
}

// await waits until the test is so.
func (l *lab) await(name, state string, reached func(*lineratev1alpha1.LoadTest) bool) *lineratev1alpha1.LoadTest {
	l.Helper()
	deadline := time.Now().Add(2 * patience)
	for {
		var test lineratev1alpha1.LoadTest
		err := l.Client.Get(l.Context(), client.ObjectKey{Namespace: "lab", Name: name}, &test)
		if err == nil && reached(&test) {
			return &test
		}
		if time.Now().After(deadline) {
			l.Fatalf("%s has no %s after %v: %v, %+v", name, state, 2*patience, err, test.Status)
		}
		time.Sleep(time.Second)
	}
}

// complete waits for the test's end, which has one of the reasons.
func (l *lab) complete(name string, reasons ...string) {
	l.Helper()
	test := l.await(name, "end", func(test *lineratev1alpha1.LoadTest) bool {
		return meta.IsStatusConditionTrue(test.Status.Conditions, lineratev1alpha1.ConditionComplete)
	})
	complete := meta.FindStatusCondition(test.Status.Conditions, lineratev1alpha1.ConditionComplete)
	l.Logf("%s is complete: %s: %s", name, complete.Reason, complete.Message)
	if !slices.Contains(reasons, complete.Reason) {
		l.Errorf("%s is complete as %s, want %v: %s", name, complete.Reason, reasons, complete.Message)
	}
}

// noFigure: what a fault ended passes no gate.
func (l *lab) noFigure(name string) {
	l.Helper()
	test := l.await(name, "status", func(*lineratev1alpha1.LoadTest) bool { return true })
	if passed := meta.FindStatusCondition(test.Status.Conditions, lineratev1alpha1.ConditionPassed); passed != nil &&
		passed.Status == metav1.ConditionTrue {
		l.Errorf("%s passed: %s", name, passed.Message)
	}
}
