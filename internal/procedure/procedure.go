package procedure

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Procedure is one way to vary the load, with the figures of one Plan. Its methods are pure, and safe for concurrent
// use. history has one window for each step that was carried out, in order.
type Procedure interface {
	// Rates are the rates that steps' loads are shares of.
	Rates() Rates
	// Next is the step after the windows measured so far. Steps of all kinds may follow each other. Traffic of a Hold
	// is stopped and drained before a Trial, and started anew after it.
	Next(history []report.Window) Step
	// Bound is the most that the procedure may take, whatever it finds.
	Bound() Bound
	// Usual is how long the procedure takes if nothing surprises it. It counts every step once, without what a search
	// adds.
	Usual() time.Duration
	// Remaining is how much longer the procedure will probably take.
	Remaining(history []report.Window) time.Duration
	// Conclude returns what the windows measured so far show. Of a whole run it is the answer.
	Conclude(history []report.Window) Conclusion
	// Describe says what the procedure does, for people.
	Describe() Description
}

// Kind is how generators carry out a step.
type Kind string

// The kinds of step.
const (
	// Hold changes the load of running traffic without a gap, lets it settle, and judges a stretch of it.
	//
	//	load ───┐ settle ├──── judge ────┤
	//	        └────────────────────────┘ and on with the next step's load
	Hold Kind = "Hold"
	// Trial starts traffic that ends by itself, waits until the counters stand still, and judges all of the traffic. No
	// frame is under way at either edge.
	//
	//	read ├── judge: frames leave ──┤ drain │ read      nothing leaves between two trials
	Trial Kind = "Trial"
	// Burst sends an exact number of frames in each direction, as fast as the step's load lets them, waits until the
	// counters stand still, and judges all of the frames, as a Trial does.
	Burst Kind = "Burst"
	// Train sends groups of frames back to back in one direction, with a pause after each, and times their arrivals.
	// The other directions send nothing.
	Train Kind = "Train"
)

// Step is what the generators do next.
type Step struct {
	Kind  Kind
	Phase report.Phase
	// Load is the share of the procedure's full rate in each direction. In WarmUp it is the share of the warm-up's
	// rate.
	Load units.Ratio
	// Loads are the shares by direction, in the Plan's order. Nil means that each direction has Load.
	Loads []units.Ratio
	// Varied is the only direction that is judged, "west→east". The other directions are held meanwhile, and their loss
	// is reported. Empty means that all directions are judged.
	Varied string
	// SingleFrames makes the step send single frames instead of Load, which is 0 then. A thousand a second are sent in
	// each direction, or a hundredth of this share of the procedure's full rate where that is less.
	SingleFrames units.Ratio
	// StopAbove ends a Trial as soon as more than this share of all frames planned for it (rate × Judge) is surely lost
	// in a direction that is judged. Nil means never. The window of such a trial has report.Window.Decided.
	StopAbove *units.Ratio
	// Frames are how many frames a Burst has in each direction, in the Plan's order. 0 means that nothing is sent
	// there. Judge is then the longest that sending them may take. Nil means that the step is no Burst.
	Frames []int64
	// Trains are what a Train sends in the direction Varied.
	Trains Trains
	// Rested stops the traffic before a Hold until nothing more comes back, and starts it anew, since the device held
	// frames of an earlier load, which came back with this step's.
	Rested bool
	// Settle is not judged. Judge becomes one window. A Trial has no Settle.
	Settle, Judge time.Duration
	// Reason says why this step comes next, where that is not obvious.
	Reason string
	// Number and Total count the planned steps, repeats included. 0 means that they are not counted.
	Number, Total int
	// Optional means that the procedure has an answer, and looks for a better one. A run that is interrupted before
	// this step has that answer.
	Optional bool
	// Narrows means that the step looks for a limit more closely. The windows before it show a figure or a bound
	// without it, where they show any (OutOfTime).
	Narrows bool
	// End ends the procedure. Nothing but Reason is set then.
	End bool
}

// Trains are so many groups of frames, with a pause after each. Frames 0 is as many as the ports' rings hold safely.
type Trains struct {
	Count, Frames int
	Pause         time.Duration
}

// LoadOf is the load of a direction, by its index in the Plan.
func (s Step) LoadOf(direction int) units.Ratio {
	if direction < len(s.Loads) {
		return s.Loads[direction]
	}
	return s.Load
}

