package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// generatorLabel names calibrations in tables, in place of the first axis' value.
const generatorLabel = "generator"

// addCalibrations adds cells, before all others, in which the generators are measured by themselves. Cells whose tests differ only in the device share one.
//
//	            64b          imix
//	generator   [ Loopback ] [ Loopback ]     calibrations: measured first, judged by no criterion
//	linux       [ test ]     [ test ]         each compared with the one above it
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
		if err != nil || !calibratable(spec) { // the cell's own fault says what is wrong
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
		m.identities = append(m.identities, report.Digest([]byte(kinds[k].key)))
	}
	m.calibrations = len(calibrations)
	m.Cells, m.calibratedBy = append(calibrations, m.Cells...), append(slices.Repeat([]int{-1}, len(calibrations)), by...)
}

// Calibrates says that the generators are measured by themselves in a cell.
func (m *Matrix) Calibrates(cell int) bool { return m.Cells[cell].calibrates }

// kind are the cells that share a calibration.
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

// cell is the calibration's cell: it has the patches of the kind's first cell, and the values of those axes in which kinds differ.
func (k *kind) cell(first *Cell, kinds []kind) Cell {
	c := Cell{calibrates: true, patches: first.patches, Product: generatorLabel, Values: []v1alpha1.CellValue{{Axis: generatorLabel, Value: generatorLabel}}}
	var named []string
	for axis, v := range first.Values {
		if slices.ContainsFunc(kinds, func(o kind) bool { return !slices.Equal(o.values[axis], k.values[axis]) }) {
			c.Values, named = append(c.Values, v), append(named, string(v.Value))
		}
	}
	c.Loadtest = strings.Join(named, "-")
	return c
}

// calibratable says whether generators can be measured by themselves with a cell's traffic: not with sessions, and not where the cell has no device anyway.
func calibratable(spec map[string]any) bool {
	traffic, _ := member(spec, "traffic")["type"].(string)
	return member(spec, "dut")["type"] != loopback && compile.ThroughputOf(traffic) == v1alpha1.MetricPacketsPerSecond
}

func member(of map[string]any, name string) map[string]any {
	m, _ := of[name].(map[string]any)
	return m
}

