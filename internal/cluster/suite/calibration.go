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

// addCalibrations adds cells, before all others, in which the generators are measured without a device. Cells
// whose tests differ only in the device share a calibration.
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
	calibratedBy := make([]int, len(m.Cells))
	for i := range m.Cells {
		calibratedBy[i] = -1
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
			k, kinds = len(kinds), append(kinds, kind{key: string(key), first: i, values: make([][]v1alpha1.AxisName,
				len(m.suite.Spec.Axes))})
		}
		kinds[k].add(m.Cells[i].Values)
		calibratedBy[i] = k
	}
	calibrations := make([]Cell, len(kinds))
	for k := range kinds {
		calibrations[k] = kinds[k].cell(&m.Cells[kinds[k].first], kinds)
		m.identities = append(m.identities, report.Digest([]byte(kinds[k].key)))
	}
	m.calibrations = len(calibrations)
	m.Cells, m.calibratedBy = append(calibrations, m.Cells...), append(slices.Repeat([]int{-1}, len(calibrations)),
		calibratedBy...)
}

// Calibrates says that a cell measures the generators without a device.
func (m *Matrix) Calibrates(cell int) bool { return m.Cells[cell].calibrates }

// kind is a group of cells that share a calibration.
type kind struct {
	key    string
	first  int                   // index of the first cell
	values [][]v1alpha1.AxisName // values of each axis that the cells have
}

func (k *kind) add(values []v1alpha1.CellValue) {
	for axis, v := range values {
		if !slices.Contains(k.values[axis], v.Value) {
			k.values[axis] = append(k.values[axis], v.Value)
		}
	}
}

// cell is the calibration's cell. It has the patches of the group's first cell, and the values of those axes in
// which groups differ.
func (k *kind) cell(first *Cell, kinds []kind) Cell {
	c := Cell{calibrates: true, patches: first.patches, Product: generatorLabel,
		Values: []v1alpha1.CellValue{{Axis: generatorLabel, Value: generatorLabel}}}
	var named []string
	for axis, v := range first.Values {
		if slices.ContainsFunc(kinds, func(o kind) bool { return !slices.Equal(o.values[axis], k.values[axis]) }) {
			c.Values, named = append(c.Values, v), append(named, string(v.Value))
		}
	}
	c.Loadtest = strings.Join(named, "-")
	return c
}

// calibratable says that generators can be measured without a device with a cell's traffic. Sessions can't, and
// a cell without a device needs no calibration.
func calibratable(spec map[string]any) bool {
	traffic, _ := member(spec, "traffic")["type"].(string)
	return member(spec, "dut")["type"] != loopback && compile.ThroughputOf(traffic) == v1alpha1.MetricPacketsPerSecond
}

func member(object map[string]any, name string) map[string]any {
	m, _ := object[name].(map[string]any)
	return m
}

