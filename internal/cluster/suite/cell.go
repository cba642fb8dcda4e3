package suite

import (
	"cmp"
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Cell is one combination of the axes' values.
type Cell struct {
	// Name is unique in the suite. It is the cell's values, joined, if that is unambiguous and fits a label.
	Name string
	// Values are the cell's value of each axis, in the axes' order.
	Values []v1alpha1.CellValue
	// Product and Loadtest are the cell's place in tables. Product is the first axis' value, and Loadtest those
	// of the other axes.
	Product, Loadtest string

	// calibrates says that the cell measures the generators without a device.
	calibrates bool
	patches    []v1alpha1.Freeform
	// stem is the beginning of the names of the cell's tests.
	stem string
}

// Matrix are the cells of a suite.
type Matrix struct {
	Cells []Cell
	suite *v1alpha1.LoadTestSuite
	// calibrations is how many cells, at the beginning of Cells, are calibrations. calibratedBy is the
	// calibration of each cell, or -1.
	calibrations int
	calibratedBy []int
	// identities identify calibrations. Two calibrations with the same identity measure the same.
	identities []string
	// comparisonOf numbers the comparison that each cell belongs to. It is nil if tests may run on any nodes.
	comparisonOf []int
	// byValues are the cells by their values. It is nil if no cell is the baseline of others.
	byValues map[string]int
	// sheetSize is how many bytes a sheet of runs takes before the next one is begun.
	sheetSize int
	// slots are the measurements to be made, in their order.
	slots []slot
	// fault is why no cell's spec can be made. It is empty if specs can be made.
	fault string
}

// Expand makes a cell for each combination of the axes' values that isn't excluded. The last axis changes
// fastest.
func Expand(s *v1alpha1.LoadTestSuite) *Matrix {
	m := &Matrix{suite: s, sheetSize: sheetSize}
	for _, c := range product(s.Spec.Axes) {
		if !excluded(s.Spec.Exclusions, c.Values) {
			m.Cells = append(m.Cells, c)
		}
	}
	m.fault = cmp.Or(s.Spec.FreeformFault(), m.volumeFault())
	m.addCalibrations()
	m.compareCells()
	m.name()
	if b := s.Spec.Baseline; b != nil && b.Axis != "" {
		m.byValues = make(map[string]int, len(m.Cells))
		for i := m.calibrations; i < len(m.Cells); i++ {
			m.byValues[keyOf(m.Cells[i].Values)] = i
		}
	}
	m.slots = order(s, m.calibrations, len(m.Cells)-m.calibrations)
	return m
}

// maxVolume is how many bytes the template and the patches may have, summed over all cells. All are merged
// when a suite is first seen.
const maxVolume = 32 << 20

// volumeFault says that the cells' specs are too large together, and is empty if they aren't.
func (m *Matrix) volumeFault() string {
	bytes := len(m.Cells) * textOf(m.suite.Spec.Template.Spec)
	for i := range m.Cells {
		for _, p := range m.Cells[i].patches {
			bytes += textOf(p)
		}
	}
	if bytes <= maxVolume {
		return ""
	}
	return fmt.Sprintf("spec.template.spec and patches make %d cells of %d bytes together, and %d is the most: put "+
		"files and scripts that a template carries into ConfigMaps of their own, or part the suite in two",
		len(m.Cells), bytes, maxVolume)
}

// textOf is how many bytes a part of a spec has.
func textOf(form v1alpha1.Freeform) (bytes int) {
	for key, value := range form {
		bytes += len(key) + len(value.Raw)
	}
	return bytes
}

// product has a cell for each combination of values. Without axes there is one cell.
func product(axes []v1alpha1.Axis) []Cell {
	cells := []Cell{{}}
	for _, axis := range axes {
		var next []Cell
		for _, c := range cells {
			for _, value := range axis.Values {
				next = append(next, c.withValue(axis.Name, value))
			}
		}
		cells = next
	}
	return cells
}

// withValue is the cell with one value more.
func (c Cell) withValue(axis v1alpha1.AxisName, value v1alpha1.AxisValue) Cell {
	n := len(c.Values)
	extended := Cell{
		Values:  append(c.Values[:n:n], v1alpha1.CellValue{Axis: axis, Value: value.Name}),
		patches: append(c.patches[:n:n], value.Patch),
		Product: c.Product, Loadtest: c.Loadtest,
	}
	switch n {
	case 0:
		extended.Product = string(value.Name)
	case 1:
		extended.Loadtest = string(value.Name)
	default:
		extended.Loadtest += "-" + string(value.Name)
	}
	return extended
}

func excluded(exclusions []v1alpha1.Exclusion, values []v1alpha1.CellValue) bool {
	for _, e := range exclusions {
		matches := 0
		for _, v := range values {
			if e[string(v.Axis)] == v.Value {
				matches++
			}
		}
		if matches == len(e) {
			return true
		}
	}
	return false
}

// retries is the maximum number of repeated tests of a cell.
func (m *Matrix) retries() int32 {
	if n := m.suite.Spec.InvalidRetries; n != nil {
		return *n
	}
	return 1
}

// repetitions is how often each cell is measured.
func (m *Matrix) repetitions() int32 { return max(m.suite.Spec.Repetitions, 1) }
