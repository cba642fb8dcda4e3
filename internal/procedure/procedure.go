package procedure

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Procedure is one way to vary the load, with the figures of one Plan. Its methods are pure, and safe for concurrent use. History has one window for each step that was carried out, in order.
type Procedure interface {
	// Rates are the rates that steps' loads are shares of.
	Rates() Rates
	// Next is the step after the windows measured so far. Steps of both kinds may follow each other: traffic that was Held is stopped and drained before a Trial, and started anew after it.
	Next(history []report.Window) Step
	// Bound is the most that the procedure may take, whatever it finds.
	Bound() Bound
	// Usual is how long the procedure takes if nothing surprises it: every step once, without what a search adds.
	Usual() time.Duration
	// Remaining is how much longer the procedure will probably take.
	Remaining(history []report.Window) time.Duration
	// Conclude says what the windows measured so far show: of a whole run the answer, of a part of it what can be said of that.
	Conclude(history []report.Window) Conclusion
	// Describe says what the procedure does, for people.
	Describe() Description
}

// Kind is how generators carry out a step.
type Kind string

// The kinds of step.
const (
	// Held changes the load of running traffic without a gap, lets it settle, and judges a stretch of it.
	//
	//	load ───┐ settle ├──── judge ────┤
	//	        └────────────────────────┘ and on with the next step's load
	Held Kind = "Held"
	// Trial starts traffic that ends by itself, waits until the counters stand still, and judges all of it: no frame is on its way at either edge.
	//
	//	read ├── judge: frames leave ──┤ drain │ read      nothing leaves between two trials
	Trial Kind = "Trial"
	// Burst sends an exact number of frames in each direction, as fast as the step's load lets them, waits until the counters stand still, and judges all of it, as a Trial does.
	Burst Kind = "Burst"
)

// Step is what the generators do next.
type Step struct {
	Kind  Kind
	Phase report.Phase
	// Load is the share of the procedure's full rate, in each direction; in WarmUp of the warm-up's rate, which has a rate of its own.
	Load units.Ratio
	// Loads are the shares by direction, in the Plan's order; nil: each direction has Load.
	Loads []units.Ratio
	// Varied is the direction that alone is judged, "west→east": the others are held beside it, and their loss is reported. Empty: all are judged.
	Varied string
	// Few makes the step send single frames instead of Load, which is 0 then: a thousand a second in each direction, or a hundredth of this share of the procedure's full rate where that is less.
	Few units.Ratio
	// StopAbove ends a Trial as soon as more than this share of all frames planned for it (rate × Judge) is surely lost, in a direction that is judged; nil: never. The window of such a trial says so
	// (report.Window.Decided).
	StopAbove *units.Ratio
	// Frames are how many frames a Burst has in each direction, in the Plan's order; 0: nothing is sent there. Judge is then the longest that sending them may take. Nil: the step is no Burst.
	Frames []int64
	// Rested stops the traffic before a Held step until nothing more comes back, and starts it anew: the device held frames of an earlier load, which came back with this one's.
	Rested bool
	// Settle is not judged; Judge becomes one window. A Trial has no Settle.
	Settle, Judge time.Duration
	// Reason says why this step comes next, where that is not obvious.
	Reason string
	// Number and Of count the planned steps, repeats included; 0: they are not counted.
	Number, Of int
	// Optional: the procedure has an answer, and looks for a better one. A run that is interrupted before this step has that answer.
	Optional bool
	// Done ends the procedure; nothing but Reason is set then.
	Done bool
}

// LoadOf is the load of a direction, by its place in the Plan.
func (s Step) LoadOf(direction int) units.Ratio {
	if direction < len(s.Loads) {
		return s.Loads[direction]
	}
	return s.Load
}