// calibrated is a cell's spec with a cable in the device's place, and the generators' maximum load.
func (m *Matrix) calibrated(spec map[string]any) map[string]any {
	c := m.suite.Spec.Calibration
	out := map[string]any{}
	for name, value := range spec {
		if !slices.Contains([]string{"criteria", "baseline", "observers", "dut", "procedure"}, name) {
			out[name] = value
		}
	}
	out["dut"] = cable(member(spec, "dut"))
	if member(spec, "procedure")["latency"] != nil { // all frames of such a test carry stamps, which slow the generators down
		traffic := maps.Clone(member(spec, "traffic"))
		if traffic == nil {
			traffic = map[string]any{}
		}
		traffic["stamps"] = string(v1alpha1.StampsEveryFrame)
		out["traffic"] = traffic
	}
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

// cable replaces a device. It keeps the device's routes, for which flows and destinations are made, so that the generators send the same frames.
func cable(device map[string]any) map[string]any {
	mode := member(member(device, "reference"), "mode")
	for _, kind := range []string{"router", "filter", "xdp"} {
		if routes, has := member(mode, kind)["routes"]; has {
			return map[string]any{"type": loopback, "reference": map[string]any{"mode": map[string]any{"router": map[string]any{"routes": routes}}}}
		}
	}
	return map[string]any{"type": loopback}
}

// capacity is what the generators reached by themselves in a calibration.
type capacity struct {
	cell             string
	packetsPerSecond int64
	directions       map[string]int64 // the same of each direction
	margin           units.Ratio
	// elsewhere says how the calibration's environment differs from the cell's; empty: in nothing that is known. If it differs, what the cell's generators reach isn't known, and any limit may be theirs.
	elsewhere string
}

// capacityOf is the capacity that a cell's figures are compared with; nil: there is none, or it isn't known. It is computed once for each calibration.
func (v *view) capacityOf(number int) *capacity {
	by := v.Matrix.calibrationOf(number)
	if by < 0 {
		return nil
	}
	c, known := v.capacities[by]
	if !known {
		c = v.capacityIn(by)
		v.capacities[by] = c
	}
	if c == nil {
		return nil
	}
	elsewhere, known := v.apartFrom[number]
	if !known {
		elsewhere = v.measuredElsewhere(by, number)
		v.apartFrom[number] = elsewhere
	}
	if elsewhere == "" {
		return c
	}
	other := *c
	other.elsewhere = elsewhere
	return &other
}

// calibrationOf is the calibration of a cell; -1: it has none.
func (m *Matrix) calibrationOf(number int) int {
	if m.calibratedBy == nil {
		return -1
	}
	return m.calibratedBy[number]
}

func (v *view) capacityIn(calibration int) *capacity {
	alone := v.cell(calibration)
	margin, err := units.ParseRatio(string(cmp.Or(v.spec.Calibration.Margin, "10%")))
	if alone.Figures == nil || err != nil { // the schema keeps errors out
		return nil
	}
	rates := map[string][]*report.Figures{}
	for _, k := range v.evidence(calibration) {
		if k.Report.Result.Measured {
			for _, d := range k.Report.Result.Directions {
				rates[d.Name()] = append(rates[d.Name()], &report.Figures{PacketsPerSecond: d.Received.PacketsPerSecond})
			}
		}
	}
	c := &capacity{cell: alone.Name, packetsPerSecond: alone.Figures.PacketsPerSecond, directions: map[string]int64{}, margin: margin}
	for name, of := range rates {
		median, _ := history.Medians(of)
		c.directions[name] = median.PacketsPerSecond
	}
	if len(c.directions) == 0 { // its runs are lost: whether a figure is near the generators' can't be decided
		return nil
	}
	return c
}

// reached says whether a rate is so close to the generators' capacity that they may be the limit.
func (c *capacity) reached(packetsPerSecond, can int64) bool {
	return float64(packetsPerSecond) >= float64(can)*(1-c.margin.Float())
}

// near are the directions of a result in which the generators may be the limit.
func (c *capacity) near(r *report.Result) (names []string) {
	if !r.Measured {
		return nil
	}
	for _, d := range r.Directions {
		if can, known := c.directions[d.Name()]; c.elsewhere != "" || known && c.reached(d.Received.PacketsPerSecond, can) {
			names = append(names, d.Name())
		}
	}
	return names
}

// mark marks in a run's evidence, for each result and goal, the directions in which the generators may be the limit.
func (c *capacity) mark(of *report.Report) *report.Report {
	if c == nil || of == nil {
		return of
	}
	marked := *of
	marked.Result.NearGenerators, marked.Result.Goals = c.near(&of.Result), slices.Clone(of.Result.Goals)
	for i := range marked.Result.Goals {
		g := &marked.Result.Goals[i].Result
		g.NearGenerators = c.near(g)
	}
	return &marked
}

// boundByCalibration compares a cell's figures with what the generators reached by themselves: figures close to that become lower bounds, since a generator's limit must not count as the device's.
func (v *view) boundByCalibration(number int, out *report.SuiteCell) {
	by := v.Matrix.calibrationOf(number)
	if by < 0 || out.Figures == nil {
		return
	}
	c := v.capacityOf(number)
	if waits := v.awaitedCalibration(number); waits != "" {
		if len(v.spec.Criteria) == 0 { // else it is said of the verdict
			out.Message = wording.JoinNonEmpty("; ", out.Message, waits)
		}
		return
	}
	if c == nil {
		out.Message = wording.JoinNonEmpty("; ", out.Message, fmt.Sprintf("what the generators reach by themselves isn't known: %s was not measured", v.Matrix.Cells[by].Name))
		return
	}
	capacity := &report.Capacity{Cell: c.cell, PacketsPerSecond: c.packetsPerSecond, Share: units.PercentOf(out.Figures.PacketsPerSecond, c.packetsPerSecond)}
	if c.elsewhere == "" {
		out.Capacity = capacity
	}
	said := ""
	evidence := v.evidence(number)
	if near := c.nearInAny(evidence, ""); len(near) > 0 {
		capacity.Near, out.Figures, said = true, asLowerBound(out.Figures), c.words(near)
	}
	for i := range out.Goals {
		g := &out.Goals[i]
		near := c.nearInAny(evidence, g.Goal)
		if len(near) == 0 || g.Figures == nil {
			continue
		}
		if g.Figures = asLowerBound(g.Figures); said == "" {
			said = g.Goal + ": " + c.words(near)
		}
	}
	out.Message = wording.JoinNonEmpty("; ", out.Message, said)
}

// awaitedCalibration says that a cell's calibration is still to come; empty: it isn't.
func (v *view) awaitedCalibration(number int) string {
	by := v.Matrix.calibrationOf(number)
	if by < 0 || v.early {
		return ""
	}
	all := int(max(v.spec.Repetitions, 1))
	if n := v.toCome(by); n > 0 {
		return fmt.Sprintf("it waits for its calibration: %d of %d repetitions of %s are in", all-n, all, v.Matrix.Cells[by].Name)
	}
	return ""
}

// nearInAny are the directions in which the generators may have been the limit of any of these runs; of one goal if it is named.
func (c *capacity) nearInAny(runs []analysis.KeptReport, goal string) (names []string) {
	for _, k := range runs {
		r, has := k.Report.ForGoal(goal)
		if !has {
			continue
		}
		for _, name := range r.Result.NearGenerators {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// words say why the generators may be the limit: they were measured in another environment, or the figures of these directions are close to their capacity; if near has all directions, the sum is.
func (c *capacity) words(near []string) string {
	if c.elsewhere != "" {
		return wording.Limited(fmt.Sprintf("the generators by themselves were measured in another environment (%s): the limit may be theirs (%s)", c.elsewhere, c.cell), maxMessage)
	}
	what, can := "it is", "the "+wording.PacketRate(c.packetsPerSecond)+" that the generators reach"
	switch {
	case len(near) == len(c.directions):
	case len(near) == 1:
		what, can = near[0]+" is", "the "+wording.PacketRate(c.directions[near[0]])+" that the generators reach there"
	default:
		what, can = strings.Join(near, ", ")+" are", "what the generators reach there"
	}
	return fmt.Sprintf("%s within %s of %s by themselves (%s): the limit may be theirs", what, wording.Percent(c.margin.Percent()), can, c.cell)
}

// asLowerBound marks figures as a lower bound.
func asLowerBound(f *report.Figures) *report.Figures {
	out := *f
	out.LowerBound = true
	return &out
}
