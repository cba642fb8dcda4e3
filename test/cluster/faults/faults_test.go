//go:build full

package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// TestFaults plays each row of the table once, and writes down what became of it, also of one that failed.
func TestFaults(t *testing.T) {
	played := newLedger(published.Provenance(time.Now()) + ".")
	for _, r := range rows() {
		t.Run(r.name(), func(t *testing.T) {
			p := &play{T: t, row: r, begun: time.Now()}
			t.Cleanup(func() {
				t.Log(played.add(r, p.outcome(), p.cells()))
				if *table == "" {
					return
				}
				if err := published.Rewrite(pageOf(*table), "faults", played.page); err != nil {
					t.Error(err)
				}
			})
			p.begin()
			p.perform()
			p.examine()
			if *again || r.triedAgain() {
				p.runAgain()
			}
			p.deleteAll()
		})
	}
	t.Log("faults: " + played.tally())
}

// examine looks into everything that a row left. Only the answer asks for a calm machine.
func (p *play) examine() {
	p.Helper()
	p.tellsTheTruth()
	p.usesNoFaultyWindow()
	if p.survives() {
		p.noAnswer = p.answers(p.test, watch.Between(p.begun, p.ended))
	}
	p.whole()
	p.leavesNothing(underTest)
	p.silent()
}

// runAgain: the same test, made again once, gives the known answer.
func (p *play) runAgain() {
	p.Helper()
	test, taken := p.run(afterwards)
	p.again, p.againOn = figuresOf(test), taken.Row()
	p.leavesNothing(underTest, afterwards)
	p.claimsNothingElse(test, p.readReport(test))
	if said := p.answers(test, taken); said != "" {
		p.again += " " + cell(said)
	}
}

// run runs a LoadTest to its end, and says what the machine took meanwhile.
func (p *play) run(name string) (*lineratev1alpha1.LoadTest, calm.LostTime) {
	p.Helper()
	begun := time.Now()
	p.create(name)
	test := p.complete(name)
	return test, watch.Since(begun)
}

// outcome is what became of a row that is over.
func (p *play) outcome() calm.Outcome {
	switch {
	case p.Failed():
		return calm.Wrong
	case p.disturbed:
		return calm.Disturbed
	}
	return calm.Right
}

// cells are those of a row that is over, also where it broke off.
func (p *play) cells() cells {
	if p.test == nil {
		return cells{status: "**it was not complete**", machine: watch.Since(p.begun).Row()}
	}
	_, complete, message := condition(p.test, lineratev1alpha1.ConditionComplete)
	c := cells{
		status: "**" + complete + "**, " + verdict(p.test), figures: p.measured(), silence: "at once",
		again: p.again, machine: watch.Between(p.begun, p.ended).Row(),
	}
	switch {
	case !p.survives():
		c.status += ": " + cell(message)
	case p.noAnswer != "":
		c.status += ", " + cell(p.noAnswer)
	}
	if p.silence >= 250*time.Millisecond {
		c.silence = fmt.Sprintf("%.1f s", p.silence.Seconds())
	}
	if p.againOn != "" {
		c.machine += "; run again: " + p.againOn
	}
	return c
}

// measured is the figure that a status has, with how it came about.
func (p *play) measured() string {
	var out []string
	if figures := figuresOf(p.test); figures != "" {
		out = append(out, figures)
	}
	if p.test.Status.Operator.LostRuns > 0 {
		out = append(out, fmt.Sprintf("lostRuns %d", p.test.Status.Operator.LostRuns))
	}
	if p.report != nil && !p.survives() && p.test.Status.Result == nil {
		out = append(out, fmt.Sprintf("none; %d windows kept in the Report", len(p.report.Windows)))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
