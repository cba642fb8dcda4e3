package compile

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// maxSteps bounds the staircase: each step is a window in the Report.
const maxSteps = 5000

// withRamp is the spec with a ramp that says all, where the procedure is one and says nothing. The schema can't set that default: it would
// stand in every procedure, of whatever type.
func withRamp(spec *v1alpha1.LoadTestSpec) *v1alpha1.LoadTestSpec {
	if spec.Procedure.Type != v1alpha1.ProcedureRamp || spec.Procedure.Ramp != (v1alpha1.RampSpec{}) {
		return spec
	}
	whole := *spec
	whole.Procedure.Ramp = v1alpha1.RampSpec{
		WarmupRate: "1kpps", WarmupDuration: "30s", TargetRate: "100%", RampDuration: "10m", StepDuration: "2s", Settle: "500ms",
		RefineTo: "0.5%", ConfirmDuration: "10s", HoldDuration: "30s",
	}
	return &whole
}

func (c *compiler) procedure() plan.Procedure {
	spec, path := c.spec.Procedure, specPath().Child("procedure")
	r, ramp := spec.Ramp, path.Child("ramp")
	p := plan.Procedure{
		Type: string(spec.Type),
		Ramp: plan.Ramp{
			WarmupRate:       c.rate(ramp.Child("warmupRate"), r.WarmupRate),
			WarmupDuration:   plan.Duration(c.duration(ramp.Child("warmupDuration"), r.WarmupDuration)),
			TargetRate:       c.rate(ramp.Child("targetRate"), r.TargetRate),
			RampDuration:     plan.Duration(c.duration(ramp.Child("rampDuration"), r.RampDuration)),
			StepDuration:     plan.Duration(c.duration(ramp.Child("stepDuration"), r.StepDuration)),
			Settle:           plan.Duration(c.duration(ramp.Child("settle"), r.Settle)),
			RefineTo:         c.ratio(ramp.Child("refineTo"), string(r.RefineTo)),
			ConfirmDuration:  plan.Duration(c.duration(ramp.Child("confirmDuration"), r.ConfirmDuration)),
			HoldDuration:     plan.Duration(c.duration(ramp.Child("holdDuration"), r.HoldDuration)),
			StopAtSaturation: r.StopAtSaturation,
		},
		MaxLossRatio: c.ratio(path.Child("maxLossRatio"), string(spec.MaxLossRatio)),
	}
	c.checkSteps(p.Ramp)
	return p
}

func (c *compiler) checkSteps(r plan.Ramp) {
	ramp, step := r.RampDuration.Std(), r.StepDuration.Std()
	if step <= 0 || ramp <= maxSteps*step {
		return
	}
	c.refuse(specPath().Child("procedure", "ramp", "stepDuration"), c.spec.Procedure.Ramp.StepDuration, fmt.Sprintf(
		"rampDuration %s in steps of %s are %d steps, and %d is the most: make stepDuration at least %s", ramp, step, ramp/step, maxSteps, ramp/maxSteps))
}

// checkTime refuses a deadline that ends every run before its end.
func (c *compiler) checkTime(p *plan.Plan) {
	r, deadline := p.Procedure.Ramp, p.ActiveDeadline.Std()
	least := r.WarmupDuration.Std() + r.RampDuration.Std() + r.ConfirmDuration.Std() + r.HoldDuration.Std()
	if deadline > 0 && deadline <= least {
		c.refuse(specPath().Child("activeDeadline"), c.spec.ActiveDeadline, fmt.Sprintf(
			"warm-up, ramp, confirmation and hold alone take %s, and refinement comes on top: set activeDeadline to %s or more, or shorten procedure.ramp", least, roomy(least)))
	}
}

// roomy is a round deadline with room for refinement.
func roomy(d time.Duration) time.Duration { return (d + d/4 + time.Minute).Round(time.Minute) }

// checkLoad refuses rates that the line can't carry, and a warm-up above what is to be measured, in any direction.
func (c *compiler) checkLoad(p *plan.Plan) {
	for _, d := range p.Directions {
		if len(c.errs) > 0 {
			return // the same rates fail in every direction
		}
		c.checkRates(p.Procedure.Ramp, d)
	}
}

func (c *compiler) checkRates(r plan.Ramp, d plan.Direction) {
	ramp, spec := specPath().Child("procedure", "ramp"), c.spec.Procedure.Ramp
	slower, line := c.slower(d)
	target, over := overLine(r.TargetRate, d.Mix, line)
	if over != "" {
		c.refuse(ramp.Child("targetRate"), spec.TargetRate, over+fmt.Sprintf(" (link %s); ask for 100%% or less", slower))
		return
	}
	if r.WarmupDuration == 0 {
		return
	}
	warmup, over := overLine(r.WarmupRate, d.Mix, line)
	if over != "" {
		c.refuse(ramp.Child("warmupRate"), spec.WarmupRate, over+fmt.Sprintf(" (link %s); a warm-up needs little, such as 1kpps", slower))
		return
	}
	if target > 0 && warmup > target {
		c.refuse(ramp.Child("warmupRate"), spec.WarmupRate, fmt.Sprintf(
			"the warm-up (%s) is above targetRate (%s): it comes before the ramp, so ask for less", warmup, target))
	}
}

// overLine is a rate in packets, 0 where that needs a line rate that only the port knows, and what is wrong where it's more than the
// line carries.
func overLine(r units.Rate, mix units.Traffic, line units.BitRate) (units.PacketRate, string) {
	const full = 100_000_000
	if r.Kind == units.LinePercent && r.Micros > full {
		return 0, fmt.Sprintf("%s is more than the line carries", r)
	}
	if r.Kind == units.LinePercent && line == 0 {
		return 0, ""
	}
	rate, err := r.PacketRateOf(mix, line)
	if err != nil {
		return 0, err.Error()
	}
	if most := units.LinePacketRate(mix, line); line > 0 && rate > most {
		return 0, fmt.Sprintf("%s is more than the line carries: %s of these frames at %s", rate, most, line)
	}
	return rate, ""
}

// slower is the slower of a direction's links as far as their line rates are given: what it carries is 100 %.
func (c *compiler) slower(d plan.Direction) (string, units.BitRate) {
	from, to := c.link(v1alpha1.LinkName(d.From)).lineRate, c.link(v1alpha1.LinkName(d.To)).lineRate
	if to > 0 && (from == 0 || to < from) {
		return d.To, to
	}
	return d.From, from
}
