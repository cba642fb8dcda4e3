package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/suite"
)

// reckoned is how many tests a suite has in a form, and how long they take where none is repeated.
type reckoned struct {
	tests int
	takes time.Duration
}

func (r reckoned) plus(o reckoned) reckoned { return reckoned{r.tests + o.tests, r.takes + o.takes} }

// byOperator is the same in a cluster, where each test has pods that come and go.
func (r reckoned) byOperator() time.Duration { return r.takes + time.Duration(r.tests)*ofPods }

// What a test takes besides its procedure: lab, path and drain; a table of a million routes behind each link; and pods, which docs/measured/four-systems.md has: 16 tests took 7m30s in a cluster, and 5m14s on the machine.
const (
	besides       = 9 * time.Second
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
		content, err := m.Content(i, 1, 1)
		if err != nil {
			return sum, err
		}
		object, faults := s.Admit(content)
		if len(faults) > 0 {
			return sum, faults
		}
		p, errs := compile.Compile(object.LoadTest)
		if len(errs) > 0 {
			return sum, errs.ToAggregate()
		}
		takes := asked(p.Procedure) + besides + time.Duration(p.DUT.Mode().Routes()/1_000_000)*millionRoutes
		sum = sum.plus(reckoned{repetitions, time.Duration(repetitions) * takes})
	}
	return sum, nil
}

// onOneMachine is what keeps a LoadTest from being compiled at all.
func onOneMachine(test *v1alpha1.LoadTest) field.ErrorList {
	_, errs := compile.Compile(test)
	return errs
}

// asked is how long a procedure's own parts take: of a ramp with a search of eight steps.
func asked(p plan.Procedure) time.Duration {
	switch {
	case p.ConstantLoad != nil:
		return p.ConstantLoad.WarmupDuration.Std() + p.ConstantLoad.Duration.Std()
	case p.MaximumOfferedLoad != nil:
		return p.MaximumOfferedLoad.WarmupDuration.Std() + time.Duration(p.MaximumOfferedLoad.Trials)*p.MaximumOfferedLoad.TrialDuration.Std()
	case p.FrameLoss != nil:
		loads := (p.FrameLoss.From.Micros-p.FrameLoss.To.Micros)/p.FrameLoss.Step.Micros + 1
		return p.FrameLoss.WarmupDuration.Std() + time.Duration(loads)*(p.FrameLoss.TrialDuration.Std()+2*time.Second)
	default:
		return p.Ramp.WarmupDuration.Std() + p.Ramp.RampDuration.Std() + 8*(p.Ramp.StepDuration.Std()+p.Ramp.Settle.Std()) + p.Ramp.ConfirmDuration.Std() + p.Ramp.HoldDuration.Std()
	}
}

// minutesTable has each suite's tests and minutes.
func minutesTable(from string) (string, error) {
	suites, err := readSuites(from)
	if err != nil {
		return "", err
	}
	s, err := admission.NewServer()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| suite | tests, short form | minutes | by the operator | tests, published form | minutes | by the operator |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var shorts, wholes, shortsInCluster, wholesInCluster reckoned
	for _, f := range suites {
		short, err := reckon(s, f, formShort)
		if err != nil {
			return "", err
		}
		whole, err := reckon(s, f, formPublished)
		if err != nil {
			return "", err
		}
		shorts, wholes = shorts.plus(short), wholes.plus(whole)
		inCluster := [2]string{"-", "-"}
		if (operator{}).cannot(f.name) == "" {
			shortsInCluster, wholesInCluster = shortsInCluster.plus(short), wholesInCluster.plus(whole)
			inCluster = [2]string{minutes(short.byOperator()), minutes(whole.byOperator())}
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %d | %s | %s |\n", f.name, short.tests, minutes(short.takes), inCluster[0], whole.tests, minutes(whole.takes), inCluster[1])
	}
	fmt.Fprintf(&b, "| all | %d | %s | %s | %d | %s | %s |\n", shorts.tests, minutes(shorts.takes), minutes(shortsInCluster.byOperator()), wholes.tests, minutes(wholes.takes), minutes(wholesInCluster.byOperator()))
	return b.String(), nil
}

func minutes(d time.Duration) string { return fmt.Sprintf("%.1f", d.Minutes()) }
