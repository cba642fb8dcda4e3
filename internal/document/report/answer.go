package report

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Reason is why the result is what it is.
type Reason string

// The reasons. Each is documented in docs/measurement.md.
const (
	LossAboveLimit Reason = "LossAboveLimit" // saturated: above this, frames are lost
	TargetReached  Reason = "TargetReached"  // not saturated: all that was asked for came back
	// not saturated: the generator could not send or receive more; a lower bound
	GeneratorLimited Reason = "GeneratorLimited"
	// not saturated: the machine lost frames, as others had its processors, or at a load below the limit of a
	// Reference; a lower bound
	MachineLimited Reason = "MachineLimited"
	// not saturated: another direction lost frames first, and set the load of all; a lower bound
	OtherDirection Reason = "OtherDirection"
	// saturated: above this only bursts pass, after a pause or a lower load, and the figure is what the device
	// carries right after an overload
	BurstsOnly Reason = "BurstsOnly"
	// about as much came back as the generators can do without a device (a suite's calibration), so the limit may
	// be theirs; a lower bound
	NearGenerators Reason = "NearGenerators"
	// not saturated: nothing above the figure could be judged, or the run ended, and the figure is a lower bound;
	// or no figure, as no load is known to be clean
	Inconclusive Reason = "Inconclusive"
	// no search: frames were lost at the load that was held, and the figures are what came back of it
	LoadHeld Reason = "LoadHeld"
	// no search: frames were lost at the highest load of a curve, and the figures are what came back of that
	CurveMeasured Reason = "CurveMeasured"
	// no search: frames were lost of all that the generators could offer, and the figures are what came back
	MaximumOffered Reason = "MaximumOffered"
	// no search for a rate: frames were lost at the bursts' rate, the rates are what came back of it, and the
	// bursts show how much the device buffers
	BurstsMeasured Reason = "BurstsMeasured"
	// no load: trains of frames show how long the device works on a frame, and there are no rates
	TrainsMeasured Reason = "TrainsMeasured"
	// no search: frames were lost, and trials show at which load a small share is lost on average, with an
	// interval; the figures are of that load, and lower bounds where no load is shown to be too much
	LoadEstimated Reason = "LoadEstimated"
	// no search: the path between the ends of sessions held them back, and the figures are what came through
	PathLimited Reason = "PathLimited"
	// no search: the device's end, a server that isn't linerate's, or the path to it held sessions back, and the server
	// doesn't tell which; the figures are what came through
	EndpointLimited Reason = "EndpointLimited"
	// what was asked for was not measured whole: a link was down, or windows say nothing; a figure has no claim
	NotHeld Reason = "NotHeld"
	// nothing came back for a while of a load that the device carried at another time; a figure has no claim
	DeviceLost  Reason = "DeviceLost"
	NoCleanLoad Reason = "NoCleanLoad" // even the lowest step lost frames, or was invalid
	NotMeasured Reason = "NotMeasured" // the run ended before any window could be judged
)

// Claim is how far an answer goes.
type Claim struct {
	Saturated bool `json:"saturated"` // the figure is the DUT's limit, within Resolution, and not a lower bound
	Confirmed bool `json:"confirmed"` // held for the confirmation's duration
	// Resolution is how far the answer may lie below the lowest load that lost frames, as a share of that.
	Resolution units.Ratio `json:"resolution,omitempty"`
	// ShownFor is for how long the device was seen to carry the answer, where nothing shows that it carries as much
	// for longer. A device that saves up unused rate (a policer with a bucket) may have spent it. It is 0 where the
	// answer is shown to hold for as long as one likes, or is no load that is carried.
	ShownFor plan.Duration `json:"shownFor,omitempty"`
}