// Intended is the intended rate of each direction in the step, as its share of the direction's full rate, or of its
// rate in WarmUp.
func (s Step) Intended(full, warmUp []units.PacketRate) []units.PacketRate {
	base := full
	if s.Phase == report.WarmUp {
		base = warmUp
	}
	rates := make([]units.PacketRate, len(base))
	for i := range rates {
		if s.SingleFrames > 0 {
			rates[i] = max(1, min(fewFrames, base[i].Mul(s.SingleFrames/100)))
			continue
		}
		if load := s.LoadOf(i); load > 0 { // else nothing is sent in this direction
			rates[i] = max(1, base[i].Mul(load))
		}
	}
	return rates
}

// fewFrames a second never meet in a device that takes less than a millisecond.
const fewFrames = 1000 * units.PacketPerSecond

// Rates are the rates that loads are shares of.
type Rates struct {
	// Full is what a load of one means.
	Full Rate
	// WarmUp is the rate of a warm-up. Its field is empty where there is no warm-up.
	WarmUp Rate
	// Directions are instead of both in some directions, by their names.
	Directions map[string]units.Rate
}

// Of are the rates of one direction.
func (r Rates) Of(direction string) Rates {
	own, found := r.Directions[direction]
	if !found {
		return r
	}
	r.Full = Rate{Field: r.Full.Field, Rate: own}
	if r.WarmUp.Field != "" {
		r.WarmUp.Rate = own
	}
	return r
}

// Rate is a rate of the procedure, and the field of spec.procedure that it comes from.
type Rate struct {
	Field string // "ramp.targetRate"
	units.Rate
}

// Bound is the most that a procedure may take.
type Bound struct {
	// Steps is the largest number of steps, and Time what all of them take together, without what passes between two
	// steps.
	Steps int
	Time  time.Duration
	// Trials is how many of the steps may be Trials or Bursts, and Trial the longest single one. The other steps are
	// Holds, and traffic flows through Holds that follow each other.
	Trials int
	Trial  time.Duration
	// Rests is how many of the Holds may be Rested.
	Rests int
	// LongestHold is the longest that Holds go on between trials, where most steps are trials. 0 means that they may go
	// on through the whole procedure.
	LongestHold time.Duration
	// BeforeTrial is the time that may pass before each trial, such as the device's reset. 0 means none.
	BeforeTrial time.Duration
}

// What may pass between two steps, which is a change of load, or a drain and the next start.
const (
	betweenHeld   = 200 * time.Millisecond
	betweenTrials = 5 * time.Second
)

// startMargin is what Holds may take longer than their steps, for starting, stopping and reading late.
const startMargin = 15 * time.Second

// Whole is the most that all steps take, with what passes between them.
func (b Bound) Whole() time.Duration {
	if b.OnlyTrials() {
		return b.Time + time.Duration(b.Steps)*(betweenTrials+b.BeforeTrial)
	}
	return b.Time + time.Duration(b.Trials)*(betweenTrials+b.BeforeTrial) + time.Duration(b.Rests)*betweenTrials +
		time.Duration(b.Steps-b.Trials)*betweenHeld + startMargin
}

// OnlyTrials reports whether no step is a Hold. All that is sent ends by itself with its trial then.
func (b Bound) OnlyTrials() bool { return b.Trials > 0 && b.Trials == b.Steps }

// EndsByTrial reports whether all that is sent ends by itself with its trial, or with the few loads that are held after
// trials.
func (b Bound) EndsByTrial() bool { return b.OnlyTrials() || b.LongestHold > 0 }

// Unattended is how long a generator sends on at most if its driver dies just after a start.
func (b Bound) Unattended() time.Duration {
	if b.EndsByTrial() {
		return max(b.Trial, b.LongestHold)
	}
	return b.Whole()
}

// Description is what a procedure does, for people.
type Description struct {
	// Sentence is for a list of facts: "ramp to 100% per direction in 10m, a step each 2s".
	Sentence string
	// Parts are what Usual adds up, and OnTop is what may be added to that, as parts of a sentence: "warm-up, ramp,
	// confirmation and hold", "refinement".
	Parts, OnTop string
	// Trial is how long the trials last that decide. 0 means that the windows say it.
	Trial time.Duration
}

// NoWindow is the index of no window.
const NoWindow = -1

// SplitHistory returns the windows before the first one of a phase, which are a procedure's own, and those from it on,
// which were measured after the procedure had its answer.
func SplitHistory(history []report.Window, phase report.Phase) (main, following []report.Window) {
	i := slices.IndexFunc(history, func(w report.Window) bool { return w.Phase == phase })
	if i < 0 {
		return history, nil
	}
	return history[:i], history[i:]
}

