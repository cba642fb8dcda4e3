package compile

import (
	"cmp"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units"
)

// This file helps each procedure's member with the defaults that depend on another field. The schema has none of them,
// since it cannot tell a default from what a user wrote, and a default must never refuse what a user wrote.

// usualWarmupRate is a ramp's default warm-up. It is lowered to a targetRate that is less.
const usualWarmupRate v1alpha1.Rate = "1kpps"

// spanOf is a duration's length, and 0 where the duration is missing or can't be read. What can't be read is refused
// where the member is compiled.
func spanOf(d v1alpha1.Duration) time.Duration {
	span, err := d.Std()
	if err != nil {
		return 0
	}
	return span
}

// unlessGiven is the field's value if the spec has one, and else the default.
func unlessGiven(written v1alpha1.Duration, byDefault time.Duration) v1alpha1.Duration {
	return cmp.Or(written, v1alpha1.Duration(byDefault.String()))
}

// rampWithDefaults keeps a step that is judged for 100 ms or longer in each step, and a step or more in the ramp.
func rampWithDefaults(r v1alpha1.RampSpec) v1alpha1.RampSpec {
	r.WarmupRate = cmp.Or(r.WarmupRate, usualWarmupRate)
	step := 2 * time.Second
	if settle := spanOf(r.SettleDuration); settle+100*time.Millisecond > step {
		step = 4 * settle
	}
	if ramp := spanOf(r.RampDuration); ramp > 0 {
		step = min(stepsOf(ramp, step), ramp)
	}
	r.StepDuration = unlessGiven(r.StepDuration, step)
	settle := 500 * time.Millisecond
	if step := spanOf(r.StepDuration); settle+100*time.Millisecond > step {
		settle = step / 4
	}
	r.SettleDuration = unlessGiven(r.SettleDuration, settle)
	r.RampDuration = unlessGiven(r.RampDuration, max(10*time.Minute, spanOf(r.StepDuration)))
	return r
}

// stepsOf is the usual length of a step, or what parts the whole into maxSteps steps or fewer.
func stepsOf(whole, usual time.Duration) time.Duration {
	if whole <= maxSteps*usual {
		return usual
	}
	return (whole / maxSteps).Truncate(time.Second) + time.Second
}

// tenthOf is a curve's default lowest load, and its default step: 10 % of the line rate, or a tenth of a highest load
// that is no more, or that has another unit.
func tenthOf(highest v1alpha1.Rate) v1alpha1.Rate {
	const tenPercent = 10_000_000
	rate, err := units.ParseRate(string(highest))
	if err != nil || rate.Kind == units.LinePercent && rate.Micros > tenPercent {
		return "10%"
	}
	return v1alpha1.Rate(units.Rate{Kind: rate.Kind, Micros: max(1, rate.Micros/10)}.String())
}
