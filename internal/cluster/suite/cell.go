package suite

import (
	"cmp"
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Cell is one combination of the axes' values.
type Cell struct {
	// Name is unique in the suite: the cell's values, joined, if that is unambiguous and fits a label.
	Name string
	// Values are its value of each axis, in the axes' order.
	Values []v1alpha1.CellValue
	// Product and Loadtest are its place in tables: the first axis' value, and those of the others.
	Product, Loadtest string

	// calibrates: the cell measures the generators by themselves.
	calibrates bool
	patches    []v1alpha1.Freeform
	// stem is what its tests' names begin with.
	stem string
}

// Matrix are the cells of a suite.
type Matrix struct {
	Cells []Cell
	suite *v1alpha1.LoadTestSuite
	// calibrations is how many cells, at the beginning of Cells, are calibrations; calibratedBy is the calibration of each cell, -1: none.
	calibrations int
	calibratedBy []int
	// identities identify calibrations: two with the same identity measure the same.
	identities []string
	// at are the cells by their values, if one of them is the baseline of others.
	at map[string]int
	// sheetSize is how many bytes a sheet of runs takes before the next one is begun.
	sheetSize int
	// slots are the measurements to be made, in their order.
	slots []slot
	// fault is why no cell's spec is made at all; empty: they are.
	fault string
}

// Expand makes a cell for each combination of the axes' values that isn't excluded, in their order: the last axis changes fastest.
func Expand(s *v1alpha1.LoadTestSuite) *Matrix {
	m := &Matrix{suite: s, sheetSize: sheetSize}
	for _, c := range product(s.Spec.Axes) {
		if !excluded(s.Spec.Exclude, c.Values) {
			m.Cells = append(m.Cells, c)
		}
	}
	m.fault = cmp.Or(s.Spec.FreeformFault(), m.volumeFault())
	m.addCalibrations()
	m.name()
	if b := s.Spec.Baseline; b != nil && b.Axis != "" {
		m.at = make(map[string]int, len(m.Cells))
		for i := m.calibrations; i < len(m.Cells); i++ {
			m.at[keyOf(m.Cells[i].Values)] = i
		}
	}
	m.slots = order(s, m.calibrations, len(m.Cells)-m.calibrations)
	return m
}

// mostVolume is how many bytes the template and the patches of all cells may have together, counted once for each cell: all are merged when a suite is first seen.
const mostVolume = 32 << 20

// volumeFault says that the cells' specs are too much text together; empty: they aren't.
func (m *Matrix) volumeFault() string {
	bytes := len(m.Cells) * textOf(m.suite.Spec.Template.Spec)
	for i := range m.Cells {
		for _, p := range m.Cells[i].patches {
			bytes += textOf(p)
		}
	}
	if bytes <= mostVolume {
		return ""
	}
	return fmt.Sprintf("spec.template.spec and patches make %d cells of %d bytes together, and %d is the most: put files and scripts that a template carries into ConfigMaps of their own, or part the suite in two",
		len(m.Cells), bytes, mostVolume)
}

// textOf is how many bytes a part of a spec has.
func textOf(form v1alpha1.Freeform) (bytes int) {
	for key, value := range form {
		bytes += len(key) + len(value.Raw)
	}
	return bytes
}

// product has a cell for each combination; without axes there is one.
func product(axes []v1alpha1.Axis) []Cell {
	cells := []Cell{{}}
	for _, axis := range axes {
		var next []Cell
		for _, c := range cells {
			for _, value := range axis.Values {
				next = append(next, c.with(axis.Name, value))
			}
		}
		cells = next
	}
	return cells
}

// with is the cell that has one value more.
func (c Cell) with(axis v1alpha1.AxisName, value v1alpha1.AxisValue) Cell {
	n := len(c.Values)
	out := Cell{
		Values:  append(c.Values[:n:n], v1alpha1.CellValue{Axis: axis, Value: value.Name}),
		patches: append(c.patches[:n:n], value.Patch),
		Product: c.Product, Loadtest: c.Loadtest,
	}
	switch n {
	case 0:
		out.Product = string(value.Name)
	case 1:
		out.Loadtest = string(value.Name)
	default:
		out.Loadtest += "-" + string(value.Name)
	}
	return out
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

// retries is how often at most tests of a cell are repeated.
func (m *Matrix) retries() int32 {
	if n := m.suite.Spec.InvalidRetries; n != nil {
		return *n
	}
	return 1
}
