package latency

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// mostTrials is how often a load is tried at most, until a trial of it counts.
const mostTrials = 3

// After is a procedure with latency measured after it.
type After struct {
	result procedure.Procedure
	plan   plan.Latency
}

var _ procedure.Procedure = After{}

// New measures latency after a procedure as the Plan says.
func New(p plan.Latency, result procedure.Procedure) After { return After{result, p} }

// Rates are the procedure's.
func (a After) Rates() procedure.Rates { return a.result.Rates() }

// splitHistory are the procedure's own windows, and those of latency, which come after them.
func splitHistory(history []report.Window) (own, trials []report.Window) {
	i := slices.IndexFunc(history, func(w report.Window) bool { return w.Phase == report.AtLoad })
	if i < 0 {
		return history, nil
	}
	return history[:i], history[i:]
}

// rate is the load that all loads are shares of; 0: the procedure has no answer.
func (a After) rate(own []report.Window) units.Ratio {
	c := a.result.Conclude(own)
	for _, g := range c.Goals {
		if g.Name != a.plan.Of {
			continue
		}
		if g.Lower == nil {
			return 0
		}
		return g.Lower.Load
	}
	if c.Window == procedure.None {
		return 0
	}
	return own[c.Window].Load
}

// course is which trials were made of each load.
type course struct {
	// counts is the place, among the trials, of the one that counts of each load that is done; None: none did.
	counts []int
	// void is the last trial of each load done, or under way, that did not count; None: all did.
	void []int
}

// courseOf walks the trials: a load is done once a trial of it counts, or it has been tried often enough.
func (a After) courseOf(trials []report.Window) (c course) {
	tried, void := 0, procedure.None
	for i, w := range trials {
		tried++
		switch {
		case w.Counts():
			c.counts, c.void = append(c.counts, i), append(c.void, void)
		case tried == mostTrials:
			c.counts, c.void = append(c.counts, procedure.None), append(c.void, i)
		default:
			void = i
			continue
		}
		tried, void = 0, procedure.None
	}
	if tried > 0 {
		c.void = append(c.void, void)
	}
	return c
}

// Next is the procedure's next step, or, when it is done, the next trial of latency.
func (a After) Next(history []report.Window) procedure.Step {
	own, trials := splitHistory(history)
	step := a.result.Next(own)
	if !step.Done {
		return step
	}
	rate := a.rate(own)
	if rate <= 0 {
		step.Reason += "; latency was not measured, as there is no rate to take shares of"
		return step
	}
	c := a.courseOf(trials)
	i := len(c.counts)
	if i >= len(a.plan.At) {
		return procedure.Step{Done: true, Reason: fmt.Sprintf("latency was measured at %s of %s", a.loads(), a.of())}
	}
	at := a.plan.At[i]
	next := procedure.Step{Kind: procedure.Trial, Phase: report.AtLoad, Judge: a.plan.TrialDuration.Std(), Number: i + 1, Of: len(a.plan.At)}
	if next.Load = shareOf(rate, at); at == 0 {
		next.Few = rate
	}
	switch {
	case len(trials) == 0:
		next.Reason = fmt.Sprintf("%s; latency follows, at %s of %s", step.Reason, a.loads(), a.of())
	case len(c.void) > i:
		next.Reason = fmt.Sprintf("latency at %s tried again, as the last trial could not be judged: %s", wording.Share(at), trials[c.void[i]].Reason)
	}
	return next
}

func shareOf(rate, at units.Ratio) units.Ratio {
	return rate * at / units.One
}

// Bound is the procedure's, and every load tried as often as may be.
func (a After) Bound() procedure.Bound {
	b, most := a.result.Bound(), mostTrials*len(a.plan.At)
	each := a.plan.TrialDuration.Std()
	b.Steps, b.Trials, b.Trial = b.Steps+most, b.Trials+most, max(b.Trial, each)
	b.Time += time.Duration(most) * each
	return b
}

// Usual is the procedure's, and a trial at each load.
func (a After) Usual() time.Duration { return a.result.Usual() + a.trials(len(a.plan.At)) }

func (a After) trials(n int) time.Duration { return time.Duration(n) * a.plan.TrialDuration.Std() }

// Remaining is what is left of the procedure, and of the trials after it.
func (a After) Remaining(history []report.Window) time.Duration {
	own, trials := splitHistory(history)
	if !a.result.Next(own).Done {
		return a.result.Remaining(own) + a.trials(len(a.plan.At))
	}
	if a.rate(own) <= 0 {
		return 0
	}
	return a.trials(len(a.plan.At) - len(a.courseOf(trials).counts))
}

// Conclude is the procedure's own conclusion, with the trials of latency beside it.
func (a After) Conclude(history []report.Window) procedure.Conclusion {
	own, trials := splitHistory(history)
	c := a.result.Conclude(own)
	rate := a.rate(own)
	if !c.Finished || rate <= 0 {
		return c
	}
	made := a.courseOf(trials)
	placed := func(in []int, i int) int {
		if i >= len(in) || in[i] == procedure.None {
			return procedure.None
		}
		return len(own) + in[i]
	}
	for i, at := range a.plan.At {
		c.Latency = append(c.Latency, procedure.LatencyAt{At: at, Load: shareOf(rate, at), Window: placed(made.counts, i), Void: placed(made.void, i)})
	}
	c.Finished = len(made.counts) >= len(a.plan.At)
	return c
}

// Describe is the procedure's, with what comes after it.
func (a After) Describe() procedure.Description {
	d := a.result.Describe()
	if d.Sentence != "" {
		d.Sentence += fmt.Sprintf("; then latency at %s of %s, in a trial of %s each", a.loads(), a.of(), a.plan.TrialDuration.Std())
		d.Parts += ", and trials of latency"
	}
	return d
}

// loads are all loads, for people: "0 %, 10 % and 90 %".
func (a After) loads() string {
	var said []string
	for _, at := range a.plan.At {
		said = append(said, wording.Share(at))
	}
	if last := len(said) - 1; last > 0 {
		return strings.Join(said[:last], ", ") + " and " + said[last]
	}
	return strings.Join(said, "")
}

// of is what the loads are shares of.
func (a After) of() string {
	if a.plan.Of != "" {
		return a.plan.Of
	}
	return "that rate"
}
