package lifecycle

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// launch answers what the runner is made from, once all else is ready.
type launch struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	blueprint *blueprint
	deadlines *deadlines
	placement *placement
	observers *observers
	ports     *ports
	// baseline is what was found of spec.baseline. Nil means that it wasn't looked for.
	baseline *Baseline
	refusals []Refusal
}

// runNeeded is the rule for a test that is ready, and whose runner isn't made.
func (la *launch) runNeeded() *step {
	if la.untriedCopy() {
		return &step{reason: v1alpha1.ReasonStarting,
			message: "it is tried whether the Report's copy can be made at the " +
				"end, under its name", try: []manifests.Object{manifests.EmptyReportCopy(la.test)}}
	}
	if refusals := la.observers.otherRefusals(); len(refusals) > 0 {
		return la.placement.refusedStep(refusals)
	}
	input := la.blueprint.input()
	sites, err := manifests.SitesOf(input, la.attempt.pods)
	if err != nil {
		s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting,
			message: "all pods are ready, and where they are isn't known yet: " + err.Error()}
		return s.waitUntil(la.deadlines.placedUntil())
	}
	if la.comparisonWanted() && la.baseline == nil {
		return &step{reason: v1alpha1.ReasonStarting,
			message: "all pods are ready: what the test is compared with is " +
				"looked at", readBaseline: true}
	}
	input.Baseline = la.baselineDocument()
	if reason := la.observers.whyNoReading(la.observers.vitals()); reason != "" {
		sites.Vitals, sites.NoVitals = "", reason
	}
	if reason := la.observers.whyNoReading(la.observers.collector()); reason != "" {
		sites.Collector, sites.NoCollector = "", reason
	}
	sites.SharedPorts = sharedPorts(la.ports.ends()) // where they aren't allowed it didn't come to this
	run, err := manifests.Run(input, sites)
	if err != nil {
		return fail(v1alpha1.ReasonRunnerFailed, "the runner can't be made: %v", err)
	}
	var create []manifests.Object
	for _, o := range run {
		if !la.placement.present(o) {
			create = append(create, o)
		}
	}
	return &step{reason: v1alpha1.ReasonRunning, message: runningWords, activity: activityStarting, begins: true,
		create: create}
}

// untriedCopy says whether the Report's copy still has to be tried in a dry run. It is tried together with pods, and a
// test of existing generators and devices makes none.
func (la *launch) untriedCopy() bool {
	return la.refusals == nil && len(la.attempt.measuringPods()) == 0 &&
		!la.placement.present(manifests.EmptyReportCopy(la.test))
}

// comparisonWanted says whether a criterion compares with a baseline that the spec names.
func (la *launch) comparisonWanted() bool {
	return la.test.Spec.Baseline != nil && slices.ContainsFunc(la.test.Spec.Criteria, v1alpha1.Criterion.Relative)
}

// baselineDocument is the document that travels with the Plan. Nil means that nothing is compared.
func (la *launch) baselineDocument() []byte {
	if !la.comparisonWanted() || la.baseline == nil {
		return nil
	}
	baseline := compile.BaselineOf(la.test.Spec.Baseline)
	b := report.Baseline{Kind: baseline.Kind, Name: baseline.Name, Message: la.baseline.Fault}
	if b.Message == "" {
		b = *analysis.BaselineOf(baseline.Kind, baseline.Name, analysis.Candidate{Plan: la.blueprint.cluster().Plan},
			candidates(la.baseline.Sources))
		b.AllowDifferent = report.EnvironmentParts(la.blueprint.cluster().Plan.AllowDifferent)
	}
	packed, err := delivery.EncodeBaseline(b)
	if err != nil {
		// that one is small
		packed, _ = delivery.EncodeBaseline(report.Baseline{Kind: baseline.Kind, Name: baseline.Name,
			Message: err.Error()})
	}
	return packed
}

// The baseline is read when the runner is made, and travels with the Plan. The Report then holds the verdict together
// with everything that it follows from, whatever happens to the baseline's objects later. A baseline that isn't
// measured by then doesn't count, and the message says so.
//
//	spec.baseline ──▶ Reports ──▶ NAME-A-plan: baseline.json.gz ──▶ runner ──▶ Report: baseline, verdict

// Baseline is what was found of spec.baseline.
type Baseline struct {
	// Fault is why there are no Sources. Empty means that there are some.
	Fault   string
	Sources []BaselineSource
}

// BaselineSource is a Report that serves as baseline, or why it can't.
type BaselineSource struct {
	Name   string
	Report *report.Report
	Digest string
	// Fault is why there is no Report.
	Fault string
}

func candidates(sources []BaselineSource) []analysis.KeptReport {
	reports := make([]analysis.KeptReport, len(sources))
	for i, s := range sources {
		reports[i] = analysis.KeptReport{Report: s.Report, Digest: s.Digest, Name: s.Name, Fault: s.Fault}
	}
	return reports
}

// runningWords are the message while the runner is at it.
const runningWords = "the runner measures: status.progress tells how far it is"
