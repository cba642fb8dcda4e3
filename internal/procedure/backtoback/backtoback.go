package backtoback

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const (
	// invalidTrials is how many times the trial is repeated because it was Invalid, invalidBursts how many bursts of one search may be before it is given up.
	invalidTrials = 2
	invalidBursts = 3
	// sendingMargin is what a burst may take more than twice the time that it takes at the rate of the trial.
	sendingMargin = time.Second
	// usualBursts is how many bursts a search usually takes, and usualBurst how long one does, with all around it.
	usualBursts = 3
	usualBurst  = 2 * time.Second
)

// BackToBack is the procedure of a Plan.
type BackToBack struct{ plan plan.BackToBack }

var _ procedure.Procedure = BackToBack{}

// New are the bursts that the Plan describes.
func New(p plan.Procedure) BackToBack {
	if p.BackToBack == nil {
		return BackToBack{}
	}
	return BackToBack{*p.BackToBack}
}

// Rates are the bursts' rate, for the warm-up too.
func (b BackToBack) Rates() procedure.Rates {
	rate := procedure.Rate{Field: "backToBack.rate", Rate: b.plan.Rate}
	return b.warmUp().Rates(rate, rate)
}

func (b BackToBack) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: b.plan.WarmupDuration.Std()}
}

func (b BackToBack) repetitions() int { return max(1, b.plan.Repetitions) }

// series is the state that replaying the windows leads to.
type series struct {
	trial   int // the window of the trial before, as an index into the history; procedure.None: it is still to come, or could not be judged
	sides   []side
	over    int // how many searches are over, found or given up
	unclear int // how many of them were given up
	invalid int // trials, or bursts of this search, that could not be judged
	reason  string
	ended   bool
}

// side is one direction.
type side struct {
	field

	searched bool // the trial lost frames of it: else no burst says anything
	trial    report.Direction
	now      search
	found    []search
}

func (s side) done() bool { return !s.searched || s.field.done(s.now) }

// replay carries the history through the series.
func (b BackToBack) replay(history []report.Window) series {
	s := series{trial: procedure.None}
	if lost := b.warmUp().NothingCameBack(history); lost != "" {
		s.reason, s.ended = lost, true
		return s
	}
	for i := b.warmUp().Steps(); i < len(history) && !s.ended; i++ {
		s.reason = ""
		if s.trial == procedure.None {
			b.observeTrial(&s, history[i], i)
		} else {
			b.observeBurst(&s, history[i])
		}
	}
	return s
}

// observeTrial takes in the trial before the bursts. In a direction that lost nothing, no burst fills a buffer, as each is shorter than the trial.
func (b BackToBack) observeTrial(s *series, w report.Window, i int) {
	switch {
	case !w.Counts() && s.invalid < invalidTrials:
		s.invalid++
		s.reason = procedure.Repeated(w)
		return
	case !w.Counts():
		s.ended, s.reason = true, "the trial before the bursts could not be judged, however often repeated: "+w.Reason
		return
	}
	s.trial, s.invalid = i, 0
	any := false
	for _, m := range w.Directions {
		lost := measure.SurelyLost(m)
		f := field{resolution: b.plan.Resolution, excessShare: float64(lost) / float64(max(1, m.Sent.Packets)),
			longest: framesIn(m.Offered.PacketsPerSecond, b.plan.Longest.Std())}
		f.begin = f.longest
		s.sides = append(s.sides, side{field: f, searched: lost > 0, trial: m})
		any = any || lost > 0
	}
	if !any {
		s.ended, s.reason = true, "the trial lost no frame at the bursts' rate, so that no burst fills a buffer"
	}
}

// framesIn is how many frames a burst of this length has; a stream has at most as many as 32 bits count.
func framesIn(packetsPerSecond int64, lasts time.Duration) int64 {
	return int64(min(max(2, float64(packetsPerSecond)*lasts.Seconds()), math.MaxUint32/2))
}

// observeBurst takes in a burst of all directions.
func (b BackToBack) observeBurst(s *series, w report.Window) {
	if !s.usable(w) {
		if s.invalid++; s.invalid <= invalidBursts {
			s.reason = procedure.Repeated(w)
			return
		}
		s.unclear++
		if b.endSearch(s, false); !s.ended {
			s.reason = fmt.Sprintf("a search was given up, as %d of its bursts could not be judged; the last is window %d: %s", invalidBursts+1, w.Number, w.Reason)
		}
		return
	}
	for i, m := range w.Directions {
		if of := &s.sides[i]; !of.done() {
			of.now.observe(m.Burst.Frames, measure.SurelyLost(m), int64(m.Burst.Sending))
		}
	}
	for _, of := range s.sides {
		if !of.done() {
			return
		}
	}
	b.endSearch(s, true)
}

