package main

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile/admission"
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

func TestEachSuiteCanBeMeasured(t *testing.T) {
	s := server(t)
	for _, f := range theSuites(t) {
		t.Run(f.name, func(t *testing.T) {
			if m := matrix(t, s, f.file, f.text, onOneMachine); len(m.Cells) == 0 {
				t.Error("it has no cells")
			}
			if onlyByRun(f.name) != "" {
				return
			}
			images := map[string]string{}
			if byImage()[f.name] != "" {
				images[f.name] = "registry.lab/device:1"
			}
			there, err := withImages([]suiteFile{f}, images)
			if err != nil {
				t.Fatal(err)
			}
			matrix(t, s, f.file, there[0].text, suite.InCluster)
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

// ofAll are reckoned once for all tests.
var ofAll = sync.OnceValues(func() ([]reckoning, error) { return reckonAll(examples) })

func reckonings(t *testing.T) []reckoning {
	t.Helper()
	all, err := ofAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// How long the forms may take on two processors, where no test is repeated: the short one a quarter of an hour with some tests repeated, the published one four hours; by the operator a bit more, as each
// test has pods that come and go.
func TestTheFormsFitTheirTime(t *testing.T) {
	all := reckonings(t)
	sum := all[len(all)-1]
	for what, of := range map[string]struct{ takes, most time.Duration }{
		"the short form on a machine":        {sum.short.takes, 14 * time.Minute},
		"the short form by the operator":     {sum.shortThere, 17 * time.Minute},
		"the published form on a machine":    {sum.whole.takes, 4 * time.Hour},
		"the published form by the operator": {sum.wholeThere, 4*time.Hour + 30*time.Minute},
	} {
		if of.takes > of.most || of.takes < of.most/2 {
			t.Errorf("%s is to take %v, at most %v and no small part of it", what, of.takes, of.most)
		}
	}
}

// A cell's spread takes two runs.
func TestEachCellIsMeasuredMoreThanOnce(t *testing.T) {
	s := server(t)
	for _, f := range theSuites(t) {
		if n := matrix(t, s, f.file, f.text, onOneMachine).Suite().Spec.Repetitions; n < 2 {
			t.Errorf("%s has %d repetitions", f.name, n)
		}
	}
}
