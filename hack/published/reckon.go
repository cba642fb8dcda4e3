package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// reckoned is how many tests a suite has in a form, and how long they take where none is repeated as a whole.
type reckoned struct {
	tests int
	takes time.Duration
}

func (r reckoned) plus(o reckoned) reckoned { return reckoned{r.tests + o.tests, r.takes + o.takes} }

// byOperator is the same in a cluster, where each test has pods that come and go.
func (r reckoned) byOperator() time.Duration { return r.takes + time.Duration(r.tests)*ofPods }

// What a test takes besides its procedure: lab, path and drain; a table of a million routes behind each link;
// and pods, which docs/measured/four-systems.md has: 16 tests took 7m30s in a cluster, and 5m14s on the
// machine.
const (
	overhead      = 9 * time.Second
	millionRoutes = 20 * time.Second
	ofPods        = 9 * time.Second
)

// reckon reads a suite in a form, and adds up its tests.
func reckon(s *admission.Server, f suiteFile, form string) (sum reckoned, err error) {
	text := f.text
	if form == formShort {
		if text, err = shortened(f); err != nil {
			return sum, err
		}
	}
	objects, err := s.Load(f.file, bytes.NewReader(text))
	if err != nil {
		return sum, err
	}
	m, err := suite.Read(objects[0], suite.JudgeWith(s, onOneMachine))
	if err != nil {
		return sum, err
	}
	repetitions := int(m.Suite().Spec.Repetitions)
	for i := range m.Cells {
		p, err := planOf(s, m, i)
		if err != nil {
			return sum, err
		}
		takes := asked(p.Procedure) + overhead + time.Duration(p.DUT.Mode().Routes()/1_000_000)*millionRoutes
		sum = sum.plus(reckoned{repetitions, time.Duration(repetitions) * takes})
	}
	return sum, nil
}

// planOf is the Plan of a cell's test.
func planOf(s *admission.Server, m *suite.Matrix, cell int) (*plan.Plan, error) {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return nil, err
	}
	object, faults := s.Admit(content)
	if len(faults) > 0 {
		return nil, faults
	}
	p, errs := compile.Compile(object.LoadTest)
	return p, errs.ToAggregate()
}

// onOneMachine is what keeps a LoadTest from being compiled at all.
func onOneMachine(test *v1alpha1.LoadTest) field.ErrorList {
	_, errs := compile.Compile(test)
	return errs
}

// ofSearch is how many steps a ramp's search has, and how many windows as long as its confirmation. The highest
// load that a short window carries is often too much for a long one where generator and device share two
// processors: the search then goes on with long windows, and looks again at those that something else
// disturbed. So it was with testpmd and WireGuard.
const ofSearch = 8

// asked is how long a procedure's own parts take.
func asked(p plan.Procedure) time.Duration {
	switch {
	case p.ConstantLoad != nil:
		return p.ConstantLoad.WarmupDuration.Std() + p.ConstantLoad.Duration.Std()
	case p.MaximumOfferedLoad != nil:
		return p.MaximumOfferedLoad.WarmupDuration.Std() +
			time.Duration(p.MaximumOfferedLoad.Trials)*p.MaximumOfferedLoad.TrialDuration.Std()
	case p.FrameLoss != nil:
		loads := (p.FrameLoss.MaxRate.Micros-p.FrameLoss.MinRate.Micros)/p.FrameLoss.Step.Micros + 1
		return p.FrameLoss.WarmupDuration.Std() + time.Duration(loads)*(p.FrameLoss.TrialDuration.Std()+2*time.Second)
	default:
		return p.Ramp.WarmupDuration.Std() + p.Ramp.RampDuration.Std() + ofSearch*(p.Ramp.StepDuration.Std()+
			p.Ramp.ConfirmDuration.Std()+2*p.Ramp.SettleDuration.Std()) + p.Ramp.HoldDuration.Std()
	}
}

// reckoning is a suite's in both forms and ways, or that of all suites.
type reckoning struct {
	suite                  string
	short, whole           reckoned
	inCluster              bool
	shortThere, wholeThere time.Duration // by the operator
}

// reckonAll reckons the suites of a directory.
func reckonAll(source string) (reckonings []reckoning, err error) {
	suites, err := readSuites(source)
	if err != nil {
		return nil, err
	}
	s, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	sum := reckoning{suite: "all", inCluster: true}
	for _, f := range suites {
		r := reckoning{suite: f.name, inCluster: onlyByRun(f.name) == ""}
		if r.short, err = reckon(s, f, formShort); err != nil {
			return nil, err
		}
		if r.whole, err = reckon(s, f, formPublished); err != nil {
			return nil, err
		}
		if r.inCluster {
			r.shortThere, r.wholeThere = r.short.byOperator(), r.whole.byOperator()
		}
		sum.short, sum.whole, sum.shortThere, sum.wholeThere = sum.short.plus(r.short), sum.whole.plus(r.whole),
			sum.shortThere+r.shortThere, sum.wholeThere+r.wholeThere
		reckonings = append(reckonings, r)
	}
	return append(reckonings, sum), nil
}

// minutesTable has each suite's tests and minutes.
func minutesTable(reckonings []reckoning) string {
	var b strings.Builder
	b.WriteString("| suite | tests, short form | minutes | by the operator | tests, published form | minutes | by the operator |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range reckonings {
		short, whole := "-", "-"
		if r.inCluster {
			short, whole = minutes(r.shortThere), minutes(r.wholeThere)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %s | %s |\n", r.suite, r.short.tests, minutes(r.short.takes), short,
			r.whole.tests, minutes(r.whole.takes), whole)
	}
	return b.String()
}

func minutes(d time.Duration) string { return fmt.Sprintf("%.1f", d.Minutes()) }
