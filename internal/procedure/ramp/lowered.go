package ramp

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// The first step of the staircase may be far above what the device carries, such as 5 kpps where it carries 200
// packets/s. Higher steps show nothing then, and a slow machine can't even send them. The load is lowered to twice what
// came back of the first step. Where that could not be judged, the load is lowered until a window can be judged, and
// is raised again then.
//
//	first step  ✗ lossy ┐               ✗ unclear ┐                  ┌ the climb goes on
//	                    │                         └ ✗ ┐        ┌─ ✓ ─┘
//	twice what came     └ ✗ ─ ✗ the search            └─ ✓ ─ ✓ ┘
type lowered struct {
	load    units.Ratio
	judge   time.Duration // 0: as long as a step's window
	windows int           // all that were lowered
	rising  bool
}

// lowerFirstStep goes on below the first step, once in a run, where the device lost most of it, or the machine was too
// busy for it. It reports whether it does.
func (c *course) lowerFirstStep(p point) bool {
	switch {
	case c.level > 1 || c.lowered.windows > 0:
		return false
	case p.lossy && p.carriedFrames() <= p.asked/loweredBy:
		c.lowerToCarried(p)
	case p.onSlowMachine():
		c.lower(p)
	default:
		return false
	}
	return true
}

// lower goes on at a part of the load of a window that could not be judged.
func (c *course) lower(p point) {
	c.goToLowered(max(1, p.asked/loweredBy), 0)
	c.reason = fmt.Sprintf("%s of the target can't be judged; trying %s", percent(p.asked), percent(c.lowered.load))
}

// lowerToCarried goes on at twice what came back of the first step, which lost most of its frames. The window is long
// enough then to show what comes back to a frame in a thousand, if it may be.
func (c *course) lowerToCarried(p point) {
	judge, carried := judged(c.rules.Ramp), max(p.carriedFrames(), 1)
	for judge < c.search.longestShort() && !p.hasFrames(enoughFrames, carried, judge, c.rules.MaxLossRatio) {
		judge *= 2
	}
	c.goToLowered(2*carried, judge)
	c.reason = fmt.Sprintf("window %d lost most frames at the first step; trying twice what came back, %s of the target",
		p.window.Number, percent(c.lowered.load))
}

func (c *course) goToLowered(load units.Ratio, judge time.Duration) {
	c.stage, c.lowered.load, c.lowered.judge = lowering, load, judge
}

// observeLowered takes in a window below the first step.
func (c *course) observeLowered(p point) {
	if c.lowered.windows++; c.lowered.windows >= longLowered {
		c.lowered.judge = 0
	}
	if p.unclear() && c.repeatsLeft > 0 {
		if c.reason = c.repeats.ofInvalid(*p.window); c.reason != "" {
			c.repeatsLeft--
			return
		}
	}
	c.repeats.count = 0
	b := &c.search.bracket
	b.points = append(b.points, p)
	saturated, first := b.countRuns(p), Level(1, c.steps)
	switch {
	case saturated:
		c.beginSearch(b.saturationSentence())
	case c.lowered.windows >= mostLowered, p.unclear() && c.lowered.rising:
		c.beginSearch(fmt.Sprintf("%s of the target can't be judged", percent(p.asked)))
	case p.unclear():
		c.lower(p)
	case p.lossy:
		c.reason = fmt.Sprintf("window %d lost frames; repeated until there are %d such windows, or none", p.window.Number,
			lossyRun)
	case 2*p.asked >= first:
		c.stage, c.reason = climbing, "the climb goes on with its first step"
	default:
		c.lowered.rising, c.lowered.judge, c.lowered.load = true, 0, 2*p.asked
		c.reason = fmt.Sprintf("%s of the target is carried; trying %s", percent(p.asked), percent(c.lowered.load))
	}
}