// WhyUnproven is why no load is known to be clean.
const WhyUnproven = "the edges of windows that looked clean may hide more loss than the limit allows, and such a " +
	"load lost frames when it was held"

// WayOutOfUnproven is the way out where no load is known to be clean, and MaxLossRatio the field that it sets.
const (
	WayOutOfUnproven = ": set %s to the loss that you would accept"
	MaxLossRatio     = "procedure.maxLossRatio"
)

// Conclusion is which windows are the answer, by their indexes in a history, and how far that may be claimed. Package
// analysis makes the Report's Answer of it, which has the windows' numbers and figures.
type Conclusion struct {
	Reason report.Reason
	// Detail is what the procedure itself knows of why the answer is what it is. Empty means that the windows say it.
	Detail report.Detail
	// Claim is how far the answer goes. Its ShownFor is 0 where the limit was shown to hold for longer than its window,
	// or where the answer is no limit.
	report.Claim

	NonMonotonic bool // above the first saturation some load was clean again
	// Unattributed means that frames were lost just above the answer, but that it is not known to be the limit of any
	// direction by itself. The answer is a lower bound.
	Unattributed bool
	// Unproven means that there is no answer, as no load is known to be clean (WhyUnproven).
	Unproven bool
	// NotHeld is why less was judged than was asked for, with the way out, as windows say nothing about the device and
	// were not repeated. Empty means that all of it was judged.
	NotHeld string
	// Window and Lossy are indexes into the history, of the answer and of the lowest load above it that lost frames.
	// NoWindow means that there is no such window.
	Window, Lossy int
	// Outvoted are the held loads, the answer's and lower ones, lowest first, at which some window lost frames that
	// others outvoted, or that could not be judged again.
	Outvoted []report.Outvoted
	// Whole is several windows combined, where they are the answer together. Nil means that Window is the answer.
	Whole *report.Window
	// Windows are the indexes of the windows that Whole combines, in order. Nil means that Window is the answer.
	Windows []int
	// Own are the figures that the procedure finds of each direction beside its rates, in the Plan's order. Nil means
	// that it finds none.
	Own [][]report.OwnFigure
	// Estimates are the loads of directions that the procedure estimates, in the Plan's order. Nil means that it
	// estimates none.
	Estimates []*report.Estimate
	// Sections are the procedure's own tables and plots of its answer.
	Sections []report.Section
	// Loads are the trials whose figures are claimed of loads beside the answer's. Nil means that there are none.
	Loads []LoadTrial
	// Directions is what the windows show of each direction by itself, in the Plan's order. Nil means that the
	// procedure concludes for all directions together, and that the conclusion holds for each.
	Directions []DirectionConclusion
	// Goals is what the windows show of each goal, where the procedure has several. The conclusion itself is that of
	// the first goal. Nil means that there are none.
	Goals []GoalConclusion
	// Sentence is the answer in words, with its figures. Empty means that the windows say it.
	Sentence string
	// Finished means that the procedure had come to its end, and Ending says how.
	Finished bool
	Ending   string
}

// Unanswered is a conclusion without an answer.
func Unanswered() Conclusion {
	return Conclusion{Reason: report.NotMeasured, Window: NoWindow, Lossy: NoWindow}
}

// LoadTrial is the trial that the figures of one load are of.
type LoadTrial struct {
	// LatencyLoad is the load as a share of the answer's, where the trial is of latency. Nil means that its rates and
	// its loss are claimed.
	LatencyLoad *units.Ratio
	// Window is an index into the history. NoWindow means that no trial counted, or that none was made yet. Void is the
	// last trial then that did not count, and NoWindow where none was made.
	Window, Void int
}

// GoalConclusion is what windows show of one of a procedure's goals.
type GoalConclusion struct {
	Conclusion

	Name string
}

// DirectionConclusion is what the windows show of one direction.
type DirectionConclusion struct {
	// Reason is LossAboveLimit where the direction lost frames itself, and OtherDirection where another direction set
	// the load of all. Otherwise it is the whole's, or a procedure's own reason for this direction.
	Reason               report.Reason
	Saturated, Confirmed bool
	// Window and Lossy are indexes into the history, of the direction's answer and of the lowest load above it, of
	// those that are believed, at which the direction itself lost frames. NoWindow means that there is no such window.
	Window, Lossy int
	// Resolution is how far the direction's answer may lie below the lossy load, as a share of that.
	Resolution units.Ratio
}
