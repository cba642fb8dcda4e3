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
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// Judge says what is wrong with a LoadTest, each fault in a sentence that names the field. It returns nil if
// the API server would accept the LoadTest and it can be measured.
type Judge func(content map[string]any) admission.Faults

// JudgeWith judges a LoadTest first as an API server would, and then by its compilation.
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

// InClusterWith is InCluster in a cluster with bounds.
func InClusterWith(bounds compile.Bounds) func(*v1alpha1.LoadTest) field.ErrorList {
	return func(test *v1alpha1.LoadTest) field.ErrorList {
		_, errs := bounds.ForCluster(test)
		return errs
	}
}

// Fault is a fault of one or several cells.
type Fault struct {
	// Cells are the first cells that have the fault. Rest is how many other cells have it.
	Cells []string
	Rest  int
	// Message is a sentence that names the Field. That is a field of the LoadTest or, if there are no Cells, of
	// the suite.
	Message, Field string

	first     int  // index of the first cell
	ofSuite   bool // Field is the suite's, although only these cells have the fault
	unchecked int  // cells that weren't checked after a fault of the template
}

// Faults are the faults of a suite.
type Faults []Fault

const (
	// namedCells is how many cells of a fault are named.
	namedCells = 4
	// maxFaults is how many faults are reported.
	maxFaults = 16
)

// ownFields are the fields of a LoadTest's spec that only the suite may set, each with the suite's field for
// that.
func ownFields() [][2]string {
	return [][2]string{{"suspend", "spec.suspend"}, {"stop", "spec.stop"},
		{"ttlAfterFinished", "spec.historyLimit or spec.ttlAfterFinished"}}
}

// Check validates every cell as a LoadTest. A fault of several cells is reported once.
func (m *Matrix) Check(judge Judge) Faults {
	c := NewChecking(m)
	c.Next(judge, len(m.Cells))
	return c.Faults
}

// Checking validates a suite's cells as LoadTests. It checks a few at a time, since each takes a millisecond.
type Checking struct {
	// Faults are the faults found so far.
	Faults Faults

	matrix    *Matrix
	next      int            // index of the next cell
	byMessage map[string]int // indexes of faults by their messages
}

// NewChecking begins with a suite's first cell.
func NewChecking(m *Matrix) *Checking { return &Checking{matrix: m, byMessage: map[string]int{}} }

// Next checks the given number of further cells. A fault of the template ends the check.
func (c *Checking) Next(judge Judge, cells int) {
	m := c.matrix
	if m.fault != "" {
		c.Faults, c.next = Faults{{Field: "spec", Message: m.fault, ofSuite: true}}, len(m.Cells)
		return
	}
	if len(m.Cells) == 0 {
		c.Faults = Faults{{Field: "spec.exclusions", Message: "spec.exclusions leaves no cell to measure: exclude less"}}
	}
	if c.next == 0 {
		_, wrong := compile.Criteria(field.NewPath("spec", "criteria"), m.suite.Spec.Criteria)
		for _, w := range wrong {
			c.Faults = append(c.Faults, Fault{Message: w.Error(), Field: w.Field, ofSuite: true})
		}
	}
	for end := min(c.next+cells, len(m.Cells)); c.next < end && !c.stops(); c.next++ {
		wrong := m.wrong(c.next, judge)
		for _, w := range wrong {
			c.add(Fault{Message: w.Message, Field: w.Field, first: c.next})
		}
		if len(wrong) == 0 && !m.Cells[c.next].calibrates {
			for _, w := range append(m.criteriaNotCounted(c.next), m.criteriaNotMeasured(c.next)...) {
				c.add(Fault{Message: "the suite's " + w.Error(), Field: w.Field, first: c.next, ofSuite: true})
			}
		}
	}
	if c.stops() {
		c.next = len(m.Cells)
	}
}

// stops says that a fault is the template's, and records how many cells remain unchecked. A fault is the
// template's if the first cells all have it, and no patch of theirs sets its field.
func (c *Checking) stops() bool {
	if c.next != namedCells || len(c.matrix.Cells) == namedCells {
		return false
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		if len(f.Cells) == namedCells && f.Field != "" && !f.ofSuite && strings.HasPrefix(c.matrix.origin(f),
			templateSpec) {
			f.unchecked = len(c.matrix.Cells) - c.next
			return true
		}
	}
	return false
}

