package backtoback

import (
	"cmp"
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
	// invalidTrials is how many times the trial is repeated because it was Invalid. invalidBursts is how many Invalid
	// bursts of one search are repeated before the search is given up.
	invalidTrials = 2
	invalidBursts = 3
	// sendingMargin is what a burst may take more than twice the time that the burst takes at the rate of the trial.
	sendingMargin = time.Second
	// usualBursts is how many bursts a search usually takes, and usualBurst how long one burst takes with what passes
	// before and after.
	usualBursts = 3
	usualBurst  = 2 * time.Second
)

// BackToBack is the procedure of a Plan.
type BackToBack struct{ plan plan.BackToBack }

var _ procedure.Procedure = BackToBack{}

// New are the bursts that the Plan describes.
func New(p plan.Procedure) BackToBack { return BackToBack{*cmp.Or(p.BackToBack, &plan.BackToBack{})} }

// Rates are the bursts' rate, for the warm-up too.
func (b BackToBack) Rates() procedure.Rates {
	rate := procedure.Rate{Field: "backToBack.rate", Rate: b.plan.Rate}
	return b.warmUp().Rates(rate, rate)
}

func (b BackToBack) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: b.plan.WarmupDuration.Std()}
}

func (b BackToBack) repetitions() int { return max(1, b.plan.Repetitions) }

// course is the state that replaying the windows leads to.
type course struct {
	procedure.Course

	// trial is the index in the history of the trial before the bursts. NoWindow means that the trial is still to
	// come, or could not be judged.
	trial    int
	sides    []side
	finished int // searches, found or given up
	givenUp  int // of the finished searches
}

// side is one direction.
type side struct {
	field

	searched bool // the trial lost frames of the direction, else no burst shows anything
	trial    report.Direction
	current  search
	found    []search
}

func (s side) isFinished() bool { return !s.searched || s.field.isFinished(s.current) }

func (b BackToBack) replay(history []report.Window) course {
	c := course{trial: procedure.NoWindow}
	c.Replay(b.warmUp(), history, func(i int) {
		if c.trial == procedure.NoWindow {
			b.observeTrial(&c, history[i], i)
		} else {
			b.observeBurst(&c, history[i])
		}
	})
	return c
}

// observeTrial takes in the trial before the bursts. In a direction that lost nothing, no burst fills a buffer, as each
// is shorter than the trial.
func (b BackToBack) observeTrial(c *course, w report.Window, i int) {
	if !w.Counts() {
		if !c.Repeat(w, invalidTrials) {
			c.End("the trial before the bursts could not be judged, however often repeated: " + w.Reason)
		}
		return
	}
	c.trial = i
	c.GoOn()
	lossy := false
	for _, m := range w.Directions {
		lost := measure.SurelyLost(m)
		f := field{resolution: b.plan.Resolution, excessShare: float64(lost) / float64(max(1, m.Sent.Packets)),
			longest: framesIn(m.Offered.PacketsPerSecond, b.plan.MaxBurstDuration.Std())}
		f.begin = f.longest
		c.sides = append(c.sides, side{field: f, searched: lost > 0, trial: m})
		lossy = lossy || lost > 0
	}
	if !lossy {
		c.End("the trial lost no frame at the bursts' rate, so that no burst fills a buffer")
	}
}

// framesIn is how many frames a burst of this length has. A stream has at most as many as 32 bits count.
func framesIn(packetsPerSecond int64, lasts time.Duration) int64 {
	return int64(min(max(2, float64(packetsPerSecond)*lasts.Seconds()), math.MaxUint32/2))
}

// observeBurst takes in a burst of all directions.
func (b BackToBack) observeBurst(c *course, w report.Window) {
	if !c.usable(w) {
		if c.Repeat(w, invalidBursts) {
			return
		}
		c.givenUp++
		if b.endSearch(c, false); !c.Ended {
			c.Reason = fmt.Sprintf("a search was given up, as %d of its bursts could not be judged; the last is "+
				"window %d: %s", invalidBursts+1, w.Number, w.Reason)
		}
		return
	}
	for i, m := range w.Directions {
		if s := &c.sides[i]; !s.isFinished() {
			s.current.observe(m.Burst.Frames, measure.SurelyLost(m), int64(m.Burst.Sending))
		}
	}
	if !slices.ContainsFunc(c.sides, func(s side) bool { return !s.isFinished() }) {
		b.endSearch(c, true)
	}
}

