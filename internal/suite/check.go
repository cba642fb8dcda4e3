package suite

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Judge says what is wrong with a LoadTest that is to be made, each in a sentence that names the field; nil: it would be taken, and can be
// measured.
type Judge func(content map[string]any) admission.Faults

// JudgeWith judges a LoadTest as an API server would, and then by what its compilation finds.
func JudgeWith(server *admission.Server, compiled func(*v1alpha1.LoadTest) field.ErrorList) Judge {
	return func(content map[string]any) admission.Faults {
		object, faults := server.Admit(content)
		if len(faults) > 0 {
			return faults
		}
		faults, _ = errors.AsType[admission.Faults](object.Faults(compiled(object.LoadTest)))
		return faults
	}
}

// InCluster is what the operator's compilation finds wrong with a LoadTest.
func InCluster(test *v1alpha1.LoadTest) field.ErrorList {
	_, errs := compile.ForCluster(test)
	return errs
}

// Fault is what is wrong with cells.
type Fault struct {
	// Cells are those that have it, at most as many as are worth a name; More is how many others do.
	Cells []string
	More  int
	// Message is a sentence that names the field, which is one of the LoadTest's, or of the suite's where there are no cells.
	Message, Field string

	first int // of the cells
}

// Faults are what is wrong with a suite.
type Faults []Fault

const (
	// namedCells bounds the cells that are named of a fault.
	namedCells = 4
	// maxFaults bounds the faults that are told.
	maxFaults = 16
)

// ownFields are the fields of a LoadTest's spec that are the suite's to say, and what says them there.
func ownFields() [][2]string {
	return [][2]string{{"suspend", "spec.suspend"}, {"stop", "spec.stop"}, {"ttlAfterFinished", "spec.historyLimit or spec.ttlAfterFinished"}}
}

// Check holds every cell against what a LoadTest must be. What several cells have in common is said once.
func (m *Matrix) Check(judge Judge) Faults {
	if len(m.Cells) == 0 {
		return Faults{{Field: "spec.exclude", Message: "spec.exclude leaves no cell to measure: exclude less"}}
	}
	var faults Faults
	at := map[string]int{}
	for i := range m.Cells {
		for _, wrong := range m.wrong(i, judge) {
			n, known := at[wrong.Message]
			if !known {
				n = len(faults)
				at[wrong.Message] = n
				faults = append(faults, Fault{Message: wrong.Message, Field: wrong.Field, first: i})
			}
			faults[n].add(m.Cells[i].Name)
		}
	}
	return faults
}

func (m *Matrix) wrong(cell int, judge Judge) admission.Faults {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return admission.Faults{{Message: err.Error()}}
	}
	var wrong admission.Faults
	spec := content["spec"].(map[string]any)
	for _, own := range ownFields() {
		if _, is := spec[own[0]]; is {
			wrong = append(wrong, admission.Fault{Field: "spec." + own[0],
				Message: fmt.Sprintf("spec.%s is the suite's to say: remove it from template and patches, and use %s of the suite", own[0], own[1])})
		}
	}
	return append(wrong, judge(content)...)
}

func (f *Fault) add(cell string) {
	if len(f.Cells) < namedCells {
		f.Cells = append(f.Cells, cell)
		return
	}
	f.More++
}

// String is "cell apu6-64b: spec.traffic.frameSize is 20: …".
func (f Fault) String() string {
	switch n := len(f.Cells) + f.More; {
	case n == 0:
		return f.Message
	case n == 1:
		return "cell " + f.Cells[0] + ": " + f.Message
	case f.More > 0:
		return fmt.Sprintf("cells %s and %d more: %s", strings.Join(f.Cells, ", "), f.More, f.Message)
	}
	return "cells " + strings.Join(f.Cells, ", ") + ": " + f.Message
}

// Error are all faults, up to a bound.
func (f Faults) Error() string {
	var words []string
	for _, fault := range f[:min(len(f), maxFaults)] {
		words = append(words, fault.String())
	}
	if more := len(f) - maxFaults; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}
