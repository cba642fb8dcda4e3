package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// Much of what leaves a comparison undecided is known before the first run. The suite says it then, and measures
// nevertheless, since the figures are worth having and others may compare them.
//
//	spec: repetitions, nodes         ┐
//	the baseline's runs, if it has   ├─▶ condition Comparable, an event; on one machine a line
//	any: spread, environment, nodes  │
//	the cluster's nodes, this machine┘

// Prospect is what is known, before the first test, of how tests will run.
type Prospect struct {
	// NodeFaults has each node of the cluster, and why no pod can be placed on it, or empty. It is nil if unknown.
	NodeFaults map[string]string
	// LocalMachine is the machine of a suite that runs without a cluster, or nil where its generators run elsewhere.
	// The function is nil in a cluster.
	LocalMachine func() *report.Machine
	// PlanOf is a cell's Plan. It is nil if Plans aren't known.
	PlanOf func(cell int) *plan.Plan
}

// hindrance is why a comparison can't be decided.
type hindrance struct {
	reason, sentence string
}

// mostHindrances is how many hindrances a condition names, and mostForeseen how many cells are looked at, since a pass
// is to be short.
const (
	mostHindrances = 3
	mostForeseen   = 256
)

// comparability is the condition that the suite's comparisons can be decided, as far as that is known before the first
// run. It is nil if nothing is compared, or nothing is known yet.
func (v *situation) comparability() *metav1.Condition {
	external := v.spec.Baseline != nil && v.spec.Baseline.Suite != ""
	if v.spec.Baseline == nil || external && v.Ahead == nil || len(v.relativeCriteria()) == 0 {
		return nil
	}
	c := condition(v1alpha1.ConditionComparable, metav1.ConditionTrue, v1alpha1.ReasonComparable,
		"nothing that is known before the first run keeps the criteria from being decided")
	if external && v.Ahead.Fault != "" {
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonBaselineUnread
		c.Message = fmt.Sprintf("nothing is known of suite %[1]s before the first run, as it isn't complete or can't "+
			"be read (kubectl describe loadtestsuite %[1]s): it is read when all is measured", v.spec.Baseline.Suite)
		return &c
	}
	if hindrances := v.hindrances(v.Ahead, v.Prospect); len(hindrances) > 0 {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, hindrances[0].reason, sentences(hindrances)
	}
	return &c
}

// sentences are the first hindrances in one text.
func sentences(hindrances []hindrance) string {
	var texts []string
	for _, o := range hindrances[:min(len(hindrances), mostHindrances)] {
		texts = append(texts, o.sentence)
	}
	if n := len(hindrances) - mostHindrances; n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(texts, "; ")
}

// relativeCriteria are the suite's criteria that compare.
func (rs *cellResults) relativeCriteria() []plan.Criterion {
	criteria, errs := compile.Criteria(field.NewPath("spec", "criteria"), rs.spec.Criteria)
	if len(errs) > 0 { // the schema keeps them out
		return nil
	}
	return slices.DeleteFunc(criteria, func(c plan.Criterion) bool { return !c.Relative() })
}

// hindrances are why the suite's comparisons can't be decided, each once. ref is the baseline outside the suite, or
// nil.
func (rs *cellResults) hindrances(ref *Reference, prospect Prospect) (found []hindrance) {
	var cells *lookup
	if ref != nil {
		cells = newLookup(ref)
	}
	criteria := rs.relativeCriteria()
	for i := rs.matrix.calibrations; i < min(len(rs.matrix.Cells), rs.matrix.calibrations+mostForeseen); i++ {
		var hindrances []hindrance
		switch number, name := rs.baselines.ofCell(i); {
		case len(criteria) == 0:
		case cells != nil:
			hindrances = rs.againstRuns(i, cells, criteria, prospect)
		case name != "" && number >= 0 && number != i:
			hindrances = append(rs.againstCell(i, number), tooFewRepetitions(criteria, int(rs.matrix.repetitions()))...)
		}
		for _, o := range hindrances {
			if !slices.Contains(found, o) {
				found = append(found, o)
			}
		}
	}
	return found
}

