package softgen

import (
	"math"

	"github.com/linerate-dev/linerate/internal/units"
)

const (
	// overload is how far above line rate a start may be before it is refused. A start up to there is capped.
	overload = 1.0001
	// maxForcedOverload bounds even a forced start. Beyond it the time between packets is practically zero.
	maxForcedOverload = 1000
)

// multiplier is "mul", the form in which a client gives a profile's rate.
type multiplier struct {
	kind, op string
	value    float64
}

func readMultiplier(p *params) multiplier {
	mul := p.object("mul")
	m := multiplier{
		kind: mul.choice("type", "raw", "bps", "bpsl1", "pps", "percentage"), op: mul.choice("op", "abs", "add", "sub"),
		value: mul.real("value"),
	}
	switch {
	case m.value == 0:
		p.fail("multiplier can't be zero")
	case !(m.value > 0):
		p.fail("multiplier can't be negative")
	}
	return m
}

// factor is what every stream's base rate must be multiplied with to reach the multiplier. Latency streams'
// rates are fixed. current is the present factor, which adding or subtracting a percentage refers to. The
// factor of a profile of latency streams only is infinite, because there is no rate to scale.
func (m multiplier) factor(g graph, current float64, speed units.BitRate) (float64, error) {
	switch m.kind {
	case "pps":
		return reach(m.value, g.variable.pps, g.fixed.pps, "pps")
	case "bps":
		return reach(m.value, g.variable.layer2, g.fixed.layer2, "bps")
	case "bpsl1":
		return reach(m.value, g.variable.layer1, g.fixed.layer1, "bps")
	case "percentage":
		if m.op != "abs" {
			return current * m.value / 100, nil
		}
		return reach(m.value/100*float64(speed), g.variable.layer1, g.fixed.layer1, "bps")
	default:
		return m.value, nil
	}
}

// reach solves fixed + factor·variable = wanted.
func reach(wanted, variable, fixed float64, unit string) (float64, error) {
	if wanted < fixed {
		return 0, refused("current stream configuration enforces a minimum rate of '%s' %s", plain(fixed), unit)
	}
	if variable == 0 {
		return math.Inf(1), nil
	}
	return (wanted - fixed) / variable, nil
}

// effective is factor, kept within the line rate unless forced.
func (m multiplier) effective(g graph, current float64, speed units.BitRate, force bool) (float64, error) {
	factor, err := m.factor(g, current, speed)
	if err != nil {
		return 0, err
	}
	expected := g.fixed.layer1
	if g.variable.layer1 > 0 {
		expected += factor * g.variable.layer1
	}
	if !(expected > 0) || !(factor > 0) {
		return 0, refused("Effective bandwidth must be positive, got: %s", plain(expected))
	}
	line := float64(speed)
	if expected/line > maxForcedOverload || !force && expected/line > overload {
		return 0, refused("Expected L1 B/W: '%s Gbps' exceeds port line rate: '%s Gbps'", plain(expected/1e9),
			plain(line/1e9))
	}
	if force || g.variable.layer1 == 0 {
		return factor, nil
	}
	return min(factor, (line-g.fixed.layer1)/g.variable.layer1), nil
}
