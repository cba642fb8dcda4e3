package faults

import (
	"fmt"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// TestFaults plays the table.
func TestFaults(t *testing.T) {
	played := &ledger{}
	again := map[string]bool{}
	for _, r := range rows() {
		if !r.ci && !*all {
			continue
		}
		t.Run(r.name(), func(t *testing.T) {
			p := playRow(t, r, played)
			if p.survives() && !answered(p.test) {
				t.Logf("the test survived, and has no answer (%s, %v; %.0f %% of the machine were idle): once more", verdict(p.test), figures(p.test), 100*p.idle)
				p = playRow(t, r, played)
				p.excused(p.test)
			}
			if !again[r.fault.name] {
				again[r.fault.name] = true
				p.runAgain()
			}
			p.deleteAll()
		})
	}
	if *table != "" {
		if err := played.write(*table); err != nil {
			t.Error(err)
		}
	}
}

// playRow plays a row, and looks into everything that it left.
func playRow(t *testing.T, r row, played *ledger) *play {
	t.Helper()
	p := begin(t, r)
	t.Cleanup(func() { played.add(p) })
	p.perform()
	p.tellsTheTruth()
	p.usesNoFaultyWindow()
	p.whole()
	p.leavesNothing(underTest)
	p.silent()
	return p
}

// answered says whether a test passed, and rightly.
func answered(t *lineratev1alpha1.LoadTest) bool {
	status, _, _ := condition(t, lineratev1alpha1.ConditionPassed)
	_, reason, _ := condition(t, lineratev1alpha1.ConditionComplete)
	return status == "True" && reason == lineratev1alpha1.ReasonMeasured && right(t)
}

// excused fails where a test has no answer, unless the machine did so much else that it can't have one. That it says so, and claims nothing that is
// wrong, is held at any time (verdictIsTrue).
func (p *play) excused(test *lineratev1alpha1.LoadTest) {
	p.Helper()
	if answered(test) {
		return
	}
	p.Logf("no answer, with %.0f %% of the machine idle: %s", 100*p.idle, state(test))
	if p.idle >= busyShare {
		p.Errorf("there is no answer twice: %s with the figures %v", verdict(test), figures(test))
	}
}

// runAgain: the same test, made anew, gives the answer that is known. Where the machine was too busy for that it may be run once more, and the
// table says so.
func (p *play) runAgain() {
	p.Helper()
	names := []string{underTest}
	for _, name := range []string{afterwards, afterwards + "-2"} {
		names = append(names, name)
		test := p.run(name)
		p.leavesNothing(names...)
		p.verdictIsTrue(test)
		p.again += told(test)
		if answered(test) {
			return
		}
		p.again += " (" + verdict(test) + p.business() + ")"
		if name == afterwards {
			p.again += ", then "
			continue
		}
		p.excused(test)
	}
}

// run runs a LoadTest to its end, on a machine that has time for it.
func (p *play) run(name string) *lineratev1alpha1.LoadTest {
	p.Helper()
	calm(p.T)
	was := readProcessors(p.T)
	p.create(name)
	test := p.complete(name)
	p.idle = readProcessors(p.T).since(was)
	return test
}

// business tells of a machine that had other things to do.
func (p *play) business() string {
	if p.idle >= busyShare {
		return ""
	}
	return fmt.Sprintf(", with %.0f %% of the machine idle", 100*p.idle)
}
