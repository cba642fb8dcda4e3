//go:build full

package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// play is one row while it is played, in a namespace of its own, with ears on the wires.
type play struct {
	*testing.T
	row
	namespace string
	made      *lineratev1alpha1.LoadTest // the last one, as it was made
	wires     *rig.Listener
	// generatorNode is where the generator is, from when it is known.
	generatorNode string
	// struck and mended are when the fault began and ended.
	struck, mended time.Time

	// begun and ended are when the test began and was complete.
	begun, ended time.Time
	test         *lineratev1alpha1.LoadTest
	// report is what was measured; nil: there is none.
	report *report.Report
	// silence is how long after the fault, or the end, there was last traffic on the wires.
	silence time.Duration
	// disturbed: a test has no answer, while the machine was disturbed; noAnswer is what the table tells of the test that was struck.
	disturbed bool
	noAnswer  string
	// again is the same test afterwards, and againOn the machine meanwhile; empty: it wasn't played.
	again, againOn string
}

// begin makes the place for a play.
func (p *play) begin() {
	p.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	p.check(lab.Client.Create(p.Context(), namespace))
	p.namespace, p.wires = namespace.Name, lab.Listen(p.Context())
	p.Cleanup(func() {
		ctx := context.WithoutCancel(p.Context())
		if p.Failed() {
			p.describe(ctx)
		}
		if err := lab.Client.Delete(ctx, namespace); err != nil {
			p.Error(err)
		}
	})
}

// perform plays a row: the test begins, the fault strikes in its phase and is mended, the test ends.
func (p *play) perform() {
	p.Helper()
	p.begun = time.Now()
	p.create(underTest)
	p.reach()
	p.struck = time.Now()
	deeds[p.fault].strike(p)
	p.mended = time.Now()
	p.Logf("struck at %s", p.struck.UTC().Format(time.StampMilli))
	p.mend()
	p.test = p.complete(underTest)
	p.ended = time.Now()
	p.report = p.readReport(p.test)
}

// underTest is the LoadTest's name that is struck, afterwards that of the one that is run again.
const (
	underTest  = "struck"
	afterwards = "again"
)

// mend ends the fault after its time. The end of the fault is when it was mended, not when the lab is whole again.
func (p *play) mend() {
	p.Helper()
	if d := deeds[p.fault]; d.mend != nil {
		p.pass(d.outage)
		d.mend(p)
		p.mended = time.Now()
	}
}

// reach waits until the test is in the row's phase, at a moment that is well within it.
func (p *play) reach() {
	p.Helper()
	if p.phase == starting {
		deeds[p.fault].ready(p)
	} else {
		p.logged(moments()[p.phase], 2*time.Minute)
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
