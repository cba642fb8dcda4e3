package trains

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	// invalidSetUps is how many times in a row a set-up is repeated because too few of its trains came back whole.
	invalidSetUps = 2
	// usualSetUp and longestSetUp are how long the trains of a set-up take, beside their pauses, with what passes
	// before.
	usualSetUp   = 500 * time.Millisecond
	longestSetUp = 20 * time.Second
)

// Metrics are those of the figures of a direction.
var Metrics = []report.Metric{procedure.TimePerFrame}

// Trains is the procedure of a Plan.
type Trains struct{ plan plan.Trains }

var _ procedure.Procedure = Trains{}

// New are the trains that the Plan describes.
func New(p plan.Procedure) Trains { return Trains{*cmp.Or(p.Trains, &plan.Trains{})} }

// Rates are of a frame a second, as trains have no rate.
func (Trains) Rates() procedure.Rates {
	return procedure.Rates{Full: procedure.Rate{Field: "trains.frames",
		Rate: units.Rate{Kind: units.Packets, Micros: 1_000_000}}}
}

// steps is how many set-ups there are in all directions together.
func (t Trains) steps() int { return max(1, t.plan.SetUps) * len(t.plan.Directions) }

// course is the state that replaying the windows leads to.
type course struct {
	procedure.Course

	// counted are the indexes of the windows that count, by direction, and void is how many set-ups none counts of.
	counted [][]int
	void    int
	done    int // set-ups, counted or void
	// fault is why the latest window that doesn't count does not.
	fault string
}

// replay takes the directions in turns, so that what drifts with time touches each alike.
func (t Trains) replay(history []report.Window) course {
	c := course{counted: make([][]int, len(t.plan.Directions))}
	c.Replay(procedure.WarmUp{}, history, func(i int) {
		if w := history[i]; !w.Counts() {
			c.fault = w.Reason
			if c.Repeat(w, invalidSetUps) {
				return
			}
			c.void++
		} else {
			direction := c.done % len(t.plan.Directions)
			c.counted[direction] = append(c.counted[direction], i)
		}
		c.GoOn()
		if c.done++; c.done >= t.steps() {
			c.End(fmt.Sprintf("all %d set-ups were measured", t.steps()))
		}
	})
	if len(t.plan.Directions) == 0 {
		c.End("the plan has no direction to send trains in")
	}
	return c
}

// Next is the next set-up, of the directions in turns.
func (t Trains) Next(history []report.Window) procedure.Step {
	c := t.replay(history)
	return c.Next(procedure.WarmUp{}, history, func() procedure.Step {
		return procedure.Step{Kind: procedure.Train, Phase: report.InTrains,
			Varied: t.plan.Directions[c.done%len(t.plan.Directions)], Judge: t.setUp(longestSetUp), Reason: c.Reason,
			Number: c.done + 1, Total: t.steps(),
			Trains: procedure.Trains{Count: t.plan.Count, Frames: t.plan.Frames, Pause: t.plan.Pause.Std()}}
	})
}

// setUp is how long a set-up takes, whose frames take so long.
func (t Trains) setUp(frames time.Duration) time.Duration {
	return time.Duration(t.plan.Count)*t.plan.Pause.Std() + frames
}

// Bound is all set-ups with their repeats.
func (t Trains) Bound() procedure.Bound {
	n := t.steps() * (1 + invalidSetUps)
	longest := t.setUp(longestSetUp)
	return procedure.Bound{Steps: n, Time: time.Duration(n) * longest, Trials: n, Trial: longest}
}

// Usual is all set-ups.
func (t Trains) Usual() time.Duration { return t.Remaining(nil) }

// Remaining is what is left of the set-ups.
func (t Trains) Remaining(history []report.Window) time.Duration {
	c := t.replay(history)
	return c.Remaining(procedure.WarmUp{}, history, time.Duration(t.steps()-c.done)*t.setUp(usualSetUp))
}

// Describe says which trains are sent.
func (t Trains) Describe() procedure.Description {
	if t.plan.Count == 0 {
		return procedure.Description{}
	}
	frames := "as many frames as the ports' rings hold safely"
	if t.plan.Frames > 0 {
		frames = fmt.Sprintf("%d frames", t.plan.Frames)
	}
	return procedure.Description{Parts: "set-ups", OnTop: "what set-ups without enough whole trains repeat",
		Sentence: fmt.Sprintf("trains: %d set-ups in each direction (%s), of %d trains of %s, %s apart", t.plan.SetUps,
			strings.Join(t.plan.Directions, ", "), t.plan.Count, frames, t.plan.Pause.Std())}
}