// Answer is what a run found, with how far that may be claimed. Criteria, comparisons, status and formats read it.
type Answer struct {
	Measured bool `json:"measured"` // there is a figure
	Claim

	NonMonotonic bool   `json:"nonMonotonic,omitempty"`
	Reason       Reason `json:"reason"`
	// Message is the sentence of the reason and its cause, with the way out (internal/result/answer).
	Message string `json:"message"`
	// Cause has the values that Message contains.
	Cause Cause `json:"cause,omitzero"`
	// Evidence is what was seen that led to the reason, in the order of a reader's interest.
	Evidence []EvidenceRow `json:"evidence,omitempty"`
	// NotHeld is why what was asked for was not measured whole, with all that was seen. Then no criterion
	// passes, and the figures count in no comparison. It is empty where it was measured whole.
	NotHeld string `json:"notHeld,omitempty"`
	// Window is the number of the window that Directions and Total come from.
	Window int `json:"window,omitempty"`
	// Windows are the numbers of the windows that Directions and Total combine, where the answer is of several. It is
	// empty where they are of Window alone.
	Windows []int `json:"windows,omitempty"`
	// Lossy is the number of the window of the lowest load, which lost frames, where there is no figure. It is 0 where
	// there is one, or none of the windows shows it.
	Lossy int `json:"lossy,omitempty"`
	// Directions are the answer's figures, in the Plan's order, each with its Limit where a procedure searched for one.
	Directions []Direction `json:"directions,omitempty"`
	Total      *Sum        `json:"total,omitempty"`
	// NearGenerators are the directions, such as "west→east", whose figures come so close to what the generators
	// did without a device that the limit may be theirs. These figures are lower bounds, and the generators may
	// have lost the frames that were lost. A suite finds this out about its runs. A single Report can't.
	NearGenerators []string `json:"nearGenerators,omitempty"`
	// Generators is what each generator had of that window, where there are several.
	Generators []GeneratorShare `json:"generators,omitempty"`
	// MaxReceived is the highest rate that came back at any loss.
	MaxReceived *Sum `json:"maxReceived,omitempty"`
	// Outvoted are the loads, Window's or lower ones, at which some window lost frames and others outvoted it, or
	// could not be judged.
	Outvoted []Outvoted `json:"outvoted,omitempty"`
	// Observed is what the series of the Plan's observers were in the window, or in all windows together, that
	// Directions and Total are of.
	Observed []Observed `json:"observed,omitempty"`
	// Sections are what the procedure lays out of its answer, in tables and plots.
	Sections []Section `json:"sections,omitempty"`
	// Figures are those of loads beside the answer's, in the order of the Plan, such as a curve's or latencies'.
	Figures []Figure `json:"figures,omitempty"`
	// Goals is what was found of each goal, in the Plan's order, where the procedure has goals. The
	// Answer's own figures are the first one's.
	Goals []GoalAnswer `json:"goals,omitempty"`
	// SharedPorts are the physical ports that several ends of the links were on, as sentences. The ends shared a
	// port's bandwidth, and frames between them may never have been on a wire. The test allowed it
	// (spec.sharedPort).
	SharedPorts []string `json:"sharedPorts,omitempty"`
}

// GoalAnswer is the answer of one of a procedure's goals, with figures as the Report's has them.
type GoalAnswer struct {
	Name   string `json:"name"`
	Answer Answer `json:"answer"`
}

// ForGoal is the Report as if the named goal of its procedure were the only one. Its Answer is that goal's, and its
// Plan allows that goal's loss. Without a name it is the Report. It returns false where the Report has no goal of
// this name. The Report itself is unchanged.
func (r *Report) ForGoal(name string) (*Report, bool) {
	if name == "" {
		return r, true
	}
	i := slices.IndexFunc(r.Answer.Goals, func(g GoalAnswer) bool { return g.Name == name })
	if i < 0 {
		return r, false
	}
	view := *r
	view.Answer = r.Answer.Goals[i].Answer
	view.Answer.Goals = r.Answer.Goals[i : i+1]
	if r.Plan != nil {
		p := *r.Plan
		p.Procedure = p.Procedure.ForGoal(name)
		view.Plan = &p
	}
	return &view, true
}