// usable reports whether a window counts, and has a burst in each direction.
func (c course) usable(w report.Window) bool {
	return w.Counts() && len(w.Directions) == len(c.sides) && !slices.ContainsFunc(w.Directions,
		func(m report.Direction) bool { return m.Burst == nil || m.Burst.Frames <= 0 })
}

// endSearch goes on to the next search, in all directions. A search begins near where the searches before ended.
func (b BackToBack) endSearch(c *course, found bool) {
	for i := range c.sides {
		s := &c.sides[i]
		if s.searched && found {
			s.found = append(s.found, s.current)
			s.begin = max(1, mean(s.found)-s.width(max(s.current.lossy, s.current.clean))/2)
		}
		s.current = search{}
	}
	c.GoOn()
	c.finished++
	switch {
	case c.finished < b.repetitions():
	case c.finished == 1:
		c.End("the search is done")
	default:
		c.End(wording.ShareOf(c.finished, b.repetitions()) + " searches are done")
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
	c := b.replay(history)
	return c.Next(b.warmUp(), history, func() procedure.Step {
		if c.trial == procedure.NoWindow {
			return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: units.One,
				Judge: b.plan.TrialDuration.Std(), Reason: c.Reason}
		}
		step := procedure.Step{Kind: procedure.Burst, Phase: report.Bursting, Load: units.One, Reason: c.Reason,
			Number: c.finished + 1, Total: b.repetitions()}
		step.Frames, step.Judge = c.bursts(b.plan.MaxBurstDuration.Std())
		return step
	})
}

// bursts are the next bursts' lengths, and how long sending them may take. A direction whose search is finished goes on
// sending its longest burst without loss. A direction without a search sends for as long as the longest of the others,
// so that a device whose directions share its capacity is as busy.
func (c course) bursts(limit time.Duration) (frames []int64, lasts time.Duration) {
	longest := time.Duration(0)
	for _, s := range c.sides {
		n := max(1, s.current.clean)
		if !s.isFinished() {
			n = s.next(s.current)
		}
		frames = append(frames, n)
		longest = max(longest, s.durationOf(n))
	}
	for i, s := range c.sides {
		if !s.searched {
			frames[i] = min(s.longest, max(1, framesIn(s.trial.Offered.PacketsPerSecond, longest)))
		}
	}
	return frames, 2*min(longest, limit) + sendingMargin
}

// durationOf is how long these frames take at the rate of the trial.
func (s side) durationOf(frames int64) time.Duration {
	return time.Duration(float64(frames) / float64(max(1, s.trial.Offered.PacketsPerSecond)) * float64(time.Second))
}

// Bound is the trial with its repeats, and as many bursts as searches may take.
func (b BackToBack) Bound() procedure.Bound {
	bursts := b.repetitions() * (maxBursts(b.plan.Resolution) + invalidBursts + 1)
	burst, trial := 2*b.plan.MaxBurstDuration.Std()+sendingMargin, b.plan.TrialDuration.Std()
	return b.warmUp().Bound(1+invalidTrials+bursts, (1+invalidTrials)*trial+time.Duration(bursts)*burst,
		max(trial, burst))
}

// Usual is warm-up, trial and searches.
func (b BackToBack) Usual() time.Duration { return b.Remaining(nil) }

// Remaining is what is left of warm-up, trial and searches.
func (b BackToBack) Remaining(history []report.Window) time.Duration {
	c := b.replay(history)
	steps := time.Duration(b.repetitions()-c.finished) * usualBursts * usualBurst
	if c.trial == procedure.NoWindow {
		steps += b.plan.TrialDuration.Std()
	}
	return c.Remaining(b.warmUp(), history, steps)
}

// Describe says how bursts are sent.
func (b BackToBack) Describe() procedure.Description {
	if b.plan.Rate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up, trial and bursts", OnTop: "what disturbed bursts repeat",
		Sentence: fmt.Sprintf("back-to-back frames: a trial of %s at %s per direction, then %s for the longest burst "+
			"without loss, of %s at most",
			b.plan.TrialDuration.Std(), b.plan.Rate, searches(b.repetitions()), b.plan.MaxBurstDuration.Std())}
}

// searches is so many of them in words.
func searches(n int) string {
	if n == 1 {
		return "1 search"
	}
	return fmt.Sprintf("%d searches", n)
}
