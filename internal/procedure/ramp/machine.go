package ramp

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// stage is what the machine is busy with. The order is the order of a run.
type stage int

const (
	warming stage = iota
	climbing
	holding
	narrowing
	closing
	finished
)

// machine is the state that replaying the history leads to.
//
//	warming ─▶ climbing ─▶ holding ─▶ narrowing ─▶ closing ─▶ finished
//	   └─ nothing came back ───────────────────────────────▶
type machine struct {
	plan.Procedure
	history []report.Window
	steps   int

	stage   stage
	reason  string // why the next step is not simply the next one
	level   int    // of the staircase, from 1
	repeats int    // of the present step, because it was Invalid
	budget  int    // repeats that the staircase has left
	topped  int    // windows more at the top
	rested  bool   // the next step begins from rest
	rests   int    // such steps so far

	spent time.Duration // on refinement and confirmation so far

	points []point       // windows of staircase and everything after it
	looks  []point       // the hold and windows of the confirmation's length, as far as they are clean or lossy
	runs   map[int][]int // per direction: its present run of Lossy windows, as indexes into points
	bracket
	steadiness

	ending  string // how the search ended, while other directions' own limits are looked at, or loads that could not be judged
	closers int    // windows of the former
	unclearLooks
}

// replay carries the history through the machine.
func replay(p plan.Procedure, history []report.Window) *machine {
	m := &machine{Procedure: p, history: history, steps: Steps(p.Ramp), level: 1, budget: staircaseBudget, runs: map[int][]int{}}
	m.stage = warming
	if p.Ramp.WarmupDuration <= 0 {
		m.stage = climbing
	}
	for i := range history {
		m.follow(m.next(), history[i])
		m.reason = ""
		m.observe(i)
	}
	return m
}

// observe takes in the window of the step that the machine would have taken next.
func (m *machine) observe(i int) {
	p := pointOf(m.history[i], i)
	m.looking, m.rested = false, false
	switch m.stage {
	case warming:
		m.observeWarmUp(p)
	case climbing:
		m.observeClimb(p)
	case holding:
		m.observeHold(p)
	case narrowing:
		m.spent += m.Ramp.Settle.Std() + m.target.judge
		m.observeSearch(p)
	case closing:
		m.spent += m.Ramp.Settle.Std() + m.target.judge
		m.observeCloser(p)
	case finished:
	}
}

// observeWarmUp judges the warm-up: it proves that traffic passes, and nothing else.
func (m *machine) observeWarmUp(p point) {
	w := m.history[p.window]
	if lost := procedure.NothingCameBack(w); lost != "" {
		m.finish(lost)
		return
	}
	if w.Quality == report.Invalid && m.repeatInvalid(w) {
		return
	}
	m.enterStage(climbing)
}

// observeClimb takes in a window of the staircase.
func (m *machine) observeClimb(p point) {
	if p.unclear() && m.budget > 0 && m.repeatInvalid(m.history[p.window]) {
		m.budget--
		return
	}
	m.repeats = 0
	m.points = append(m.points, p)
	marked := m.countRuns()
	switch {
	case marked && m.Ramp.StopAtSaturation:
		m.enterHold(m.saturationSentence())
	case m.hi == nil && m.plateau():
		m.enterHold(m.plateauSentence())
	case m.level < m.steps:
		m.level++
		if marked {
			m.reason = m.saturationSentence() + "; going on to the target"
		}
	case m.hi == nil && m.undecidedRun() && m.topped < topRepeats:
		m.topped++
		m.reason = fmt.Sprintf("the last windows lost frames; repeated at the top until there are %d of them, or none", lossyRun)
	case marked:
		m.enterHold(m.saturationSentence())
	default:
		m.enterHold("")
	}
}

// repeatInvalid repeats the present step within the bound.
func (m *machine) repeatInvalid(w report.Window) bool {
	if m.repeats >= invalidRepeats {
		return false
	}
	m.repeats++
	m.reason = procedure.Repeated(w)
	if m.rests < rests && measure.MoreCameBack(w, m.MaxLossRatio) {
		m.rests++
		m.rested = true
		m.reason += "; traffic rests before it"
	}
	return true
}

// countRuns follows each direction's run of Lossy windows, and marks the first that is long enough. An Invalid window neither breaks
// nor lengthens a run.
func (m *machine) countRuns() (marked bool) {
	last := len(m.points) - 1
	for i, d := range m.history[m.points[last].window].Directions {
		switch d.Quality {
		case report.Lossy:
			m.runs[i] = append(m.runs[i], last)
		case report.Good, report.Short:
			m.runs[i] = nil
		case report.Invalid, report.Unjudged:
		}
		if m.hi == nil && len(m.runs[i]) == lossyRun {
			carried := m.medianOf(m.runs[i], m.forwarded)
			m.mark(m.points[m.firstCredible(m.runs[i], carried)], d.Name())
			m.estimate, m.proven = carried, false
			marked = true
		}
	}
	return marked
}