// add records a cell's fault, together with the same fault of other cells.
func (c *Checking) add(f Fault) {
	n, ok := c.byMessage[f.Message]
	if !ok {
		n = len(c.Faults)
		c.byMessage[f.Message] = n
		c.Faults = append(c.Faults, f)
	}
	c.Faults[n].add(c.matrix.Cells[f.first].Name)
}

// criteriaNotMeasured refuses those of the suite's criteria of vital signs, latency, bursts and loss that a
// cell's tests don't measure. What a test measures depends on the observers, loads and procedure of template
// and patches.
func (m *Matrix) criteriaNotMeasured(cell int) field.ErrorList {
	ofProcedures := []v1alpha1.Metric{v1alpha1.MetricLossRatio, v1alpha1.MetricBackToBackFrames,
		v1alpha1.MetricBufferFrames, v1alpha1.MetricBufferMicroseconds, v1alpha1.MetricTimePerFrame}
	if !slices.ContainsFunc(m.suite.Spec.Criteria, func(c v1alpha1.Criterion) bool {
		return c.Observed != nil || c.Latency != nil || slices.Contains(ofProcedures, c.Metric)
	}) {
		return nil
	}
	var test v1alpha1.LoadTest
	if content, err := m.Content(cell, 1, 1); err != nil ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(content, &test) != nil {
		return nil // the check reports that fault by itself
	}
	path := field.NewPath("spec", "criteria")
	return slices.Concat(compile.CheckObserved(path, m.suite.Spec.Criteria, test.Spec.Observers),
		compile.CheckLatencyLoads(path, m.suite.Spec.Criteria, test.Spec.Procedure.Latency),
		compile.CheckProcedureShows(path, m.suite.Spec.Criteria, test.Spec.Procedure))
}

// criteriaNotCounted refuses the suite's criteria whose fields contradict each other, and those of metrics that a
// cell's traffic, frames or sessions, doesn't have.
func (m *Matrix) criteriaNotCounted(cell int) field.ErrorList {
	if len(m.suite.Spec.Criteria) == 0 {
		return nil
	}
	path := field.NewPath("spec", "criteria")
	return append(compile.CheckCriteria(path, m.suite.Spec.Criteria), compile.CheckMetrics(path, m.suite.Spec.Criteria,
		m.Traffic(cell))...)
}

// Traffic is the type of a cell's traffic (spec.traffic.type) by template and patches. It is empty for the
// schema's default, and for a cell from which no test can be made, which is a fault of its own.
func (m *Matrix) Traffic(cell int) string {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return ""
	}
	kind, _, _ := unstructured.NestedString(content, "spec", "traffic", "type")
	return kind
}

// Finished says that all cells were checked.
func (c *Checking) Finished() bool { return c.next == len(c.matrix.Cells) }

func (m *Matrix) wrong(cell int, judge Judge) admission.Faults {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return admission.Faults{{Message: err.Error()}}
	}
	var wrong admission.Faults
	spec := content["spec"].(map[string]any)
	for _, own := range ownFields() {
		if _, ok := spec[own[0]]; ok {
			wrong = append(wrong, admission.Fault{Field: "spec." + own[0],
				Message: fmt.Sprintf("only the suite may set spec.%s: remove it from template and patches, and use "+
					"%s of the suite", own[0], own[1])})
		}
	}
	return append(wrong, judge(content)...)
}

func (f *Fault) add(cell string) {
	if len(f.Cells) < namedCells {
		f.Cells = append(f.Cells, cell)
		return
	}
	f.Rest++
}

// String is a sentence such as "cell apu6-64b: spec.traffic.frameSize is 20: …".
func (f Fault) String() string {
	if f.unchecked > 0 {
		return fmt.Sprintf("%s (no patch sets it, so the %d cells after these aren't checked)", f.ofCells(),
			f.unchecked)
	}
	return f.ofCells()
}

func (f Fault) ofCells() string {
	switch n := len(f.Cells) + f.Rest; {
	case n == 0:
		return f.Message
	case n == 1:
		return "cell " + f.Cells[0] + ": " + f.Message
	case f.Rest > 0:
		return fmt.Sprintf("cells %s and %d more: %s", strings.Join(f.Cells, ", "), f.Rest, f.Message)
	}
	return "cells " + strings.Join(f.Cells, ", ") + ": " + f.Message
}

// Error names the first maxFaults faults.
func (f Faults) Error() string {
	var words []string
	for _, fault := range f[:min(len(f), maxFaults)] {
		words = append(words, fault.String())
	}
	if rest := len(f) - maxFaults; rest > 0 {
		words = append(words, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(words, "; ")
}
