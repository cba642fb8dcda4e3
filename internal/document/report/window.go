package report

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Quality is what a window is worth.
type Quality string

// These are the qualities, from best to worst. docs/measurement.md has the rules.
const (
	Good    Quality = "Good"
	Short   Quality = "Short"   // offered more than 1 % under intended, and no loss, so it is a lower bound only
	Lossy   Quality = "Lossy"   // loss above the limit, surely the DUT's
	Invalid Quality = "Invalid" // says nothing about the DUT
	// Unjudged is a direction's quality while the load of another one varied, or where another one ended the trial
	// early. The Report has its loss, but neither the window's quality nor a claim depends on it.
	Unjudged Quality = "Unjudged"
)

// Window is one stretch of constant load, judged.
type Window struct {
	Number int   `json:"number"` // from 1
	Phase  Phase `json:"phase"`
	// Load is the step's height as a share of the target rate, of the direction that varied, or of the highest
	// where each had its own.
	Load units.Ratio `json:"load"`
	// Varied is the direction whose load varied, such as "west→east", while the others were held and not judged. It
	// is empty where all directions were judged, except, in a trial that was Decided, those that didn't decide it.
	Varied string `json:"varied,omitempty"`
	// Start is the time since Report.Started at which the judged part begins (after settling), and Duration its
	// length.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Took is how long a trial took from its first frame until its last one had come back or was given up. It is 0
	// for other windows.
	Took plan.Duration `json:"took,omitempty"`
	// Reset is how the device's tables were emptied before the trial. It is nil where the test doesn't ask for
	// that.
	Reset *Reset `json:"reset,omitempty"`
	// Decided is set for a trial that was ended early, as it had lost too much already. Duration is how long frames
	// were sent, and all figures are of that time. It is nil where the trial went to its end.
	Decided    *Decided    `json:"decided,omitempty"`
	Quality    Quality     `json:"quality"` // the worst of the directions that are judged
	Reason     string      `json:"reason"`
	Directions []Direction `json:"directions"`
	// Generators is each generator's share of it, where there are several.
	Generators []GeneratorShare `json:"generators,omitempty"`
	// GeneratorCPUPercent is the busiest generator's, or -1 where unknown.
	GeneratorCPUPercent float64 `json:"generatorCPUPercent"`
	// Bursts are, for each sending port, the worst moment in which it sent faster than asked. They are empty where
	// all ports sent evenly, as far as readings show.
	Bursts []Burst `json:"bursts,omitempty"`
	// Unwatched is the longest time in which nothing was read of how evenly generators sent, as one of them or the
	// runner was held up. It is 0 where they were watched throughout.
	Unwatched plan.Duration `json:"unwatched,omitempty"`
	// ReadLate is for how long counters were awaited that came too late for the window to count, as generator or runner
	// was held up. It is 0 where they came in time, or the window counts all the same.
	ReadLate plan.Duration `json:"readLate,omitempty"`
	// Observed is what the series of the Plan's observers were meanwhile.
	Observed []Observed `json:"observed,omitempty"`
	// Disturbance is what kept threads from running that the window needed. It is nil where nothing that matters
	// did, or it can't be read.
	Disturbance *Disturbance `json:"disturbance,omitempty"`
	// Evidence is what else is needed to judge the window by another goal. It is nil where it was not kept.
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Reset is how the device's tables were emptied before a trial.
type Reset struct {
	Action   string        `json:"action"` // what ran, or what was removed
	Duration plan.Duration `json:"duration"`
	// Forwards is how long after that marked frames were back in all directions. Learning frames went ahead of
	// them.
	Forwards plan.Duration `json:"forwards"`
}

// Decided is when and why a trial was ended early.
type Decided struct {
	// Duration is for how long frames had been sent when it was ended, Planned for how long they were to be sent.
	Duration plan.Duration `json:"duration"`
	Planned  plan.Duration `json:"planned"`
	// LossRatio is a share of the frames planned for the whole trial. More than that was lost already, in at least
	// one direction.
	LossRatio units.Ratio `json:"lossRatio"`
}

// Counts says that a window's figures may be used, because it has directions, and none is Invalid. Loss, however
// high, counts.
func (w Window) Counts() bool {
	counted := func(q Quality) bool { return q == Good || q == Short || q == Lossy }
	return counted(w.Quality) && len(w.Directions) > 0 && !slices.ContainsFunc(w.Directions,
		func(d Direction) bool { return !counted(d.Quality) && d.Quality != Unjudged })
}

// HasEdges says that frames were under way while counters were read at the window's edges, as where a load is held.
// A drained trial has no edges.
func (w Window) HasEdges() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.EdgeFrames > 0 })
}

// SaysNothing says that the window shows nothing about the device. One that is Invalid in one direction, but Lossy
// in another, is above the device's limit.
func (w Window) SaysNothing() bool {
	return w.Quality == Invalid && !slices.ContainsFunc(w.Directions,
		func(d Direction) bool { return d.Quality == Lossy })
}

// LostToBursts says that the window lost frames, but says nothing about the device, as a generator sent in bursts,
// or may have.
func (w Window) LostToBursts() bool {
	if len(w.Bursts) == 0 && w.Unwatched == 0 {
		return false
	}
	return slices.ContainsFunc(w.Directions, func(d Direction) bool {
		return d.Quality == Invalid &&
			d.LossRatioMin > 0
	})
}

// LostToMachine says that the window lost frames, but says nothing about the device, whose limit would have let
// them through, as the machine that plays the device lost them.
func (w Window) LostToMachine() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.MachineLost > 0 })
}

// LostToDisturbance says that the window lost frames, but says nothing about the device, as threads that carry
// frames waited for processors.
func (w Window) LostToDisturbance() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool {
		return d.Quality == Invalid && d.DisturbedFrames > 0 &&
			d.Sent.Packets-d.Returned.Packets-d.GeneratorDrops() > d.EdgeFrames
	})
}

// LostToLateCounters says that the window says nothing about the device, as its counters came too late.
func (w Window) LostToLateCounters() bool { return w.Quality == Invalid && w.ReadLate > 0 }

// HeldUp says that less was offered than asked for in some direction, as others had the processors of its senders.
func (w Window) HeldUp() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.HeldUp })
}

// Burst is a moment in which a generator's port sent clearly more than was due, because it had stood still and
// caught up, or sends unevenly. A device may lose such frames at any mean load.
type Burst struct {
	Generator string `json:"generator"`
	Link      string `json:"link"`
	// Start is the time since the window's start, Duration how long it took.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Sent is how many frames left in that time, Due how many should have.
	Sent int64 `json:"sent"`
	Due  int64 `json:"due"`
	// Paused is for how long before that it had sent less than half of what was due.
	Paused plan.Duration `json:"paused,omitempty"`
	// Count is how many such moments the window had.
	Count int `json:"count"`
}