// DirectionLimit is what a procedure found of one direction by itself. A direction's figure is a limit only where
// frames were lost in that very direction, however many another one lost.
type DirectionLimit struct {
	// Reason is LossAboveLimit where the direction lost frames itself, LoadEstimated where its load is
	// estimated, OtherDirection where another direction set the load of all, else why there is only a lower bound.
	Reason    Reason `json:"reason"`
	Saturated bool   `json:"saturated"` // the direction's figure is the device's limit, not a lower bound
	Confirmed bool   `json:"confirmed"` // held for the confirmation's duration
	// Window is the number of the window that the direction's figures are of. Lossy is that of the lowest load
	// above at which the direction itself lost frames, which bounds its figures from above, or 0 for none.
	Window int `json:"window"`
	Lossy  int `json:"lossy,omitempty"`
	// Resolution is how far the direction's limit may lie above its figure, as a share of what Lossy was offered.
	Resolution units.Ratio `json:"resolution,omitempty"`
	// LimitsAll says that the direction's loss ended the search, and so set the load of all directions.
	LimitsAll bool `json:"limitsAll,omitempty"`
}

// LimitedBy are the directions, "west→east", whose loss ended the search, and so set the load of all directions.
func (r Answer) LimitedBy() (names []string) {
	for _, d := range r.Directions {
		if d.Limit != nil && d.Limit.LimitsAll {
			names = append(names, d.Name())
		}
	}
	return names
}

// ResultWindows are the windows that the result's figures are of, which are each window that counts where the answer
// combines several, else the one that was chosen. They are empty where there is no figure, or the Report was thinned
// and lacks them.
func (r *Report) ResultWindows() []Window {
	if !HasFigure(r) {
		return nil
	}
	combined := map[int]bool{}
	for _, number := range r.Answer.Windows {
		combined[number] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Windows), func(w Window) bool {
		if len(combined) > 0 {
			return !combined[w.Number] || !w.Counts()
		}
		return w.Number != r.Answer.Window
	})
}

// LowerBound says that nothing bounds the result's rates from above, so the device may do more. Where the procedure
// doesn't search for the limit and frames were lost, the rates are what the device forwards of that load.
func (r Answer) LowerBound() bool {
	if r.Reason == LoadEstimated {
		return len(r.NearGenerators) > 0 || !r.boundedAbove()
	}
	return len(r.NearGenerators) > 0 || !r.Saturated && r.Reason != LoadHeld && r.Reason != CurveMeasured &&
		r.Reason != MaximumOffered && r.Reason != BurstsMeasured && r.Reason != TrainsMeasured &&
		r.Reason != PathLimited && r.Reason != EndpointLimited
}

// FoundApart says that the directions' figures are of other windows than the total, as their loads were found one
// after another.
func (r Answer) FoundApart() bool { return r.Total != nil && len(r.Total.Directions) > 0 }

// HeldAtOnce says that the loads which were found of each direction by itself were held all at once, and that the
// total is what came back of them.
func (r Answer) HeldAtOnce() bool {
	return r.FoundApart() && r.NotHeld == "" &&
		!slices.ContainsFunc(r.Total.Directions, func(d Direction) bool { return d.Quality == Unjudged })
}

// Sum is the sum over all directions of one window.
type Sum struct {
	Intended Flow `json:"intended"`
	Offered  Flow `json:"offered"`
	Received Flow `json:"received"`
	// LossRatio is all that did not come back as a share of what was sent, LossRatioMin the part of it that the DUT
	// surely lost.
	LossRatio    units.Ratio `json:"lossRatio"`
	LossRatioMin units.Ratio `json:"lossRatioMin"`
	// LossRatioMax is the most that may have been lost, as in Direction. It is 0 where LossRatio is.
	LossRatioMax units.Ratio `json:"lossRatioMax,omitempty"`
	// LineRatePercent is the share of what all directions could carry together.
	LineRatePercent units.Percent `json:"lineRatePercent"`
	Window          int           `json:"window"`
	// Directions are the parts of the sum, where Answer.Directions are of other windows, as the directions' loads were
	// found one after another. They are empty otherwise.
	Directions []Direction `json:"directions,omitempty"`
	// Sessions is what connections did in all directions together. It is nil where traffic is frames.
	Sessions *Sessions `json:"sessions,omitempty"`
}