// tooFewRepetitions are the criteria that so few runs of each side never decide.
func tooFewRepetitions(criteria []plan.Criterion, repetitions int) (found []hindrance) {
	for _, c := range criteria {
		if repetitions >= comparison.FewestRuns || c.AssumedSpread > 0 || c.Statistic == plan.WorstOfRuns {
			continue
		}
		found = append(found, hindrance{v1alpha1.ReasonUndecidable, fmt.Sprintf("criterion %s compares, and fewer "+
			"than %d runs of each show no difference: spec.repetitions is %d, so set it to %[2]d or more, or vouch "+
			"for the spread (assumedSpread)", c.Name, comparison.FewestRuns, repetitions)})
	}
	return found
}

// againstCell are why a cell can't be compared with its baseline in the suite: their specs name different nodes.
func (rs *cellResults) againstCell(cell, baseline int) []hindrance {
	if slices.Contains(rs.baselines.allowDifferent(), report.PartNode) {
		return nil
	}
	asked, expected := rs.matrix.nodesAskedBy(cell), rs.matrix.nodesAskedBy(baseline)
	for _, role := range slices.Sorted(maps.Keys(asked)) {
		node, ok := expected.nodeOf(role)
		if !ok || node == asked[role] {
			continue
		}
		return []hindrance{{v1alpha1.ReasonOtherEnvironment, fmt.Sprintf("%s asks for node %s and its baseline, %s, "+
			"for %s (%s), and no change is claimed between two nodes: ask for the same, or allow it "+
			"(baseline.allowedDifferences: [Node])", rs.matrix.Cells[cell].Name, asked[role],
			rs.matrix.Cells[baseline].Name, node, cmp.Or(role, "its generators"))}}
	}
	return nil
}

// nodesAskedBy are the nodes that a cell's spec names.
func (m *Matrix) nodesAskedBy(cell int) Nodes {
	spec, err := m.spec(&m.Cells[cell])
	if err != nil { // the check reports it
		return nil
	}
	return nodesAsked(spec)
}

// againstRuns are why a cell can't be compared with runs that are there already: what their nodes or this machine are,
// how they spread, or that there are none.
func (rs *cellResults) againstRuns(cell int, cells *lookup, criteria []plan.Criterion, prospect Prospect) []hindrance {
	c := &rs.matrix.Cells[cell]
	candidate := analysis.Candidate{Plan: &plan.Plan{Test: plan.Test{Product: c.Product, Loadtest: c.Loadtest}}}
	runs, reason := cells.runsOf(c.Values, candidate)
	baseline := report.Baseline{Kind: cells.Kind, Name: cells.Name}.String()
	runs = slices.DeleteFunc(slices.Clone(runs), func(k analysis.KeptReport) bool { return k.Report == nil })
	if len(runs) == 0 {
		if len(cells.Reports) > 0 { // the labels of the test, which aren't known here, find them
			return nil
		}
		return []hindrance{{v1alpha1.ReasonUndecidable, fmt.Sprintf("%s has nothing to be compared with in %s: %s",
			c.Name, baseline, cmp.Or(reason, "it has no Report"))}}
	}
	if prospect.PlanOf != nil {
		if p := prospect.PlanOf(cell); p != nil {
			alike := comparableRuns(analysis.Candidate{Plan: p}, runs)
			if len(alike) == 0 {
				b := analysis.BaselineOf("", "", analysis.Candidate{Plan: p}, runs)
				return []hindrance{{v1alpha1.ReasonUndecidable, fmt.Sprintf("%s can't be compared with %s: %s", c.Name,
					baseline, b.Runs[0].Message)}}
			}
			runs = alike
		}
	}
	asked := rs.matrix.nodesAskedBy(cell)
	var old, expected []*report.Environment
	for _, k := range runs {
		old = append(old, k.Report.Environment)
		expected = append(expected, prospect.expected(k.Report.Environment, asked))
	}
	differences := comparison.EnvironmentDifferences(old, expected)
	if refusal := comparison.Refusal(differences, rs.baselines.allowDifferent()); refusal != "" {
		return []hindrance{{v1alpha1.ReasonOtherEnvironment, fmt.Sprintf("%s (the baseline is %s)", refusal, baseline)}}
	}
	found := rs.unavailable(cell, prospect, baseline)
	for _, criterion := range criteria {
		if sentence := analysis.Foresee(criterion, runs, int(rs.matrix.repetitions()),
			rs.baselines.allowDifferent()); sentence != "" {
			found = append(found, hindrance{v1alpha1.ReasonUndecidable, fmt.Sprintf("%s, criterion %s: even a device "+
				"equal to the baseline's (%s) would be undecided: %s", c.Name, criterion.Name, baseline, sentence)})
		}
	}
	return found
}

