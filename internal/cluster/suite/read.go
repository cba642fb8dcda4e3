package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Read reads a suite from a file, and validates its cells as LoadTests. The error is admission.Faults, which
// name the faults of cells at the lines of template or patches.
func Read(object admission.Object, judge Judge) (*Matrix, error) {
	m := Expand(object.Suite)
	wrong := m.Check(judge)
	var placed admission.Faults
	for _, f := range wrong[:min(len(wrong), maxFaults)] {
		placed = append(placed, object.Fault(m.origin(&f), f.String()))
	}
	if err := placed.OrNil(); err == nil || len(wrong) <= maxFaults {
		return m, err
	}
	return m, append(placed, object.Fault("", fmt.Sprintf("and %d more things are wrong with its cells",
		len(wrong)-maxFaults)))
}

// templateSpec is the suite's field that all cells begin with.
const templateSpec = "spec.template.spec"

// origin is the field of the suite that a cell's fault comes from. That is in the last of the patches that have
// the longest part of the fault's path, or else in the template.
//
//	spec.traffic.frameSize ─▶ spec.axes[1].values[0].patch.traffic.frameSize
//	spec.links[0].lineRate ─▶ spec.template.spec.links[0].lineRate
func (m *Matrix) origin(f *Fault) string {
	inside, ok := strings.CutPrefix(f.Field, "spec")
	if f.ofSuite || len(f.Cells) == 0 || f.Field != "" && !ok {
		return f.Field
	}
	if m.Cells[f.first].calibrates && !strings.HasPrefix(inside, ".generator") &&
		!strings.HasPrefix(inside, ".traffic") {
		return "spec.calibration"
	}
	parent, deepest := templateSpec, depth(m.suite.Spec.Template.Spec.Raw, inside)
	for i, patch := range m.Cells[f.first].patches {
		if d := depth(patch.Raw, inside); d > 0 && d >= deepest {
			deepest, parent = d, m.patchAt(f.first, i)
		}
	}
	return parent + inside
}

// patchAt is the field of the suite that has the patch of a cell's value.
func (m *Matrix) patchAt(cell, axis int) string {
	name := m.suite.Spec.Axes[axis].Name
	index := slices.IndexFunc(m.Cells[cell].Values, func(v v1alpha1.CellValue) bool { return v.Axis == name })
	if index < 0 {
		return "spec.calibration" // a calibration serves all values
	}
	for i, v := range m.suite.Spec.Axes[axis].Values {
		if v.Name == m.Cells[cell].Values[index].Value {
			return fmt.Sprintf("spec.axes[%d].values[%d].patch", axis, i)
		}
	}
	return ""
}

// depth is how many steps of a path such as .links[0].lineRate exist in a document.
func depth(raw func() ([]byte, error), path string) (steps int) {
	text, err := raw()
	var node any
	if err != nil || intake.JSON(text, &node, limits) != nil {
		return 0
	}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		switch o := node.(type) {
		case map[string]any:
			next, ok := o[step]
			if !ok {
				return steps
			}
			node = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(o) {
				return steps
			}
			node = o[i]
		default:
			return steps
		}
		steps++
	}
	return steps
}