// calibrated is a cell's spec with a cable in place of the device, and with the generators' maximum load.
func (m *Matrix) calibrated(spec map[string]any) map[string]any {
	c := m.suite.Spec.Calibration
	calibration := map[string]any{}
	for name, value := range spec {
		if !slices.Contains([]string{"criteria", "baseline", "observers", "dut", "procedure"}, name) {
			calibration[name] = value
		}
	}
	calibration["dut"] = cable(member(spec, "dut"))
	// each frame of such a test carries a stamp, which slows the generators down
	if member(spec, "procedure")["latency"] != nil {
		traffic := maps.Clone(member(spec, "traffic"))
		if traffic == nil {
			traffic = map[string]any{}
		}
		traffic["stamps"] = string(v1alpha1.StampsEveryFrame)
		calibration["traffic"] = traffic
	}
	calibration["procedure"] = Overload(map[string]any{"trialDuration": string(cmp.Or(c.TrialDuration, "5s")),
		"trials": int64(1)})
	links, _ := spec["links"].([]any)
	var ends []any
	for _, l := range links {
		link, ok := l.(map[string]any)
		if !ok {
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
		calibration["links"] = ends
	}
	return calibration
}

// Overload is the procedure, as a user writes it, that measures what comes back of all that the generators can send.
func Overload(parameters map[string]any) map[string]any {
	return map[string]any{"type": string(v1alpha1.ProcedureMaximumOfferedLoad), "maximumOfferedLoad": parameters}
}

// cable replaces a device. The cable keeps the device's routes, from which flows and destinations are made, so
// that the generators send the same frames.
func cable(device map[string]any) map[string]any {
	mode := member(member(device, "reference"), "mode")
	for _, kind := range []string{"router", "filter", "xdp"} {
		if routes, ok := member(mode, kind)["routes"]; ok {
			return map[string]any{"type": loopback,
				"reference": map[string]any{"mode": map[string]any{"router": map[string]any{"routes": routes}}}}
		}
	}
	return map[string]any{"type": loopback}
}

// capacity is what the generators reached without a device, in a calibration.
type capacity struct {
	cell             string
	packetsPerSecond int64
	directions       map[string]int64 // packets per second of each direction
	margin           units.Ratio
	// elsewhere says how the calibration's environment differs from the cell's, and is empty if no difference
	// is known. If it differs, the capacity of the cell's generators is unknown, and any limit may be the
	// generators'.
	elsewhere string
}

// capacityOf is the capacity that a cell's figures are compared with. It is nil if there is none, or if it is
// unknown. Each calibration's capacity is computed once.
func (rs *cellResults) capacityOf(number int) *capacity {
	calibration := rs.matrix.calibrationOf(number)
	if calibration < 0 {
		return nil
	}
	c, ok := rs.capacities[calibration]
	if !ok {
		c = rs.capacityIn(calibration)
		rs.capacities[calibration] = c
	}
	if c == nil {
		return nil
	}
	elsewhere, ok := rs.environmentDifferences[number]
	if !ok {
		elsewhere = rs.environments.calibrationDifferences(calibration, number)
		rs.environmentDifferences[number] = elsewhere
	}
	if elsewhere == "" {
		return c
	}
	copied := *c
	copied.elsewhere = elsewhere
	return &copied
}

// calibrationOf is the calibration of a cell, or -1 if it has none.
func (m *Matrix) calibrationOf(number int) int {
	if m.calibratedBy == nil {
		return -1
	}
	return m.calibratedBy[number]
}

func (rs *cellResults) capacityIn(calibration int) *capacity {
	measured := rs.cell(calibration)
	margin, err := units.ParseShare(string(cmp.Or(rs.spec.Calibration.Margin, "10%")))
	if measured.Figures == nil || err != nil { // the schema keeps errors out
		return nil
	}
	rates := map[string][]*report.Figures{}
	for _, k := range rs.evidence(calibration) {
		if k.Report.Answer.Measured {
			for _, d := range k.Report.Answer.Directions {
				rates[d.Name()] = append(rates[d.Name()],
					&report.Figures{PacketsPerSecond: d.Received.PacketsPerSecond})
			}
		}
	}
	c := &capacity{cell: measured.Name, packetsPerSecond: measured.Figures.PacketsPerSecond,
		directions: map[string]int64{}, margin: margin}
	for name, of := range rates {
		median, _ := history.Medians(of)
		c.directions[name] = median.PacketsPerSecond
	}
	if len(c.directions) == 0 { // the runs are lost, so no figure can be compared with the generators' capacity
		return nil
	}
	return c
}

// reached says that a rate is so close to the generators' capacity that the generators may be the limit.
func (c *capacity) reached(packetsPerSecond, limit int64) bool {
	return float64(packetsPerSecond) >= float64(limit)*(1-c.margin.Float())
}

// nearDirections are the directions of a result in which the generators may be the limit.
func (c *capacity) nearDirections(r *report.Answer) (names []string) {
	if !r.Measured {
		return nil
	}
	for _, d := range r.Directions {
		if limit, ok := c.directions[d.Name()]; c.elsewhere != "" || ok && c.reached(d.Received.PacketsPerSecond,
			limit) {
			names = append(names, d.Name())
		}
	}
	return names
}

// mark marks, in each result and goal of a run's evidence, the directions in which the generators may be the
// limit.
func (c *capacity) mark(document *report.Report) *report.Report {
	if c == nil || document == nil {
		return document
	}
	marked := *document
	marked.Answer.NearGenerators, marked.Answer.Goals = c.nearDirections(&document.Answer),
		slices.Clone(document.Answer.Goals)
	for i := range marked.Answer.Goals {
		g := &marked.Answer.Goals[i].Answer
		g.NearGenerators = c.nearDirections(g)
	}
	return &marked
}

// nearInAny are the directions in which the generators may have been the limit of any of these runs, or of one
// goal if it is named.
func (c *capacity) nearInAny(runs []analysis.KeptReport, goal string) (names []string) {
	for _, k := range runs {
		r, ok := k.Report.ForGoal(goal)
		if !ok {
			continue
		}
		for _, name := range r.Answer.NearGenerators {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// words say why the generators may be the limit. Either they were measured in another environment, or the
// figures of these directions are close to their capacity. Where near names all directions, the sum is close to
// the capacity.
func (c *capacity) words(names []string) string {
	if c.elsewhere != "" {
		return wording.Limited(fmt.Sprintf("the generators by themselves were measured in another environment (%s): "+
			"the limit may be theirs (%s)", c.elsewhere, c.cell), maxMessage)
	}
	subject, limit := "it is", "the "+wording.PacketRate(c.packetsPerSecond)+" that the generators reach"
	switch {
	case len(names) == len(c.directions):
	case len(names) == 1:
		subject, limit = names[0]+" is", "the "+wording.PacketRate(c.directions[names[0]])+
			" that the generators reach there"
	default:
		subject, limit = strings.Join(names, ", ")+" are", "what the generators reach there"
	}
	return fmt.Sprintf("%s within %s of %s by themselves (%s): the limit may be theirs", subject,
		wording.Percent(c.margin.Percent()), limit, c.cell)
}

// asLowerBound is a copy of figures, marked as a lower bound.
func asLowerBound(f *report.Figures) *report.Figures {
	bound := *f
	bound.LowerBound = true
	return &bound
}

// boundByCalibration compares a cell's figures with the generators' capacity. Figures close to the capacity
// become lower bounds, since a generator's limit must not count as the device's.
func (rs *cellResults) boundByCalibration(number int, result *report.SuiteCell) {
	calibration := rs.matrix.calibrationOf(number)
	if calibration < 0 || result.Figures == nil {
		return
	}
	c := rs.capacityOf(number)
	if waits := rs.awaitedCalibration(number); waits != "" {
		if len(rs.spec.Criteria) == 0 { // else the verdict says it
			result.Message = wording.JoinNonEmpty("; ", result.Message, waits)
		}
		return
	}
	if c == nil {
		result.Message = wording.JoinNonEmpty("; ", result.Message,
			fmt.Sprintf("what the generators reach by themselves isn't known: %s was not measured",
				rs.matrix.Cells[calibration].Name))
		return
	}
	capacity := &report.Capacity{Cell: c.cell, PacketsPerSecond: c.packetsPerSecond,
		Share: units.PercentOf(result.Figures.PacketsPerSecond, c.packetsPerSecond)}
	if c.elsewhere == "" {
		result.Capacity = capacity
	}
	message := ""
	evidence := rs.evidence(number)
	if limited := c.nearInAny(evidence, ""); len(limited) > 0 {
		capacity.Near, result.Figures, message = true, asLowerBound(result.Figures), c.words(limited)
	}
	for i := range result.Goals {
		g := &result.Goals[i]
		limited := c.nearInAny(evidence, g.Goal)
		if len(limited) == 0 || g.Figures == nil {
			continue
		}
		if g.Figures = asLowerBound(g.Figures); message == "" {
			message = g.Goal + ": " + c.words(limited)
		}
	}
	result.Message = wording.JoinNonEmpty("; ", result.Message, message)
}

// awaitedCalibration says that a cell's calibration is still to come. It is empty if the calibration is
// complete.
func (rs *cellResults) awaitedCalibration(number int) string {
	calibration := rs.matrix.calibrationOf(number)
	if calibration < 0 || rs.judgedEarly {
		return ""
	}
	repetitions := int(rs.matrix.repetitions())
	if n := rs.toCome(calibration); n > 0 {
		return fmt.Sprintf("it waits for its calibration: %d of %d repetitions of %s are in", repetitions-n,
			repetitions, rs.matrix.Cells[calibration].Name)
	}
	return ""
}