// MostLost is the most that may have been lost, as in Direction.
func (s Sum) MostLost() units.Ratio { return max(s.LossRatio, s.LossRatioMax) }

// Outcome is one of three, as the runs may also leave it undecided.
type Outcome string

// The outcomes.
const (
	Passed    Outcome = "Passed"
	DidFail   Outcome = "Failed"
	Undecided Outcome = "Undecided"
)

// Verdict is the criteria's judgement. Without criteria it is Undecided with no criterion.
type Verdict struct {
	Outcome  Outcome           `json:"outcome"`
	Criteria []CriterionResult `json:"criteria,omitempty"`
}

// CriterionResult is one criterion with the figure that decided it.
type CriterionResult struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"` // such as "east→west: 93.2 % of line rate, at least 95 % demanded"
	// Chance is, for a relative criterion, the probability that at least one of its comparisons shows so much less
	// by chance, although the candidate is exactly as far below the baseline as is allowed. It is 0 where nothing
	// was compared.
	Chance units.Ratio `json:"chance,omitempty"`
	// Reason is set where the time per frame was compared, as the rate alone decides nothing.
	Reason CriterionReason `json:"reason,omitempty"`
	// TimePerFrame is how that time changed, of the direction where it grew most. It is nil where it isn't known.
	TimePerFrame *TimeChange `json:"timePerFrame,omitempty"`
}

// CriterionReason is why a criterion's Outcome is what it is, where its own metric doesn't say it.
type CriterionReason string

// The reasons of a criterion of a rate whose maxWorkRegression was asked. They speak of the work for a frame, and not
// of the device's limit.
const (
	// MoreWorkPerFrame says that the criterion failed, as a frame takes longer than is allowed.
	MoreWorkPerFrame CriterionReason = "MoreWorkPerFrame"
	// WorkPerFrameKept says that the criterion is undecided, and that a frame takes no longer than is allowed.
	WorkPerFrameKept CriterionReason = "WorkPerFrameKept"
)

// TimeChange is by how much longer a frame takes than in the baseline, in nanoseconds, and less is negative.
type TimeChange struct {
	Direction   string `json:"direction"` // a direction's name, or Total for the one that takes longest
	Nanoseconds Number `json:"nanoseconds"`
	// LowNanoseconds and HighNanoseconds are the interval around it. They are empty where nothing bounds it.
	LowNanoseconds  Number `json:"lowNanoseconds,omitempty"`
	HighNanoseconds Number `json:"highNanoseconds,omitempty"`
}

// mostChance is how improbable a regression must be by chance alone to be claimed.
const mostChance = units.One * 25 / 1000

// FailedTogether says that failures among several verdicts, as of a suite's cells, are shown for all of them
// together. They are by a criterion in which chance plays no part, or as the least chance, multiplied by the number
// of comparisons, is at most 2.5 % (the first step of Holm's procedure). Without that, forty cells that didn't
// change would raise a false alarm every third night.
func FailedTogether(verdicts []*Verdict) bool {
	lowest, compared := units.One, units.Ratio(0)
	for _, v := range verdicts {
		if v == nil {
			continue
		}
		if v.Outcome == DidFail && len(v.Criteria) == 0 {
			return true
		}
		for _, c := range v.Criteria {
			switch {
			case c.Chance > 0:
				compared++
				if c.Outcome == DidFail {
					lowest = min(lowest, c.Chance)
				}
			case c.Outcome == DidFail:
				return true
			}
		}
	}
	return lowest*compared <= mostChance && compared > 0
}
