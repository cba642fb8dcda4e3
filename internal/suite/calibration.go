package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// generatorAlone is what cells that calibrate are called in tables, where others have the first axis' value.
const generatorAlone = "generator"

// addCalibrations puts cells before all others in which the generators are measured by themselves. Cells whose tests differ in the device alone share one of them.
//
//	            64b          imix
//	generator   [ Loopback ] [ Loopback ]     calibrations: measured first, judged by no criterion
//	linux       [ test ]     [ test ]         each held against the one above it
//	vpp         [ test ]     [ test ]
func (m *Matrix) addCalibrations() {
	if m.suite.Spec.Calibration == nil {
		return
	}
	var kinds []kind
	by := make([]int, len(m.Cells))
	for i := range m.Cells {
		by[i] = -1
		spec, err := m.spec(&m.Cells[i])
		if err != nil || !calibratable(spec) { // what is wrong with a cell is told of it itself
			continue
		}
		key, err := json.Marshal(m.calibrated(spec))
		if err != nil {
			continue // it was read from JSON
		}
		k := slices.IndexFunc(kinds, func(k kind) bool { return k.key == string(key) })
		if k < 0 {
			k, kinds = len(kinds), append(kinds, kind{key: string(key), first: i, values: make([][]v1alpha1.AxisName, len(m.suite.Spec.Axes))})
		}
		kinds[k].add(m.Cells[i].Values)
		by[i] = k
	}
	calibrations := make([]Cell, len(kinds))
	for k := range kinds {
		calibrations[k] = kinds[k].cell(&m.Cells[kinds[k].first], kinds)
	}
	m.calibrations = len(calibrations)
	m.Cells, m.calibratedBy = append(calibrations, m.Cells...), append(slices.Repeat([]int{-1}, len(calibrations)), by...)
}

// Calibrates says that the generators are measured by themselves in a cell.
func (m *Matrix) Calibrates(cell int) bool { return m.Cells[cell].calibrates }

// kind are the cells that have a calibration in common.
type kind struct {
	key    string
	first  int                   // of the cells
	values [][]v1alpha1.AxisName // of each axis, those that its cells have
}

func (k *kind) add(values []v1alpha1.CellValue) {
	for axis, v := range values {
		if !slices.Contains(k.values[axis], v.Value) {
			k.values[axis] = append(k.values[axis], v.Value)
		}
	}
}

// cell is the calibration: it has the patches of the first of its cells, and the values of those axes in which kinds differ.
func (k *kind) cell(first *Cell, kinds []kind) Cell {
	c := Cell{calibrates: true, patches: first.patches, Product: generatorAlone, Values: []v1alpha1.CellValue{{Axis: generatorAlone, Value: generatorAlone}}}
	var named []string
	for axis, v := range first.Values {
		if slices.ContainsFunc(kinds, func(o kind) bool { return !slices.Equal(o.values[axis], k.values[axis]) }) {
			c.Values, named = append(c.Values, v), append(named, string(v.Value))
		}
	}
	c.Loadtest = strings.Join(named, "-")
	return c
}

// calibratable says that generators can be measured by themselves with what a cell sends: not the ends of sessions, nor where there is no device anyway.
func calibratable(spec map[string]any) bool {
	traffic, _ := member(spec, "traffic")["type"].(string)
	return member(spec, "dut")["type"] != loopback && compile.ThroughputOf(traffic) == v1alpha1.MetricPacketsPerSecond
}

func member(of map[string]any, name string) map[string]any {
	m, _ := of[name].(map[string]any)
	return m
}

// calibrated is a cell's spec with a cable in the device's place, and all that the generators can send.
func (m *Matrix) calibrated(spec map[string]any) map[string]any {
	c := m.suite.Spec.Calibration
	out := map[string]any{}
	for name, value := range spec {
		if !slices.Contains([]string{"criteria", "baseline", "observers", "dut", "procedure"}, name) {
			out[name] = value
		}
	}
	out["dut"] = map[string]any{"type": loopback}
	out["procedure"] = map[string]any{"type": string(v1alpha1.ProcedureMaximumOfferedLoad),
		"maximumOfferedLoad": map[string]any{"trialDuration": string(cmp.Or(c.TrialDuration, "5s")), "trials": int64(1)}}
	links, _ := spec["links"].([]any)
	var ends []any
	for _, l := range links {
		link, is := l.(map[string]any)
		if !is {
			ends = append(ends, l)
			continue
		}
		end := map[string]any{}
		for name, value := range link {
			if name != "dut" {
				end[name] = value
			}
		}
		if c.Network != "" {
			end["network"] = string(c.Network)
		}
		ends = append(ends, end)
	}
	if links != nil {
		out["links"] = ends
	}
	return out
}

// hold holds a cell's figures against what the generators did by themselves: those that come close to it are lower bounds, for a generator's weakness is never the device's.
func (v *view) hold(number int, out *report.SuiteCell) {
	by := -1
	if v.Matrix.calibratedBy != nil {
		by = v.Matrix.calibratedBy[number]
	}
	if by < 0 || out.Figures == nil {
		return
	}
	alone := v.cell(by)
	if alone.Figures == nil {
		out.Message = joinNonEmpty(out.Message, fmt.Sprintf("what the generators do by themselves isn't known: %s was not measured", alone.Name))
		return
	}
	margin, err := units.ParseRatio(string(cmp.Or(v.spec.Calibration.Margin, "10%")))
	if err != nil {
		return // the schema keeps it out
	}
	can := alone.Figures.PacketsPerSecond
	out.Capacity = &report.Capacity{Cell: alone.Name, PacketsPerSecond: can, Share: units.PercentOf(out.Figures.PacketsPerSecond, can)}
	near := func(f *report.Figures) bool {
		return f != nil && float64(f.PacketsPerSecond) >= float64(can)*(1-float64(margin)/float64(units.One))
	}
	for i := range out.Goals {
		if g := &out.Goals[i]; near(g.Figures) {
			g.Figures = bound(g.Figures)
		}
	}
	if !near(out.Figures) {
		return
	}
	out.Capacity.Near, out.Figures = true, bound(out.Figures)
	out.Message = joinNonEmpty(out.Message, fmt.Sprintf("it is within %s of the %s that the generators do by themselves (%s): the limit may be theirs", wording.Percent(margin.Percent()), wording.PacketRate(can), alone.Name))
}

// excuse leaves a verdict open that failed where the generators may have been the limit, and each of its criteria that did.
func excuse(c *report.SuiteCell) {
	if c.Capacity == nil || !c.Capacity.Near || c.Verdict.Outcome != report.DidFail {
		return
	}
	excused := *c.Verdict
	excused.Outcome, excused.Criteria = report.Undecided, slices.Clone(excused.Criteria)
	for i := range excused.Criteria {
		if of := &excused.Criteria[i]; of.Outcome == report.DidFail {
			of.Outcome = report.Undecided
			of.Message = joinNonEmpty(of.Message, "the limit may be the generators'")
		}
	}
	c.Verdict = &excused
}

// bound are the figures as a lower bound.
func bound(f *report.Figures) *report.Figures {
	out := *f
	out.LowerBound = true
	return &out
}
