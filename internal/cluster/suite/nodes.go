package suite

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// No change of a device is claimed between two nodes. So cells that are compared run on the same nodes, unless
// spec.placement says otherwise: each generator, and the device, on the node that it had in the first run with
// figures. Until then the comparison has one test at a time. An earlier suite as baseline had its first run already.
//
//	image \ frames   64b                  imix
//	base            [ r1: gen-1, dut-2 ]  [ r1: gen-2, dut-1 ]    first runs: the scheduler chooses
//	candidate       [ gen-1, dut-2     ]  [ gen-2, dut-1     ]    each column is a comparison

// Nodes are where pods of a test run, by the generators' names and deviceRole.
type Nodes map[string]string

// deviceRole is the device in Nodes.
const deviceRole = "dut"

// nodesIn are the nodes of an environment, as far as they are known.
func nodesIn(e *report.Environment) Nodes {
	nodes := Nodes{}
	if e == nil {
		return nodes
	}
	for _, g := range e.Generators {
		if g.Machine.Node != "" {
			nodes[g.Name] = g.Machine.Node
		}
	}
	if e.Device != nil && e.Device.Node != "" {
		nodes[deviceRole] = e.Device.Node
	}
	return nodes
}

// nodesAsked are the nodes that a LoadTest's spec names.
func nodesAsked(spec map[string]any) Nodes {
	nodes := Nodes{}
	generator := member(spec, "generator")
	hostname, _ := member(member(generator, "pod"), "nodeSelector")[corev1.LabelHostname].(string)
	for name, node := range member(member(generator, "placement"), "nodes") {
		nodes[name], _ = node.(string)
	}
	if node, _ := member(spec, "dut")["node"].(string); node != "" {
		nodes[deviceRole] = node
	}
	if hostname != "" {
		nodes[anyGenerator] = hostname
	}
	return nodes
}

// anyGenerator stands for generators whose pods select a node by its label.
const anyGenerator = ""

// nodeOf is the node of a role, and false where it isn't known.
func (n Nodes) nodeOf(role string) (string, bool) {
	node, ok := n[role]
	if !ok && role != deviceRole {
		node, ok = n[anyGenerator]
	}
	return node, ok
}

// place writes nodes into a LoadTest's spec where that says nothing of them. Only pods of the test are placed.
func (n Nodes) place(spec map[string]any) {
	generator, device := member(spec, "generator"), member(spec, "dut")
	asked := nodesAsked(spec)
	nodes := map[string]any{}
	for name, node := range n {
		if _, ok := asked.nodeOf(name); !ok && name != deviceRole && name != anyGenerator {
			nodes[name] = node
		}
	}
	if placement := member(generator, "placement"); len(nodes) > 0 && placement["servers"] == nil {
		if generator == nil {
			generator = map[string]any{"engine": string(v1alpha1.DefaultEngine)}
		}
		placed := maps.Clone(placement)
		if placed == nil {
			placed = map[string]any{}
		}
		maps.Copy(nodes, member(placement, "nodes"))
		placed["nodes"] = nodes
		generator = maps.Clone(generator)
		generator["placement"] = placed
		spec["generator"] = generator
	}
	kind, _ := device["type"].(string)
	if _, ok := asked[deviceRole]; !ok && n[deviceRole] != "" && slices.Contains([]string{string(v1alpha1.DUTPod),
		string(v1alpha1.DUTReference)}, kind) {
		device = maps.Clone(device)
		device["node"] = n[deviceRole]
		spec["dut"] = device
	}
}

// agree says that none of the nodes differs from the known one of the same role.
func (n Nodes) agree(observed Nodes) bool {
	for role, node := range n {
		if earlier, ok := observed[role]; ok && earlier != node {
			return false
		}
	}
	return true
}

// compareCells finds out which cells are compared with each other, and numbers the comparisons. Without a baseline
// inside the suite, but with one outside, each cell is a comparison, and without any baseline all cells are one. Cells
// that share a calibration belong together, since its figure holds for its own nodes alone.
func (m *Matrix) compareCells() {
	if !m.suite.Spec.OnSameNodes() {
		return
	}
	m.comparisonOf = make([]int, len(m.Cells))
	numbers := map[string]int{}
	for i := m.calibrations; i < len(m.Cells); i++ {
		key := ""
		if b := m.suite.Spec.Baseline; b != nil {
			key = keyOf(slices.DeleteFunc(slices.Clone(m.Cells[i].Values),
				func(v v1alpha1.CellValue) bool { return v.Axis == b.Axis }))
		}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		m.comparisonOf[i] = numbers[key]
	}
	for c := range m.calibrations {
		common := -1
		for i, calibration := range m.calibratedBy {
			if calibration != c {
				continue
			}
			if common < 0 {
				common = m.comparisonOf[i]
			}
			m.merge(m.comparisonOf[i], common)
		}
		m.comparisonOf[c] = common
	}
}