// usable says that a window has a burst in each direction, and counts.
func (s series) usable(w report.Window) bool {
	return w.Counts() && len(w.Directions) == len(s.sides) &&
		!slices.ContainsFunc(w.Directions, func(m report.Direction) bool { return m.Burst == nil || m.Burst.Frames <= 0 })
}

// endSearch goes on to the next search, in all directions. It begins near where the others ended.
func (b BackToBack) endSearch(s *series, found bool) {
	for i := range s.sides {
		of := &s.sides[i]
		if of.searched && found {
			of.found = append(of.found, of.now)
			of.begin = max(1, mean(of.found)-of.width(max(of.now.lossy, of.now.clean))/2)
		}
		of.now = search{}
	}
	s.invalid = 0
	if s.over++; s.over >= b.repetitions() {
		s.ended, s.reason = true, fmt.Sprintf("%s searches are done", wording.ShareOf(s.over, b.repetitions()))
		if s.over == 1 {
			s.reason = "the search is done"
		}
	}
}

// mean is the mean of the middles between the longest burst without loss and the shortest with loss.
func mean(found []search) int64 {
	sum := int64(0)
	for _, s := range found {
		sum += (s.clean + max(s.clean, s.lossy)) / 2
	}
	return sum / int64(len(found))
}

// Next is the trial, and then burst by burst.
func (b BackToBack) Next(history []report.Window) procedure.Step {
	s := b.replay(history)
	switch {
	case s.ended:
		return procedure.Step{Done: true, Reason: s.reason}
	case b.warmUp().Due(history):
		return b.warmUp().Step()
	case s.trial == procedure.None:
		return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: units.One, Judge: b.plan.TrialDuration.Std(), Reason: s.reason}
	}
	step := procedure.Step{Kind: procedure.Burst, Phase: report.BackToBack, Load: units.One, Reason: s.reason, Number: s.over + 1, Of: b.repetitions()}
	step.Frames, step.Judge = s.bursts(b.plan.Longest.Std())
	return step
}

// bursts are the next bursts' lengths, and how long sending them may take. A direction whose search is over goes on sending its longest burst without loss, and one without a search sends as long
// as the longest of the others, so that a device whose directions share its capacity is as busy.
func (s series) bursts(most time.Duration) (frames []int64, lasts time.Duration) {
	longest := time.Duration(0)
	for _, of := range s.sides {
		n := max(1, of.now.clean)
		if !of.done() {
			n = of.next(of.now)
		}
		frames = append(frames, n)
		longest = max(longest, of.durationOf(n))
	}
	for i, of := range s.sides {
		if !of.searched {
			frames[i] = min(of.longest, max(1, framesIn(of.trial.Offered.PacketsPerSecond, longest)))
		}
	}
	return frames, 2*min(longest, most) + sendingMargin
}

// durationOf is how long these frames take at the rate of the trial.
func (s side) durationOf(frames int64) time.Duration {
	return time.Duration(float64(frames) / float64(max(1, s.trial.Offered.PacketsPerSecond)) * float64(time.Second))
}

// Bound is the trial with its repeats, and as many bursts as searches may take.
func (b BackToBack) Bound() procedure.Bound {
	bursts := b.repetitions() * (mostBursts(b.plan.Resolution) + invalidBursts + 1)
	burst := 2*b.plan.Longest.Std() + sendingMargin
	return b.warmUp().Bound(1+invalidTrials+bursts, (1+invalidTrials)*b.plan.TrialDuration.Std()+time.Duration(bursts)*burst, max(b.plan.TrialDuration.Std(), burst))
}

// Usual is warm-up, trial and searches.
func (b BackToBack) Usual() time.Duration { return b.Remaining(nil) }

// Remaining is what is left of them.
func (b BackToBack) Remaining(history []report.Window) time.Duration {
	s := b.replay(history)
	if s.ended {
		return 0
	}
	left := b.warmUp().Left(history) + time.Duration(b.repetitions()-s.over)*usualBursts*usualBurst
	if s.trial == procedure.None {
		left += b.plan.TrialDuration.Std()
	}
	return left
}

// Describe says how bursts are sent.
func (b BackToBack) Describe() procedure.Description {
	if b.plan.Rate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up, trial and bursts", OnTop: "what disturbed bursts repeat",
		Sentence: fmt.Sprintf("back-to-back frames: a trial of %s at %s per direction, then %s for the longest burst without loss, of %s at most",
			b.plan.TrialDuration.Std(), b.plan.Rate, searches(b.repetitions()), b.plan.Longest.Std())}
}

// searches is so many of them in words.
func searches(n int) string {
	if n == 1 {
		return "1 search"
	}
	return fmt.Sprintf("%d searches", n)
}
