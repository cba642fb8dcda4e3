package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

	first   int  // of the cells
	ofSuite bool // Field is the suite's, though it is wrong for these cells only
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
	c := NewChecking(m)
	c.Next(judge, len(m.Cells))
	return c.Faults
}

// Checking is how far a suite's cells are held against what a LoadTest must be: some at a time, as each takes a millisecond.
type Checking struct {
	// Faults are those that were found so far.
	Faults Faults

	matrix *Matrix
	next   int            // cell
	at     map[string]int // faults by what they say
}

// NewChecking begins with a suite's first cell.
func NewChecking(m *Matrix) *Checking { return &Checking{matrix: m, at: map[string]int{}} }

// Next looks at so many further cells.
func (c *Checking) Next(judge Judge, cells int) {
	m := c.matrix
	if why := m.suite.Spec.FreeformFault(); why != "" {
		c.Faults, c.next = Faults{{Field: "spec", Message: why, ofSuite: true}}, len(m.Cells)
		return
	}
	if len(m.Cells) == 0 {
		c.Faults = Faults{{Field: "spec.exclude", Message: "spec.exclude leaves no cell to measure: exclude less"}}
	}
	for end := min(c.next+cells, len(m.Cells)); c.next < end; c.next++ {
		wrong := m.wrong(c.next, judge)
		for _, w := range wrong {
			c.add(Fault{Message: w.Message, Field: w.Field, first: c.next})
		}
		if len(wrong) == 0 && !m.Cells[c.next].calibrates {
			for _, w := range append(m.uncounted(c.next), m.unobserved(c.next)...) {
				c.add(Fault{Message: "the suite's " + w.Error(), Field: w.Field, first: c.next, ofSuite: true})
			}
		}
	}
}

// add notes what is wrong with a cell. What several cells have in common is one fault.
func (c *Checking) add(f Fault) {
	n, known := c.at[f.Message]
	if !known {
		n = len(c.Faults)
		c.at[f.Message] = n
		c.Faults = append(c.Faults, f)
	}
	c.Faults[n].add(c.matrix.Cells[f.first].Name)
}

// unobserved are the suite's criteria of vital signs that nobody reads in a cell's tests, and of latency, bursts and loss that these don't measure: template and patches say which observers they have, at which loads they measure it, and by which procedure.
func (m *Matrix) unobserved(cell int) field.ErrorList {
	ofProcedures := []v1alpha1.Metric{v1alpha1.MetricLossRatio, v1alpha1.MetricBackToBackFrames, v1alpha1.MetricBufferFrames, v1alpha1.MetricBufferMicroseconds}
	if !slices.ContainsFunc(m.suite.Spec.Criteria, func(c v1alpha1.Criterion) bool {
		return c.Observed != nil || c.Latency != nil || slices.Contains(ofProcedures, c.Metric)
	}) {
		return nil
	}
	var test v1alpha1.LoadTest
	if content, err := m.Content(cell, 1, 1); err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &test) != nil {
		return nil // which is told already
	}
	path := field.NewPath("spec", "criteria")
	return slices.Concat(compile.CheckObserved(path, m.suite.Spec.Criteria, test.Spec.Observers), compile.CheckLatencyLoads(path, m.suite.Spec.Criteria, test.Spec.Procedure.Latency),
		compile.CheckProcedureShows(path, m.suite.Spec.Criteria, test.Spec.Procedure.Type))
}

// uncounted are the suite's criteria of what a cell's tests don't count: template and patches say whether these send frames or sessions.
func (m *Matrix) uncounted(cell int) field.ErrorList {
	if len(m.suite.Spec.Criteria) == 0 {
		return nil
	}
	return compile.CheckMetrics(field.NewPath("spec", "criteria"), m.suite.Spec.Criteria, m.Traffic(cell))
}

// Traffic is the type of a cell's traffic (spec.traffic.type), as template and patches have it; "" is the schema's default, and stands also for a cell that no test can be made of, which is told elsewhere.
func (m *Matrix) Traffic(cell int) string {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return ""
	}
	kind, _, _ := unstructured.NestedString(content, "spec", "traffic", "type")
	return kind
}

// Done says that all cells were looked at.
func (c *Checking) Done() bool { return c.next == len(c.matrix.Cells) }

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
