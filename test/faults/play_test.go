package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/test/e2e/rig"
)

// play is one row while it is played, in a namespace of its own, with ears on the wires.
type play struct {
	*testing.T
	row
	namespace string
	wires     *rig.Listener
	// generatorNode is where the generator is, from when it is known.
	generatorNode string
	// struck and mended are when the fault began and ended.
	struck, mended time.Time

	test *lineratev1alpha1.LoadTest
	// report is what was measured; nil: there is none.
	report *report.Report
	// silence is how long after the fault, or the end, the wires were last heard.
	silence time.Duration
	// others is how much of the machine was used by others while the test ran.
	others float64
	// again is the same test afterwards; empty: it wasn't played.
	again string
}

// begin makes the place for a play.
func begin(t *testing.T, r row) *play {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	if err := lab.Client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	p := &play{T: t, row: r, namespace: namespace.Name, wires: lab.Listen(t.Context())}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if t.Failed() {
			p.describe(ctx)
		}
		if err := lab.Client.Delete(ctx, namespace); err != nil {
			t.Error(err)
		}
	})
	return p
}

// perform plays a row: the test begins, the fault strikes in its phase and is mended, the test ends.
func (p *play) perform() {
	calm(p.T)
	was := readProcessors(p.T)
	p.create(underTest)
	p.reach(underTest)
	p.struck = time.Now()
	p.fault.strike(p)
	p.mended = time.Now()
	p.Logf("struck at %s", p.struck.UTC().Format(time.StampMilli))
	p.mend()
	p.test = p.complete(underTest)
	p.others = readProcessors(p.T).others(was)
	p.report = p.readReport(p.test)
}

// underTest is the LoadTest's name that is struck, afterwards that of the one that is run again.
const (
	underTest  = "struck"
	afterwards = "again"
)

// mend ends the fault after its time, and waits until the lab is whole. The end of the fault is when it was mended, not when all is well.
func (p *play) mend() {
	p.Helper()
	if p.fault.mend != nil {
		p.pass(p.fault.outage)
		p.fault.mend(p)
		p.mended = time.Now()
	}
}

// reach waits until the test is in the row's phase, at a moment that is well within it.
func (p *play) reach(name string) {
	p.Helper()
	if p.phase == starting {
		p.fault.ready(p)
	} else {
		p.logged(name, moments()[p.phase], 2*time.Minute)
		p.pass(time.Second) // a phase is longer than that, and a window that just began would not be touched
	}
	p.generatorNode = p.placed(generatorRole).Spec.NodeName
}

// moments are what the runner's log says when a phase begins.
func moments() map[phase]func(log string) bool {
	says := func(words string) func(string) bool {
		return func(log string) bool { return strings.Contains(log, words) }
	}
	return map[phase]func(string) bool{
		warmUp:     says("traffic starts"),
		ramping:    says("phase=Ramping"),
		confirming: says("confirming "),
	}
}

// pass lets time go by that belongs to the fault itself.
func (p *play) pass(d time.Duration) {
	p.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.Context().Done():
		p.Fatal(p.Context().Err())
	}
}
