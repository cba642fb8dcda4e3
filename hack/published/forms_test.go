package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/suite"
)

const examples = "../../examples/published"

func theSuites(t *testing.T) []suiteFile {
	t.Helper()
	all, err := readSuites(examples)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func server(t *testing.T) *admission.Server {
	t.Helper()
	s, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// matrix reads a suite's text, and has its cells judged.
func matrix(t *testing.T, s *admission.Server, name string, text []byte, judge func(*v1alpha1.LoadTest) field.ErrorList) *suite.Matrix {
	t.Helper()
	objects, err := s.Load(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := suite.Read(objects[0], suite.JudgeWith(s, judge))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// onOneMachine is what keeps a LoadTest from being compiled at all.
func onOneMachine(test *v1alpha1.LoadTest) field.ErrorList {
	_, errs := compile.Compile(test)
	return errs
}

// only are the suites that a cluster can't measure.
var only = []string{"routers-testpmd", "modes-tunnel", "boards-iperf2"}

func TestEachSuiteCanBeMeasured(t *testing.T) {
	s := server(t)
	for _, f := range theSuites(t) {
		t.Run(f.name, func(t *testing.T) {
			judge := suite.InCluster
			if slices.Contains(only, f.name) {
				judge = onOneMachine
			}
			if m := matrix(t, s, f.file, f.text, judge); len(m.Cells) == 0 {
				t.Error("it has no cells")
			}
		})
	}
}

// The short form is a part of the published one: the same cells, fewer of them.
func TestTheShortFormIsAPartOfThePublishedOne(t *testing.T) {
	s := server(t)
	for _, f := range theSuites(t) {
		t.Run(f.name, func(t *testing.T) {
			text, err := shortened(f)
			if err != nil {
				t.Fatal(err)
			}
			whole, short := cells(matrix(t, s, f.file, f.text, onOneMachine)), cells(matrix(t, s, "short", text, onOneMachine))
			if len(short) == 0 || len(short) > len(whole) {
				t.Errorf("%d cells of %d", len(short), len(whole))
			}
			for _, name := range short {
				if !slices.Contains(whole, name) {
					t.Errorf("%s is no cell of the published form: %v", name, whole)
				}
			}
		})
	}
}

// cells are named by their values; calibrations, whose names depend on which others there are, are left aside.
func cells(m *suite.Matrix) (names []string) {
	for i := range m.Cells {
		if !m.Calibrates(i) {
			names = append(names, m.Cells[i].Product+" "+m.Cells[i].Loadtest)
		}
	}
	return names
}

func TestAFormThatDoesNotFitIsRefused(t *testing.T) {
	f := theSuites(t)[0]
	f.name = "another"
	if _, err := shortened(f); err == nil || !strings.Contains(err.Error(), "no form of the suite another") {
		t.Errorf("got %v", err)
	}
	spec := map[string]any{"axes": []any{map[string]any{"name": "system", "values": []any{map[string]any{"name": "router"}}}}}
	if err := keep(spec, "system", []string{"router", "vpp"}); err == nil || !strings.Contains(err.Error(), "1 of the values router, vpp") {
		t.Errorf("got %v", err)
	}
	if err := keep(spec, "device", []string{"router"}); err == nil || !strings.Contains(err.Error(), "no axis device") {
		t.Errorf("got %v", err)
	}
}

// How long the forms may take on two processors, by the durations of their Plans and the overhead of each run: the short one a quarter of an hour with some tests repeated, the published one four hours.
func TestTheFormsFitTheirTime(t *testing.T) {
	s := server(t)
	for form, most := range map[string]time.Duration{formShort: 13 * time.Minute, formPublished: 4 * time.Hour} {
		var sum time.Duration
		for _, f := range theSuites(t) {
			text := f.text
			if form == formShort {
				var err error
				if text, err = shortened(f); err != nil {
					t.Fatal(err)
				}
			}
			takes := usual(t, s, matrix(t, s, f.file, text, onOneMachine))
			t.Logf("%s, %s form: %v", f.name, form, takes)
			sum += takes
		}
		if t.Logf("%s form: %v", form, sum); sum > most {
			t.Errorf("the %s form is to take %v, at most %v", form, sum, most)
		}
	}
}

// usual is what the tests of a suite take where none is repeated.
func usual(t *testing.T, s *admission.Server, m *suite.Matrix) (sum time.Duration) {
	t.Helper()
	for i := range m.Cells {
		content, err := m.Content(i, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		object, faults := s.Admit(content)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		p, errs := compile.Compile(object.LoadTest)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		sum += (asked(p) + besides + time.Duration(p.DUT.Mode().Routes()/1_000_000)*millionRoutes) * time.Duration(m.Suite().Spec.Repetitions)
	}
	return sum
}

// The overhead of a run: lab, path and drain; and a table of a million routes behind each link.
const (
	besides       = 9 * time.Second
	millionRoutes = 20 * time.Second
)

// asked is how long a procedure's own parts take: of a ramp with a search of eight steps.
func asked(p *plan.Plan) time.Duration {
	switch q := p.Procedure; {
	case q.ConstantLoad != nil:
		return q.ConstantLoad.WarmupDuration.Std() + q.ConstantLoad.Duration.Std()
	case q.MaximumOfferedLoad != nil:
		return q.MaximumOfferedLoad.WarmupDuration.Std() + time.Duration(q.MaximumOfferedLoad.Trials)*q.MaximumOfferedLoad.TrialDuration.Std()
	case q.FrameLoss != nil:
		loads := (q.FrameLoss.From.Micros-q.FrameLoss.To.Micros)/q.FrameLoss.Step.Micros + 1
		return q.FrameLoss.WarmupDuration.Std() + time.Duration(loads)*(q.FrameLoss.TrialDuration.Std()+2*time.Second)
	default:
		return q.Ramp.WarmupDuration.Std() + q.Ramp.RampDuration.Std() + 8*(q.Ramp.StepDuration.Std()+q.Ramp.Settle.Std()) + q.Ramp.ConfirmDuration.Std() + q.Ramp.HoldDuration.Std()
	}
}