// Intended is what each direction is asked to send in the step: its share of the direction's full rate, or of its rate in WarmUp.
func (s Step) Intended(full, warmUp []units.PacketRate) []units.PacketRate {
	of := full
	if s.Phase == report.WarmUp {
		of = warmUp
	}
	rates := make([]units.PacketRate, len(of))
	for i := range rates {
		if s.Few > 0 {
			rates[i] = max(1, min(fewFrames, of[i].Mul(s.Few/100)))
			continue
		}
		if load := s.LoadOf(i); load > 0 { // else nothing is sent in this direction
			rates[i] = max(1, of[i].Mul(load))
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
	// WarmUp is that of a warm-up; its field is empty where there is none.
	WarmUp Rate
}

// Rate is a rate of the procedure's, and the field of spec.procedure that it comes from.
type Rate struct {
	Field string // "ramp.targetRate"
	units.Rate
}

// Bound is the most that a procedure may take.
type Bound struct {
	// Steps is how many there are at most, Time what all of them take together, without what passes between two of them.
	Steps int
	Time  time.Duration
	// Trials is how many of the steps may be Trials or Bursts, and Trial the longest single one. The other steps are Held, and traffic flows through those that follow each other.
	Trials int
	Trial  time.Duration
	// Rests is how many of the Held steps may be Rested.
	Rests int
	// Held is the longest that Held traffic goes on between trials, where most steps are trials; 0: it may be the whole procedure.
	Held time.Duration
	// BeforeTrial is the time that may pass before each trial, such as the device's reset; 0: none.
	BeforeTrial time.Duration
}

// What may pass between two steps: a change of load, or a drain and the next start.
const (
	betweenHeld   = 200 * time.Millisecond
	betweenTrials = 5 * time.Second
)

// startMargin is what Held traffic may take longer than its steps, for starting, stopping and reading late.
const startMargin = 15 * time.Second

// Whole is the most that all steps take, with what passes between them.
func (b Bound) Whole() time.Duration {
	if b.OnlyTrials() {
		return b.Time + time.Duration(b.Steps)*(betweenTrials+b.BeforeTrial)
	}
	return b.Time + time.Duration(b.Trials)*(betweenTrials+b.BeforeTrial) + time.Duration(b.Rests)*betweenTrials + time.Duration(b.Steps-b.Trials)*betweenHeld + startMargin
}

// OnlyTrials says that no step is Held: whatever is sent ends by itself with its trial.
func (b Bound) OnlyTrials() bool { return b.Trials > 0 && b.Trials == b.Steps }

// EndsByTrial says that whatever is sent ends by itself with its trial, or with the few loads that are held after trials.
func (b Bound) EndsByTrial() bool { return b.OnlyTrials() || b.Held > 0 }

// Unattended is how long a generator sends on at most if its driver dies just after a start.
func (b Bound) Unattended() time.Duration {
	if b.EndsByTrial() {
		return max(b.Trial, b.Held)
	}
	return b.Whole()
}

// Description is what a procedure does, for people.
type Description struct {
	// Sentence is for a list of facts: "ramp to 100% per direction in 10m, a step each 2s".
	Sentence string
	// Parts are what Usual adds up, and OnTop is what may be added to that, for a sentence: "warm-up, ramp, confirmation and hold", "refinement".
	Parts, OnTop string
}

// None is the index of no window.
const None = -1

// WhyUnproven is why no load is known to be clean.
const WhyUnproven = "the edges of windows that looked clean may hide more loss than the limit allows, and such a load lost frames when it was held"

// WayOutOfUnproven is the way out where no load is known to be clean, and MaxLossRatio the field that it sets.
const (
	WayOutOfUnproven = ": set %s to the loss that you would accept"
	MaxLossRatio     = "procedure.maxLossRatio"
)

// Conclusion is what the windows show.
type Conclusion struct {
	Reason       report.Reason
	Saturated    bool // the window is at the device's limit, within Resolution
	Confirmed    bool
	NonMonotonic bool // above the first saturation some load was clean again
	// Unattributed says that frames were lost just above the answer, but that it is the limit of no direction by itself, as far as is known: the answer is a lower bound.
	Unattributed bool
	// Unproven says that there is no answer, as no load is known to be clean (WhyUnproven).
	Unproven bool
	// ShownFor is for how long the device was seen to do what the answer claims, where a limit could not be shown to hold for longer: a device that saves up unused rate, as a policer does in its bucket, may have spent it then; 0: it was shown, or the answer is no limit.
	ShownFor time.Duration
	// NotHeld is why less was judged than was asked for, with the way out, as windows say nothing about the device and were not repeated; empty: all of it was.
	NotHeld string
	// Window and Lossy index the history: the answer, and the lowest load above it that lost frames. None where there is no such window.
	Window, Lossy int
	// Resolution is how far the answer may lie below the lossy load, as a share of that.
	Resolution units.Ratio
	// Outvoted are the held loads, the answer's and lower ones, lowest first, at which some window lost frames that others outvoted, or that could not be
	// judged again.
	Outvoted []report.Outvoted
	// Whole is several windows combined, where they are the answer together; nil: Window is.
	Whole *report.Window
	// Together is what came back of all directions' answers at once, where they were found one after another; nil: they were not held at once, or were found together.
	Together *Together
	// Bursts is what bursts show of each direction, in the Plan's order, nil where they show nothing; nil: the procedure sends none.
	Bursts []*report.BackToBackFrames
	// CriticalLoads is what a soak's trials show of each direction, in the Plan's order; nil: the procedure is another.
	CriticalLoads []*report.CriticalLoad
	// Curve indexes the windows of a curve, one for each load, the highest first; nil: the procedure measures none.
	Curve []int
	// Directions is what the windows show of each direction by itself, in the Plan's order; nil: the procedure concludes for all directions together, and that holds for each.
	Directions []DirectionConclusion
	// Goals is what the windows show of each goal, where the procedure has several; the conclusion itself is that of the first. nil: it has none.
	Goals []GoalConclusion
	// Latency is the trials after the answer, by the loads that the Plan names; nil: it names none, or there is no answer to take shares of.
	Latency []LatencyAt
	// Sentence is the answer in words, with its figures; empty: the windows say it.
	Sentence string
	// Finished says that the procedure had come to its end, and Ending how.
	Finished bool
	Ending   string
}

// LatencyAt is the trial that latency at one load is measured in.
type LatencyAt struct {
	// At is the load as a share of the answer's, Load the same as a share of the full rate.
	At, Load units.Ratio
	// Window indexes the history; None: no trial counted, or none was made yet. Void is the last one then that did not count, None: none was made.
	Window, Void int
}

// GoalConclusion is what windows show of one of a search's goals.
type GoalConclusion struct {
	Conclusion

	Name string
	// Irregular is why the goal has no two bounds that are near enough to each other; empty: it has.
	Irregular string
	// Lower is the highest load that met the goal with none below it that didn't, Upper the lowest that didn't; nil: there is none.
	Lower, Upper *GoalBound
	// Throughput is the conditional throughput, a share of the full rate: the rate at which frames come back at Lower in the least of those trials that the goal asks for. 0: there is none.
	Throughput units.Ratio
	// InitialTrial is how long the shortest trials are, and WrongClass the chance that one load is put on the wrong side, as report.GoalResult has it; 0: there is none.
	InitialTrial time.Duration
	WrongClass   units.Ratio
}

// GoalBound is a load with the windows of all its trials, as indexes into the history, and how many of them were good. Open are those that were ended early for another goal and show nothing for
// this one.
type GoalBound struct {
	Load       units.Ratio
	Windows    []int
	Good, Open int
}

// DirectionConclusion is what the windows show of one direction.
type DirectionConclusion struct {
	// Reason is LossAboveLimit where the direction lost frames itself, OtherDirection where another direction set the load of all, else the whole's, or a procedure's own reason for this direction.
	Reason               report.Reason
	Saturated, Confirmed bool
	// Window and Lossy index the history: the direction's answer, and the lowest load above it, of those that are believed, at which the direction itself lost frames. None where there
	// is no such window.
	Window, Lossy int
	// Resolution is how far the direction's answer may lie below the lossy load, as a share of that.
	Resolution units.Ratio
}

// Together is what came back of all directions' answers at once.
type Together struct {
	// Window indexes the history: the window that says what came of it.
	Window int
	// Verdict is Good or Short where it lost nothing, Lossy where it repeatedly lost frames, Invalid where no window could be judged.
	Verdict report.Quality
}
