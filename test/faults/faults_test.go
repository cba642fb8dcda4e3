package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/published"
)

// TestFaults plays the table: what CI plays comes first, so that a run that is broken off has the most of it.
func TestFaults(t *testing.T) {
	played := &ledger{measured: published.Provenance(time.Now()) + ".", lines: map[string][]string{}}
	ranAgain := map[string]bool{}
	for _, r := range slices.Concat(some(rows(), true), some(rows(), false)) {
		if !r.ci && !*all {
			continue
		}
		t.Run(r.name(), func(t *testing.T) {
			t.Cleanup(func() { played.write(t) })
			p := playRow(t, r, played)
			if p.survives() && !p.excused(p.test) {
				t.Logf("the test survived, and has no answer (%s, %v): once more", verdict(p.test), figures(p.test))
				if p = playRow(t, r, played); !p.excused(p.test) {
					t.Errorf("there is no answer twice: %s with the figures %v", verdict(p.test), figures(p.test))
				}
			}
			if *again || (*all || r.harms()) && !ranAgain[r.fault.name] {
				ranAgain[r.fault.name] = true
				p.runAgain()
			}
			p.deleteAll()
		})
	}
}

// some are the rows that CI plays, or the others.
func some(all []row, ci bool) []row {
	return slices.DeleteFunc(all, func(r row) bool { return r.ci != ci })
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

// excused says whether a test has the answer, or can't: the machine did too much else. That it says so then, and claims nothing that is wrong, is held at
// any time (verdictIsTrue).
func (p *play) excused(test *lineratev1alpha1.LoadTest) bool {
	p.Helper()
	if answered(test) {
		return true
	}
	p.Logf("no answer, while others used %.0f %% of the machine: %s", 100*p.others, state(test))
	return p.others > busyShare
}

// runAgain: the same test, made anew, gives the answer that is known. It may be run once more, and the table says so.
func (p *play) runAgain() {
	p.Helper()
	names := []string{underTest}
	for _, name := range []string{afterwards, afterwards + "-2"} {
		names = append(names, name)
		test := p.run(name)
		p.leavesNothing(names...)
		p.verdictIsTrue(test)
		p.again += told(test)
		if !answered(test) {
			p.again += " (" + verdict(test) + p.business() + ") "
		}
		if p.excused(test) {
			return
		}
	}
	p.Errorf("run again, there is no answer twice: %s", p.again)
}

// run runs a LoadTest to its end, on a machine that has time for it.
func (p *play) run(name string) *lineratev1alpha1.LoadTest {
	p.Helper()
	calm(p.T)
	was := readProcessors(p.T)
	p.create(name)
	test := p.complete(name)
	p.others = readProcessors(p.T).others(was)
	return test
}

// business tells of a machine that had other things to do.
func (p *play) business() string {
	if p.others <= busyShare {
		return ""
	}
	return fmt.Sprintf(", while others used %.0f %% of the machine", 100*p.others)
}
