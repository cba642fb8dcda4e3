package compile

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
)

// This file has what tests may ask for beside a procedure's own parameters, as far as the procedure's traits allow it.

// Whose procedures may vary one direction after another, reset the device, and measure latency.
var (
	variesDirections = func(t procedure.Traits) bool { return t.FindsThroughput }
	beginsTrials     = func(t procedure.Traits) bool { return t.SendsTrials }
	hasOneRate       = func(t procedure.Traits) bool { return t.FindsThroughput || t.HoldsLoad }
)

// checkProfile refuses a profile of what no load or no processor can be had for.
func (r *refusals) checkProfile(spec *v1alpha1.LoadTestSpec) {
	path, p := specPath().Child("procedure", "profile"), spec.Procedure
	r.refuseIf(!hasOneRate(traitsOf(p.Type)), path, true,
		"processors are sampled at the load that the procedure finds or holds, and this type has none: set type: "+
			strings.Join(procedures.TypesWith(hasOneRate), " or ")+", or remove profile")
	r.refuseIf(p.Directions == v1alpha1.DirectionsEach, path, true,
		"processors are sampled at one load of all directions, and directions: Each finds one for each: remove "+
			"directions or profile")
	r.refuseIf(spec.DUT.Type == v1alpha1.DUTLoopback, path, true,
		"a Loopback has no device whose processors could be sampled: remove profile")
	r.refuseIf(!trafficOf(string(spec.Traffic.Type)).shapesFrames(), path, true,
		"processors are sampled under a load of frames, and this traffic is sessions: remove profile")
}

func (r *refusals) checkProcedureFields(p *v1alpha1.ProcedureSpec) {
	path := specPath().Child("procedure")
	eachDirection, traits := p.Directions == v1alpha1.DirectionsEach, traitsOf(p.Type)
	types := func(matches func(procedure.Traits) bool) string {
		return "set type: " + strings.Join(procedures.TypesWith(matches), " or ")
	}
	r.refuseIf(eachDirection && !variesDirections(traits), path.Child("directions"), p.Directions,
		"only a search for the throughput varies one direction after another: "+types(variesDirections)+
			", or remove directions")
	r.refuseIf(p.OtherLoad != "" && !eachDirection, path.Child("otherLoad"), p.OtherLoad,
		"otherLoad is of the directions that don't vary, and all of them do: set directions: Each, or remove otherLoad")
	r.refuseIf(p.Reset != nil && !beginsTrials(traits), path.Child("reset"), noValue,
		"the device is reset before each trial, and this type has none: "+types(beginsTrials)+", or remove reset")
	if p.Latency != nil {
		r.refuseIf(!hasOneRate(traits), path.Child("latency"), noValue,
			"latency is measured at shares of a rate that the procedure finds or holds, and this type has none: "+
				types(hasOneRate)+", or remove latency")
		r.refuseIf(eachDirection, path.Child("latency"), noValue,
			"latency is measured at shares of one rate of all directions, and directions: Each finds one for each: "+
				"remove directions or latency")
	}
}

// latency is at which loads latency is measured after a procedure with these goals. Nil means at none.
func (pr *procedureReader) latency(spec *v1alpha1.LatencySpec, goals []plan.Goal) *plan.Latency {
	if spec == nil {
		return nil
	}
	m := member{pr.refusals, "latency"}
	l := &plan.Latency{Goal: spec.Goal, TrialDuration: m.duration("trialDuration", spec.TrialDuration)}
	for _, share := range spec.Loads {
		l.Loads = append(l.Loads, pr.share(m.path("loads"), share))
	}
	if instead := pr.traffic.whyNotCounted(v1alpha1.MetricLatencyP50); instead != "" {
		pr.refuse(specPath().Child("procedure", "latency"), noValue, "latency is that of single frames: "+instead)
	}
	switch {
	case l.Goal != "":
		pr.checkGoal(m.path("goal"), l.Goal, goals)
	case len(goals) > 0:
		l.Goal = goals[0].Name
	}
	return l
}

// checkGoal refuses the name of a goal that the procedure doesn't have.
func (r *refusals) checkGoal(path *field.Path, name string, goals []plan.Goal) {
	var names []string
	for _, g := range goals {
		names = append(names, g.Name)
	}
	switch {
	case slices.Contains(names, name):
	case len(names) == 0:
		r.refuse(path, name, "only a search has goals: remove goal, or set procedure.type: Search")
	default:
		r.refuse(path, name, "the search has no goal of this name: use "+strings.Join(names, " or "))
	}
}

// reset is the Plan's reset of the device before each trial. Nil means that it isn't reset.
func (pr *procedureReader) reset(spec *v1alpha1.ResetSpec) *plan.Reset {
	if spec == nil {
		return nil
	}
	return &plan.Reset{Timeout: plan.Duration(pr.duration(specPath().Child("procedure", "reset", "timeout"),
		spec.Timeout))}
}

// eachDirection is the Plan's part for a ramp or search of one direction after another. Nil means that all directions
// vary together.
func (pr *procedureReader) eachDirection(spec v1alpha1.ProcedureSpec, ramp plan.Ramp) *plan.EachDirection {
	if spec.Directions != v1alpha1.DirectionsEach {
		return nil
	}
	path := specPath().Child("procedure", "directions")
	e := &plan.EachDirection{}
	for _, d := range directionsOf(pr.spec) {
		e.Directions = append(e.Directions, plan.Direction{From: string(d.From), To: string(d.To)}.Name())
	}
	if spec.OtherLoad != "" {
		e.OtherLoad = pr.share(specPath().Child("procedure", "otherLoad"), spec.OtherLoad)
	}
	n := len(e.Directions)
	if n < 2 {
		pr.refuse(path, spec.Directions, "there is only one direction, and no other to hold meanwhile: remove "+
			"directions, or add one to traffic.directions")
	}
	if steps := time.Duration(n) * ramp.RampDuration.Std(); ramp.StepDuration > 0 &&
		steps > maxSteps*ramp.StepDuration.Std() && ramp.RampDuration.Std() <= maxSteps*ramp.StepDuration.Std() {
		pr.refusef(specPath().Child("procedure", "ramp", "stepDuration"), ramp.StepDuration.Std().String(),
			"rampDuration %s in steps of %s for each of %d directions are %d steps, and %d is the most: make "+
				"stepDuration at least %s",
			ramp.RampDuration.Std(), ramp.StepDuration.Std(), n, steps/ramp.StepDuration.Std(), maxSteps,
			steps/maxSteps)
	}
	return e
}