// firstCredible is the first window of a run that the run itself doesn't contradict: a device that carried more than a window's load later, though it lost frames of the rest, doesn't lose frames
// at that load. Something else took them, such as a machine that was busy for a moment.
func (m *machine) firstCredible(run []int, carried units.Ratio) int {
	for _, i := range run {
		if m.points[i].asked > carried {
			return i
		}
	}
	return run[0]
}

// medianOf is the median of what the device forwarded in a run's windows: the first may hold a saved-up burst, and any of them a hiccup of the lab.
func (m *machine) medianOf(run []int, forwarded func(point) units.Ratio) units.Ratio {
	var all []units.Ratio
	for _, i := range run {
		all = append(all, forwarded(m.points[i]))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// undecidedRun says that some direction lost frames at last, but too few times to mark saturation.
func (m *machine) undecidedRun() bool {
	for _, run := range m.runs {
		if len(run) > 0 {
			return true
		}
	}
	return false
}

// plateau says that the generator is at its limit: over the last steps, all short, the intended load grew by a tenth and the offered load by less than a hundredth.
func (m *machine) plateau() bool {
	n := len(m.points)
	if n < plateauSteps {
		return false
	}
	last := m.points[n-1]
	most := m.offered(last)
	for i := n - 1; i >= 0 && m.points[i].short && !m.points[i].unclear(); i-- {
		p := m.points[i]
		most = max(most, m.offered(p))
		if n-i >= plateauSteps && most <= m.offered(p)+m.offered(p)/100 && last.asked >= p.asked+p.asked/10 {
			return true
		}
	}
	return false
}

// offered is what all directions sent together in a point's window, packets per second.
func (m *machine) offered(p point) int64 {
	var sum int64
	for _, d := range m.history[p.window].Directions {
		sum += d.Offered.PacketsPerSecond
	}
	return sum
}

func (m *machine) plateauSentence() string {
	p := m.points[len(m.points)-1]
	return fmt.Sprintf("the climb ends at %s of the target: the generator offers no more than %s, all directions together", percent(p.asked),
		wording.PacketRate(m.offered(p)))
}

// observeHold takes in the hold at the top. It is longer than a step: loss there that repeats is believed, though no step lost frames.
func (m *machine) observeHold(p point) {
	p.long = m.Ramp.HoldDuration >= m.Ramp.ConfirmDuration && (!p.clean || m.surelyWithinLimit(m.history[p.window]))
	m.keepHeldWindow(p)
	if p.unclear() && m.repeatInvalid(m.history[p.window]) || m.hi == nil && m.vote(p, true) {
		return
	}
	unheard := p.unclear() && !m.votes.clean // what was lost once could not be looked at again
	if m.hi == nil && m.votes.lossy > 0 && (p.lossy || unheard) {
		p = m.votes.least
		m.mark(p, "the hold")
		m.proven = true
		m.goOnBelowHeldLoss(p, m.history[p.window])
	}
	m.points = append(m.points, p)
	m.enterStage(narrowing)
}

func (m *machine) enterHold(reason string) {
	m.reason = reason
	if m.Ramp.HoldDuration <= 0 || m.resumed > 0 {
		m.enterStage(narrowing)
		return
	}
	m.enterStage(holding)
}

func (m *machine) enterStage(s stage) {
	m.stage, m.repeats, m.votes = s, 0, votes{}
	if s == narrowing {
		m.chooseNextLoad()
	}
}

func (m *machine) finish(reason string) { m.stage, m.reason = finished, reason }

// next is the step that the machine's state asks for.
func (m *machine) next() procedure.Step {
	r := m.Ramp
	s := procedure.Step{Kind: procedure.Held, Reason: m.reason, Number: m.level, Of: m.steps, Settle: r.Settle.Std(), Judge: judged(r)}
	switch m.stage {
	case warming:
		s.Phase, s.Load, s.Number, s.Settle = report.WarmUp, units.One, 0, min(r.Settle.Std(), r.WarmupDuration.Std()/2)
		s.Judge = r.WarmupDuration.Std() - s.Settle
	case climbing:
		s.Phase, s.Load = report.Ramping, Level(m.level, m.steps)
	case holding:
		s.Phase, s.Load, s.Judge = report.Hold, Level(m.level, m.steps), r.HoldDuration.Std()
	case narrowing, closing:
		s.Phase, s.Load, s.Judge, s.Optional = m.target.phase, m.target.load, m.target.judge, m.looking
		if m.target.drained {
			s.Kind, s.Settle = procedure.Trial, 0
		}
	case finished:
		return procedure.Step{Done: true, Reason: m.reason}
	}
	s.Rested = m.rested && s.Kind == procedure.Held
	return s
}

// percent is a share for people, with two decimals, or four where it is small.
func percent(r units.Ratio) string {
	if r >= units.One/20 {
		return r.Percent().FormatFixed() + " %"
	}
	const step = units.One / 1_000_000
	return wording.Share((r + step/2) / step * step)
}