// merge gives the cells of a comparison to another one.
func (m *Matrix) merge(comparison, target int) {
	for i := range m.comparisonOf {
		if m.comparisonOf[i] == comparison {
			m.comparisonOf[i] = target
		}
	}
}

// sameComparison is the comparison of a cell, or -1 if its tests may run anywhere.
func (m *Matrix) sameComparison(cell int) int {
	if m.comparisonOf == nil {
		return -1
	}
	return m.comparisonOf[cell]
}

// placement is where the runs of a comparison were first.
type placement struct {
	nodes Nodes
	// test is the first run with figures of a cell that isn't a calibration. It is empty if there is none yet.
	test string
	// calibrated says that a calibration has figures.
	calibrated bool
	// shown is when the first run ended that shows the node, by roles, and first when test did.
	shown map[string]time.Time
	first time.Time
}

// settled says that the nodes of a cell are known, as far as they ever will be.
func (p *placement) settled(calibrates bool) bool {
	return p != nil && (p.test != "" || calibrates && p.calibrated)
}

// placementsOf are the comparisons' placements by this suite's own runs.
func placementsOf(m *Matrix, runs Runs) map[int]*placement {
	placements := map[int]*placement{}
	if m.comparisonOf == nil {
		return placements
	}
	for cell := range m.Cells {
		for name := range m.testNames(cell) {
			run, ok := runs[name]
			if !ok || !run.measured() || run.Taken != nil || run.Evidence == nil {
				continue
			}
			c := m.comparisonOf[cell]
			if placements[c] == nil {
				placements[c] = &placement{nodes: Nodes{}, shown: map[string]time.Time{}}
			}
			placements[c].add(&run, m.Cells[cell].calibrates)
		}
	}
	return placements
}

// add adds a run. The first run that ended decides, whatever the order of adding.
func (p *placement) add(run *Run, calibrates bool) {
	if p.calibrated = p.calibrated || calibrates; !calibrates && (p.test == "" || run.Finished.Before(p.first)) {
		p.test, p.first = run.Test, run.Finished
	}
	for role, node := range nodesIn(run.Evidence.Environment) {
		if shown, ok := p.shown[role]; !ok || run.Finished.Before(shown) {
			p.nodes[role], p.shown[role] = node, run.Finished
		}
	}
}

// place says on which nodes tests must run.
func (rs *cellResults) place(tests []Wanted) {
	for i := range tests {
		if nodes := rs.nodesOf(tests[i].Cell); len(nodes) > 0 {
			tests[i].Nodes = &nodes
		}
	}
}

// nodesOf are the nodes that a cell's tests must run on: those of the comparison's first run or, before that, of the
// earlier suite that is the baseline. There are none if the scheduler may choose. Each comparison's are found once.
func (rs *cellResults) nodesOf(cell int) Nodes {
	c := rs.matrix.sameComparison(cell)
	if c < 0 {
		return nil
	}
	if p := rs.placements[c]; p != nil {
		return p.nodes
	}
	if rs.nodesAhead == nil {
		rs.nodesAhead = rs.findNodesAhead()
	}
	return rs.nodesAhead[c]
}

// findNodesAhead are the nodes of each comparison by the runs of the earlier suite that is the baseline.
func (rs *cellResults) findNodesAhead() map[int]Nodes {
	found := map[int]Nodes{}
	if rs.ahead == nil || rs.ahead.Fault != "" {
		return found
	}
	earlier := newLookup(rs.ahead)
	for cell := rs.matrix.calibrations; cell < len(rs.matrix.Cells); cell++ {
		c := rs.matrix.comparisonOf[cell]
		for _, k := range earlier.cells[keyOf(rs.matrix.Cells[cell].Values)] {
			if len(found[c]) == 0 && k.Report != nil {
				found[c] = nodesIn(k.Report.Environment)
			}
		}
	}
	return found
}

// holds says that a test must wait, since another test of its comparison is to show the nodes first. starting are the
// comparisons of tests that are about to be created.
func (v *situation) holds(w Wanted, starting map[int]bool) bool {
	c := v.matrix.sameComparison(w.Cell)
	if c < 0 || v.placements[c].settled(v.matrix.Cells[w.Cell].calibrates) {
		return false
	}
	if starting[c] || v.activeIn(c) {
		return true
	}
	starting[c] = true
	return false
}

// activeIn says that a test of a comparison is under way.
func (v *situation) activeIn(comparison int) bool {
	for cell, n := range v.activeOf {
		if n > 0 && v.matrix.comparisonOf[cell] == comparison {
			return true
		}
	}
	return false
}