// unavailable are the nodes of the baseline's runs that no pod can be placed on.
func (rs *cellResults) unavailable(cell int, prospect Prospect, baseline string) (found []hindrance) {
	if prospect.NodeFaults == nil {
		return nil
	}
	nodes := rs.nodesOf(cell)
	for _, node := range slices.Compact(slices.Sorted(maps.Values(nodes))) {
		fault, exists := prospect.NodeFaults[node]
		if !exists {
			fault = "which the cluster doesn't have any more: bring it back"
		}
		if fault != "" {
			found = append(found, hindrance{v1alpha1.ReasonNodeUnavailable, fmt.Sprintf("tests wait for node %s, on "+
				"which %s ran, %s, or set placement.sameNodes: false and baseline.allowedDifferences: [Node]", node,
				baseline, fault)})
		}
	}
	return found
}

// expected is the environment of a baseline's run with what is known of the suite's own runs in its place.
func (p Prospect) expected(e *report.Environment, asked Nodes) *report.Environment {
	if e == nil {
		return nil
	}
	expected := *e
	expected.Generators = slices.Clone(e.Generators)
	var local *report.Machine
	if p.LocalMachine != nil {
		local = p.LocalMachine()
	}
	for i := range expected.Generators {
		g := &expected.Generators[i]
		if node, ok := asked.nodeOf(g.Name); ok && node != g.Machine.Node {
			g.Machine = report.Machine{Node: node}
		}
		if local != nil {
			g.Machine = *local
		}
	}
	if node, ok := asked[deviceRole]; ok && e.Device != nil && node != e.Device.Node {
		expected.Device = &report.Machine{Node: node}
	}
	return &expected
}

// aheadWanted reads the earlier suite that is the baseline before tests are made whose nodes nothing else tells.
func aheadWanted(v *situation) *step {
	b := v.spec.Baseline
	if v.Ahead != nil || b == nil || b.Suite == "" || len(v.missing) == 0 || len(v.active) >= int(v.spec.Parallelism) {
		return nil
	}
	unknown := func(w Wanted) bool {
		c := v.matrix.sameComparison(w.Cell)
		return c >= 0 && v.placements[c] == nil
	}
	if v.lastStatus.StartTime != nil && !slices.ContainsFunc(v.missing, unknown) {
		return nil
	}
	return &step{message: "the suite to compare with says where tests run", ahead: true}
}

// awaitedNodes says of which tests a node is awaited, because their comparison's first run was there. It is empty if
// none waits.
func (v *situation) awaitedNodes() string {
	for _, name := range v.active {
		t := v.Tests[name]
		if t == nil || t.Status.Operator.NodeAwaitedTime == nil {
			continue
		}
		first := "the baseline"
		for cell := range v.matrix.Cells {
			p := v.placements[v.matrix.sameComparison(cell)]
			if t.Labels[v1alpha1.LabelCell] == v.matrix.Cells[cell].Name && p != nil && p.test != "" {
				first = p.test
			}
		}
		return fmt.Sprintf("%s waits for the node on which %s ran: kubectl describe loadtest %[1]s says why; uncordon "+
			"or free it, or create the suite with placement.sameNodes: false", name, first)
	}
	return ""
}
