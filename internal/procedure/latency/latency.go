package latency

import (
	"fmt"
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

// Procedure is a procedure with latency measured after it.
type Procedure struct {
	result procedure.Procedure
	plan   plan.Latency
}

var _ procedure.Procedure = Procedure{}

// New measures latency after a procedure as the Plan says.
func New(p plan.Latency, result procedure.Procedure) Procedure { return Procedure{result, p} }

// Rates are the procedure's.
func (a Procedure) Rates() procedure.Rates { return a.result.Rates() }

// rate is the load that all loads are shares of. 0 means that the procedure has no answer.
func (a Procedure) rate(main []report.Window) units.Ratio {
	c := a.result.Conclude(main)
	for _, g := range c.Goals {
		if g.Name == a.plan.Goal {
			c = g.Conclusion
		}
	}
	if c.Window == procedure.NoWindow {
		return 0
	}
	return main[c.Window].Load
}

// course is which trials were made of each load.
type course struct {
	// counts is, for each load that is done, the index of the trial that counts among the trials of latency. NoWindow
	// means that none counted.
	counts []int
	// void is the last trial of each load done, or under way, that did not count. NoWindow means that all counted.
	void []int
}

// courseOf follows the trials. A load is done once a trial of it counts, or once it was tried often enough.
func (a Procedure) courseOf(trials []report.Window) (c course) {
	tried, void := 0, procedure.NoWindow
	for i, w := range trials {
		tried++
		switch {
		case w.Counts():
			c.counts, c.void = append(c.counts, i), append(c.void, void)
		case tried == mostTrials:
			c.counts, c.void = append(c.counts, procedure.NoWindow), append(c.void, i)
		default:
			void = i
			continue
		}
		tried, void = 0, procedure.NoWindow
	}
	if tried > 0 {
		c.void = append(c.void, void)
	}
	return c
}

// Next is the procedure's next step, or, when it is done, the next trial of latency.
func (a Procedure) Next(history []report.Window) procedure.Step {
	main, trials := procedure.SplitHistory(history, report.AtLoad)
	step := a.result.Next(main)
	if !step.End {
		return step
	}
	rate := a.rate(main)
	if rate <= 0 {
		step.Reason += "; latency was not measured, as there is no rate to take shares of"
		return step
	}
	c := a.courseOf(trials)
	i := len(c.counts)
	if i >= len(a.plan.Loads) {
		return procedure.Step{End: true, Reason: fmt.Sprintf("latency was measured at %s of %s", a.loads(),
			a.baseText())}
	}
	share := a.plan.Loads[i]
	next := procedure.Step{Kind: procedure.Trial, Phase: report.AtLoad, Judge: a.plan.TrialDuration.Std(), Number: i +
		1, Total: len(a.plan.Loads)}
	if next.Load = shareOf(rate, share); share == 0 {
		next.SingleFrames = rate
	}
	switch {
	case len(trials) == 0:
		next.Reason = fmt.Sprintf("%s; latency follows, at %s of %s", step.Reason, a.loads(), a.baseText())
	case len(c.void) > i:
		next.Reason = fmt.Sprintf("latency at %s tried again, as the last trial could not be judged: %s",
			wording.Share(share), trials[c.void[i]].Reason)
	}
	return next
}

func shareOf(rate, share units.Ratio) units.Ratio {
	return rate * share / units.One
}

// Bound is the procedure's, and every load tried as often as may be.
func (a Procedure) Bound() procedure.Bound {
	b, trials := a.result.Bound(), mostTrials*len(a.plan.Loads)
	length := a.plan.TrialDuration.Std()
	b.Steps, b.Trials, b.Trial = b.Steps+trials, b.Trials+trials, max(b.Trial, length)
	b.Time += time.Duration(trials) * length
	return b
}

// Usual is the procedure's, and a trial at each load.
func (a Procedure) Usual() time.Duration { return a.result.Usual() + a.trials(len(a.plan.Loads)) }

func (a Procedure) trials(n int) time.Duration { return time.Duration(n) * a.plan.TrialDuration.Std() }

// Remaining is what is left of the procedure, and of the trials after it.
func (a Procedure) Remaining(history []report.Window) time.Duration {
	main, trials := procedure.SplitHistory(history, report.AtLoad)
	if !a.result.Next(main).End {
		return a.result.Remaining(main) + a.trials(len(a.plan.Loads))
	}
	if a.rate(main) <= 0 {
		return 0
	}
	return a.trials(len(a.plan.Loads) - len(a.courseOf(trials).counts))
}

// Conclude is the procedure's own conclusion, with the trials of latency added.
func (a Procedure) Conclude(history []report.Window) procedure.Conclusion {
	main, trials := procedure.SplitHistory(history, report.AtLoad)
	c := a.result.Conclude(main)
	rate := a.rate(main)
	if !c.Finished || rate <= 0 {
		return c
	}
	course := a.courseOf(trials)
	placed := func(indexes []int, i int) int {
		if i >= len(indexes) || indexes[i] == procedure.NoWindow {
			return procedure.NoWindow
		}
		return len(main) + indexes[i]
	}
	for i := range a.plan.Loads {
		c.Loads = append(c.Loads, procedure.LoadTrial{LatencyLoad: &a.plan.Loads[i], Window: placed(course.counts, i),
			Void: placed(course.void, i)})
	}
	c.Finished = len(course.counts) >= len(a.plan.Loads)
	return c
}

// Describe is the procedure's, with what comes after it.
func (a Procedure) Describe() procedure.Description {
	d := a.result.Describe()
	if d.Sentence != "" {
		d.Sentence += fmt.Sprintf("; then latency at %s of %s, in a trial of %s each", a.loads(), a.baseText(),
			a.plan.TrialDuration.Std())
		d.Parts += ", and trials of latency"
	}
	return d
}

// loads are all loads, for people: "0 %, 10 % and 90 %".
func (a Procedure) loads() string {
	var shares []string
	for _, share := range a.plan.Loads {
		shares = append(shares, wording.Share(share))
	}
	if end := len(shares) - 1; end > 0 {
		return strings.Join(shares[:end], ", ") + " and " + shares[end]
	}
	return strings.Join(shares, "")
}

// baseText is what the loads are shares of.
func (a Procedure) baseText() string {
	if a.plan.Goal != "" {
		return a.plan.Goal
	}
	return "that rate"
}
