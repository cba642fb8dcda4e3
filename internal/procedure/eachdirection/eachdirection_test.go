package eachdirection_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/eachdirection"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

const (
	westEast, eastWest = "west→east", "east→west"
	full               = proceduretest.Full
)

func aRamp(p plan.Procedure) procedure.Procedure { return ramp.New(p) }

// procedureOf is a usual ramp of each direction; options change what matters to a case.
func procedureOf(options ...func(*plan.Procedure)) plan.Procedure {
	p := plan.Procedure{Type: plan.TypeRamp, MaxLossRatio: units.One / 1000,
		EachDirection: &plan.EachDirection{Directions: []string{westEast, eastWest}}, Ramp: plan.Ramp{
			WarmupDuration: plan.Duration(5 * time.Second), RampDuration: plan.Duration(40 * time.Second),
			StepDuration:   plan.Duration(2 * time.Second),
			SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200,
			ConfirmDuration: plan.Duration(10 * time.Second), StopAtSaturation: true,
		}}
	for _, o := range options {
		o(&p)
	}
	return p
}

func otherLoad(r units.Ratio) func(*plan.Procedure) {
	return func(p *plan.Procedure) { p.EachDirection.OtherLoad = r }
}

// separate has a limit in each direction, which the other one's load doesn't touch.
func separate(westEast, eastWest float64) proceduretest.Paired {
	return func(_ int, asked [2]float64) (offered, received [2]float64) {
		return asked, [2]float64{min(asked[0], westEast), min(asked[1], eastWest)}
	}
}

// shared has one limit for all directions together: of what is above it each loses the same share.
func shared(limit float64) proceduretest.Paired {
	return func(_ int, asked [2]float64) (offered, received [2]float64) {
		sum := asked[0] + asked[1]
		if sum <= limit {
			return asked, asked
		}
		return asked, [2]float64{asked[0] * limit / sum, asked[1] * limit / sum}
	}
}

// throttled is the device behind a generator that offers no more than limit in a direction.
func throttled(d proceduretest.Paired, limit float64) proceduretest.Paired {
	return func(n int, asked [2]float64) (offered, received [2]float64) {
		return d(n, [2]float64{min(asked[0], limit), min(asked[1], limit)})
	}
}

// interval is where a direction's limit is by its conclusion, in packets per second; high is 0 where it is open.
func interval(d procedure.DirectionConclusion, i int, history []report.Window) (low, high float64) {
	low = float64(history[d.Window].Directions[i].Received.PacketsPerSecond)
	if d.Saturated {
		high = low / (1 - d.Resolution.Float())
	}
	return low, high
}

func encloses(limit, low, high float64) bool { return low <= limit*1.002 && high >= limit*0.998 }

func TestEachDirectionHasItsOwnLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		limits := [2]float64{100 + rnd.Float64()*(full-200), 100 + rnd.Float64()*(full-200)}
		p := eachdirection.New(procedureOf(), aRamp)
		history, trace := proceduretest.CarryOutBoth(t, p, separate(limits[0], limits[1]))
		c := p.Conclude(history)
		for i, d := range c.Directions {
			low, high := interval(d, i, history)
			if !encloses(limits[i], low, high) || high > low*1.01 || !d.Confirmed || d.Reason != report.LossAboveLimit {
				t.Errorf("limits %.0f: direction %d is %.0f to %.0f, %+v\n%s", limits, i, low, high, d,
					strings.Join(trace, "\n"))
			}
			if w := history[d.Lossy]; w.Directions[i].Quality != report.Lossy ||
				w.Varied != []string{westEast, eastWest}[i] {
				t.Errorf("direction %d is bounded by window %d, in which %s varied and it is %s", i, w.Number, w.Varied,
					w.Directions[i].Quality)
			}
		}
		if w := history[c.Window]; w.Phase != report.AllAtOnce || w.Quality != report.Good || !c.Saturated ||
			!c.Confirmed || c.Reason != report.LossAboveLimit || c.Detail != "" {
			t.Errorf("limits %.0f: all at once is %+v of %+v", limits, w, c)
		}
		tableOfAllAtOnce(t, c, history)
		if coarsest := max(c.Directions[0].Resolution, c.Directions[1].Resolution); c.Resolution != coarsest {
			t.Errorf("limits %.0f: all at once is resolved to %s, and the coarser limit to %s", limits, c.Resolution,
				coarsest)
		}
	}
}

// tableOfAllAtOnce holds the answer's only table to the counters of the window that it is of.
func tableOfAllAtOnce(t *testing.T, c procedure.Conclusion, history []report.Window) {
	t.Helper()
	if len(c.Sections) != 1 || len(c.Sections[0].Table.Rows) != 2 {
		t.Fatalf("%+v", c.Sections)
	}
	for i, row := range c.Sections[0].Table.Rows {
		d := history[c.Window].Directions[i]
		for column, want := range []report.Number{"", report.Number(strconv.FormatInt(d.Offered.PacketsPerSecond, 10)),
			report.Number(strconv.FormatInt(d.Received.PacketsPerSecond, 10)), report.Number(d.LossRatio.String())} {
			if row[column].Number != want {
				t.Errorf("%s, column %d is %+v, want %s", row[0].Text, column, row[column], want)
			}
		}
	}
}

// Where one limit is for both directions, each alone has all of it, and both at once lose frames.
func TestALimitThatDirectionsShare(t *testing.T) {
	for _, limit := range []float64{3000, 10_000, 17_000} {
		p := eachdirection.New(procedureOf(), aRamp)
		history, _ := proceduretest.CarryOutBoth(t, p, shared(limit))
		c := p.Conclude(history)
		for i, d := range c.Directions {
			if low, high := interval(d, i, history); !encloses(limit, low, high) {
				t.Errorf("limit %.0f: direction %d is %.0f to %.0f", limit, i, low, high)
			}
		}
		if w := history[c.Window]; w.Phase != report.AllAtOnce || w.Quality != report.Lossy || c.Saturated ||
			c.Reason != report.LoadHeld || c.Detail != report.LimitsTogether {
			t.Fatalf("limit %.0f: all at once is %+v of %+v", limit, w, c)
		}
		tableOfAllAtOnce(t, c, history)
		if n := len(history); history[n-1].Phase != report.AllAtOnce || history[n-2].Phase != report.AllAtOnce ||
			!strings.Contains(c.Sentence, "all at once the device does not carry them") {
			t.Errorf("limit %.0f: loss was not seen twice, or isn't told: %s", limit, c.Sentence)
		}
	}
}

// asIfOf is a procedure that concludes the same of a direction whatever its windows show, and notes the
// evidence of the windows that it is shown.
type asIfOf struct {
	procedure.Procedure

	conclusions map[string]procedure.Conclusion
	shown       map[string][]report.DirectionEvidence
}

func (f asIfOf) Bound() procedure.Bound { return procedure.Bound{} }

func (f asIfOf) Next(history []report.Window) procedure.Step {
	return procedure.Step{End: len(history) > 0, Phase: report.Ramping}
}

func (f asIfOf) Conclude(history []report.Window) procedure.Conclusion {
	if len(history) == 0 {
		return procedure.Conclusion{Window: procedure.NoWindow, Lossy: procedure.NoWindow}
	}
	name := history[0].Varied
	if e := history[0].Evidence; e != nil && f.shown != nil {
		f.shown[name] = e.Directions
	}
	return f.conclusions[name]
}

// varied are a window of each direction, and one of both at once.
func varied() (history []report.Window) {
	for i, name := range []string{westEast, eastWest, ""} {
		history = append(history, report.Window{Number: i + 1, Phase: report.Ramping, Varied: name,
			Quality: report.Good,
			Directions: []report.Direction{{From: "west", To: "east", Quality: report.Good}, {From: "east", To: "west",
				Quality: report.Good}},
			Evidence: &report.Evidence{Directions: []report.DirectionEvidence{{Foreign: 1}, {Foreign: 2}}}})
	}
	return history
}

// All together is confirmed where each direction is, and each direction's own sections bear its name.
func TestTheWholeIsAsCertainAsTheLeastCertainDirection(t *testing.T) {
	for name, confirmed := range map[string][2]bool{"both": {true, true}, "the second": {false, true},
		"the first": {true, false}} {
		found := map[string]procedure.Conclusion{}
		for i, direction := range []string{westEast, eastWest} {
			conclusion := procedure.Conclusion{Reason: report.LossAboveLimit, Window: 0, Lossy: 0, Claim: report.Claim{Saturated: true, Confirmed: confirmed[i]}}
			for _, name := range []string{"NDR", "PDR"} {
				conclusion.Goals = append(conclusion.Goals, procedure.GoalConclusion{Conclusion: conclusion, Name: name})
			}
			conclusion.Sections = []report.Section{{Title: "Bounds of each goal"}}
			found[direction] = conclusion
		}
		c := eachdirection.New(procedureOf(),
			func(plan.Procedure) procedure.Procedure { return asIfOf{conclusions: found} }).Conclude(varied())
		if !c.Saturated || c.Confirmed != (confirmed[0] && confirmed[1]) {
			t.Errorf("confirmed is %s, and of both together it is %t", name, c.Confirmed)
		}
		if len(c.Goals) != 2 || c.Goals[1].Confirmed || len(c.Sections) != 3 ||
			c.Sections[1].Title != "Bounds of each goal, "+eastWest {
			t.Errorf("%+v, sections %+v", c.Goals, c.Sections)
		}
	}
}

// The search of one direction is shown the evidence of that direction.
func TestADirectionIsJudgedByItsOwnEvidence(t *testing.T) {
	f := asIfOf{shown: map[string][]report.DirectionEvidence{}}
	eachdirection.New(procedureOf(), func(plan.Procedure) procedure.Procedure { return f }).Conclude(varied())
	for i, name := range []string{westEast, eastWest} {
		if got := f.shown[name]; len(got) != 1 || got[0].Foreign != int64(i+1) {
			t.Errorf("%s is judged by %+v", name, got)
		}
	}
}

// With the others at a load of their own, a shared limit is what that leaves.
func TestTheOthersAtALoadOfTheirOwn(t *testing.T) {
	p := eachdirection.New(procedureOf(otherLoad(units.One/10)), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, shared(12_000))
	for i, d := range p.Conclude(history).Directions {
		if low, high := interval(d, i, history); !encloses(10_000, low, high) {
			t.Errorf("direction %d is %.0f to %.0f, and 12000 less 2000 are left of the limit", i, low, high)
		}
	}
}

// Nothing is sent in the others at 0 %, all that is told of them judges nothing, and the loads of all at once
// are those of the answers.
func TestTheLoadsOfTheOthers(t *testing.T) {
	for _, background := range []units.Ratio{0, units.One / 20} {
		p := eachdirection.New(procedureOf(otherLoad(background)), aRamp)
		var history []report.Window
		for s := p.Next(nil); !s.End; s = p.Next(history) {
			for i, name := range []string{westEast, eastWest} {
				switch got := s.LoadOf(i); {
				case s.Phase == report.WarmUp && got != units.One, s.Varied == name && got != s.Load, s.Varied != "" &&
					s.Varied != name && got != background:
					t.Fatalf("%s of %s: direction %d is at %s", s.Phase, s.Varied, i, got)
				case s.Phase == report.AllAtOnce && got != history[p.Conclude(history).Directions[i].Window].Load:
					t.Fatalf("all at once, direction %d is at %s", i, got)
				}
			}
			history = append(history, separate(9000, 4000).Window(s, len(history)))
		}
	}
}

func TestWhatIsClaimedOfAllTogether(t *testing.T) {
	final := func(quality report.Quality, n int) proceduretest.Edit { // of the windows of all at once
		count := 0
		return func(_ int, w *report.Window) {
			if w.Phase != report.AllAtOnce {
				return
			}
			if count++; count <= n {
				w.Quality = quality
				for i := range w.Directions {
					w.Directions[i].Quality = quality
				}
			}
		}
	}
	for name, c := range map[string]struct {
		device    proceduretest.Paired
		edits     []proceduretest.Edit
		saturated bool
		reason    report.Reason
		windows   int // of all at once
	}{
		"both limits": {separate(9000, 4000), nil, true, report.LossAboveLimit, 1},
		"lost once, and not again": {separate(9000, 4000), []proceduretest.Edit{final(report.Lossy, 1)},
			true, report.LossAboveLimit, 3},
		"lost twice": {separate(9000, 4000), []proceduretest.Edit{final(report.Lossy, 2)}, false, report.LoadHeld, 2},
		"void once": {separate(9000, 4000), []proceduretest.Edit{final(report.Invalid, 1)},
			true, report.LossAboveLimit, 2},
		"always void": {separate(9000, 4000), []proceduretest.Edit{final(report.Invalid, 9)},
			false, report.Inconclusive, 3},
		"lost once, and then void": {separate(9000, 4000), []proceduretest.Edit{final(report.Invalid, 9),
			final(report.Lossy, 1)}, false, report.Inconclusive, 4},
		"one direction reached its target": {separate(1e9, 4000), nil, false, report.TargetReached, 1},
		"both did":                         {separate(1e9, 1e9), nil, false, report.TargetReached, 1},
		"a generator that is too weak for one": {throttled(separate(1e9, 4000), 9000), nil, false,
			report.GeneratorLimited, 3},
		"it offers less once where all is held": {separate(9000, 4000), []proceduretest.Edit{final(report.Short, 1)},
			true, report.LossAboveLimit, 2},
		"it always does": {separate(9000, 4000), []proceduretest.Edit{final(report.Short, 9)},
			false, report.GeneratorLimited, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := eachdirection.New(procedureOf(), aRamp)
			history, trace := proceduretest.CarryOutBoth(t, p, c.device, c.edits...)
			got := p.Conclude(history)
			windows := len(slices.DeleteFunc(slices.Clone(history),
				func(w report.Window) bool { return w.Phase != report.AllAtOnce }))
			if got.Saturated != c.saturated || got.Reason != c.reason || windows != c.windows ||
				got.Window == procedure.NoWindow {
				t.Errorf("%+v after %d windows of all at once, want saturated %t, %s after %d\n%s", got, windows,
					c.saturated, c.reason, c.windows, strings.Join(trace, "\n"))
			}
		})
	}
}

// One window tells of all at once: of those that lost frames the one in which most came back, as a disturbance
// only takes away; where none could be judged, the answer of the direction that brings most.
func TestTheWindowThatTellsOfAllTogether(t *testing.T) {
	lossy := func(received ...int64) proceduretest.Edit { // in the windows of all at once, from west to east
		return func(_ int, w *report.Window) {
			if w.Phase != report.AllAtOnce || len(received) == 0 {
				return
			}
			w.Quality, w.Directions[0].Quality, w.Directions[0].Received.PacketsPerSecond = report.Lossy, report.Lossy,
				received[0]
			received = received[1:]
		}
	}
	for name, c := range map[string]struct {
		device proceduretest.Paired
		edit   proceduretest.Edit
		want   func(history []report.Window, c procedure.Conclusion) int
	}{
		"more came back at first": {separate(9000, 4000), lossy(8000, 7000), func(history []report.Window,
			_ procedure.Conclusion) int {
			return len(history) - 2
		}},
		"more came back at last": {separate(9000, 4000), lossy(7000, 8000), func(history []report.Window,
			_ procedure.Conclusion) int {
			return len(history) - 1
		}},
		"west brings most, none tell": {separate(9000, 4000), void,
			func(_ []report.Window, c procedure.Conclusion) int { return c.Directions[0].Window }},
		"east brings most, none tell": {separate(4000, 9000), void,
			func(_ []report.Window, c procedure.Conclusion) int { return c.Directions[1].Window }},
	} {
		t.Run(name, func(t *testing.T) {
			p := eachdirection.New(procedureOf(), aRamp)
			history, _ := proceduretest.CarryOutBoth(t, p, c.device, c.edit)
			got := p.Conclude(history)
			if want := c.want(history, got); got.Window != want {
				t.Errorf("window %d tells, want %d of %d: %+v", got.Window, want, len(history), got)
			}
		})
	}
}

// void makes nothing of the windows in which all is held at once.
func void(_ int, w *report.Window) {
	if w.Phase == report.AllAtOnce {
		w.Quality, w.Directions[0].Quality = report.Invalid, report.Invalid
	}
}

// Where no load is confirmed, one that is too much for all together isn't either.
func TestALoadThatIsTooMuchIsConfirmedAsTheRestIs(t *testing.T) {
	p := eachdirection.New(procedureOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = 0 }), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, shared(10_000))
	if c := p.Conclude(history); c.Reason != report.LoadHeld || c.Confirmed {
		t.Errorf("%+v", c)
	}
}

// All at once is a trial where a confirmation was one, as edges of a held window may hide more loss than the
// limit; where confirmations had edges it has them, too.
func TestAllAtOnceIsATrialWhereAConfirmationWas(t *testing.T) {
	for edges, want := range map[int64]procedure.Kind{0: procedure.Trial, 1: procedure.Hold} {
		p := eachdirection.New(procedureOf(), aRamp)
		history, _ := proceduretest.CarryOutBoth(t, p, separate(9000, 4000), func(_ int, w *report.Window) {
			for i := range w.Directions {
				w.Directions[i].EdgeFrames = edges
			}
		})
		if s := p.Next(history[:len(history)-1]); s.Phase != report.AllAtOnce || s.Kind != want {
			t.Errorf("confirmed with %d frames at edges, it is %+v, want a %s", edges, s, want)
		}
	}
}

// What all at once may have lost beyond the limit is told, also where no direction's own answer leaves anything open.
func TestWhatAllAtOnceMayHideIsTold(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, separate(9000, 4000), func(_ int, w *report.Window) {
		if w.Phase == report.AllAtOnce {
			w.Directions[1].LossRatioMin, w.Directions[1].LossRatioMax = 0, units.One/50
		}
	})
	if c := p.Conclude(history); !strings.Contains(c.Sentence, "up to 2 % may be lost") {
		t.Error(c.Sentence)
	}
}

// That one direction came back up to its target says nothing of another one, in which the generator was too
// weak: all together didn't reach what was asked for.
func TestAllThatWasAskedForIsOfEveryDirection(t *testing.T) {
	weakBack := func(_ int, asked [2]float64) (offered, received [2]float64) {
		sent := [2]float64{asked[0], min(asked[1], 6000)}
		return sent, sent
	}
	p := eachdirection.New(procedureOf(), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, weakBack)
	if c := p.Conclude(history); c.Reason != report.GeneratorLimited ||
		c.Directions[0].Reason != report.TargetReached || c.Directions[1].Reason != report.GeneratorLimited {
		t.Errorf("%s of %+v", c.Reason, c.Directions)
	}
}

// Where the others were held above what they carry, each limit is what they left: all limits at once fit
// easily, and are not the most that the device carries, also where a generator sent less of them than it was
// asked for.
func TestLimitsThatOthersCrowdedOutAreNoLimitOfAllTogether(t *testing.T) {
	for _, atOnce := range []report.Quality{report.Good, report.Short} {
		p := eachdirection.New(procedureOf(otherLoad(units.One*4/10)), aRamp)
		// of which the others have 8000
		history, _ := proceduretest.CarryOutBoth(t, p, shared(10_000), func(_ int, w *report.Window) {
			if w.Phase == report.AllAtOnce {
				w.Quality, w.Directions[0].Quality = atOnce, atOnce
			}
		})
		c := p.Conclude(history)
		if history[c.Window].Quality != atOnce || c.Detail != report.OthersHeldAbove || c.Saturated ||
			c.Reason != report.Inconclusive ||
			!strings.Contains(c.Sentence, "the sum is a lower bound") {
			t.Errorf("%+v: %s", c, c.Sentence)
		}
	}
}

// A direction that has no clean load has no figure, whatever the other one has, and nothing is held together.
func TestADirectionThatNothingIsCleanOf(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	dead := func(_ int, asked [2]float64) (offered, received [2]float64) {
		return asked, [2]float64{min(asked[0], 9000), asked[1] / 2}
	}
	history, _ := proceduretest.CarryOutBoth(t, p, dead)
	c := p.Conclude(history)
	if c.Window != procedure.NoWindow || c.Reason != report.NoCleanLoad || len(c.Sections) > 0 ||
		!c.Directions[0].Saturated || c.Directions[1].Window != procedure.NoWindow {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(c.Sentence, eastWest+": no load of it was clean") || !strings.Contains(c.Sentence, westEast+
		": 9.00 kpps") {
		t.Errorf("the sentence is %q", c.Sentence)
	}
}

func TestNothingCameBackInTheWarmUp(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	silent := func(_ int, asked [2]float64) (offered, received [2]float64) { return asked, [2]float64{asked[0], 0} }
	history, _ := proceduretest.CarryOutBoth(t, p, silent)
	if c := p.Conclude(history); len(history) != 1 || c.Reason != report.NotMeasured ||
		!strings.Contains(c.Ending, "none of") {
		t.Errorf("after %d windows %+v", len(history), c)
	}
}

// Traffic may rest in each direction's ramp as often as in one alone.
func TestTrafficMayRestInEachDirection(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	doubled := func(_ int, w *report.Window) {
		if w.Varied == "" {
			return
		}
		w.Quality = report.Invalid
		for i := range w.Directions {
			w.Directions[i].Quality, w.Directions[i].Returned.Packets = report.Invalid, 2*w.Directions[i].Sent.Packets
		}
	}
	// which holds the bound against what is asked for
	history, _ := proceduretest.CarryOutBoth(t, p, separate(9000, 4000), doubled)
	rests := 0
	for n := range history {
		if p.Next(history[:n]).Rested {
			rests++
		}
	}
	if single := ramp.New(procedureOf()).Bound().Rests; rests != 2*single || p.Bound().Rests != 2*single {
		t.Errorf("traffic rested %d times, and may %d times, want twice %d", rests, p.Bound().Rests, single)
	}
}

// A run that is cut short says what it has found so far.
func TestARunThatIsCutShort(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, separate(9000, 4000))
	first := p.Conclude(history).Directions[0]
	for n := range history {
		c := p.Conclude(history[:n])
		if len(c.Sections) > 0 && n < len(history) || n > first.Window &&
			slices.IndexFunc(history, func(w report.Window) bool { return w.Varied == eastWest }) <= n &&
			c.Directions[0] != first {
			t.Fatalf("after %d of %d windows: %+v", n, len(history), c)
		}
	}
}

func TestHowLongItTakes(t *testing.T) {
	p := procedureOf(func(p *plan.Procedure) { p.Ramp.HoldDuration = plan.Duration(30 * time.Second) })
	sequence := eachdirection.New(p, aRamp)
	if got, want := sequence.Usual(), (5+2*(40+10+30)+10)*time.Second+500*time.Millisecond; got != want {
		t.Errorf("usually %s, want %s", got, want)
	}
	history, _ := proceduretest.CarryOutBoth(t, sequence, separate(1e9, 1e9)) // which holds it to its bound
	var took time.Duration
	for _, w := range history {
		took += w.Duration.Std()
	}
	// a hold at the target needs no confirmation, and a window is without its settling
	if took > sequence.Usual() || took < sequence.Usual()*7/10 {
		t.Errorf("without surprises it takes %s, usually %s", took, sequence.Usual())
	}
	if got, want := sequence.Describe().Parts,
		"warm-up, ramp, confirmation and hold of each of 2 directions, and all of them together"; got != want {
		t.Errorf("its parts are %q, want %q", got, want)
	}
}

func TestAnyHistoryEnds(t *testing.T) {
	proceduretest.AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return eachdirection.New(procedureOf(otherLoad(units.Ratio(rnd.IntN(2))*units.One/10), func(p *plan.Procedure) {
			p.Ramp.WarmupDuration *= plan.Duration(rnd.IntN(2))
			p.Ramp.ConfirmDuration *= plan.Duration(rnd.IntN(2))
			p.Ramp.HoldDuration = plan.Duration(rnd.IntN(2)) * plan.Duration(time.Second)
		}), aRamp)
	})
}

// A sum that is open because a direction's own search could judge nothing above its answer has nothing to do with loads
// of other directions.
func TestASumIsOpenForItsDirectionsReason(t *testing.T) {
	p := eachdirection.New(procedureOf(), aRamp)
	history, _ := proceduretest.CarryOutBoth(t, p, separate(9000, 4000), func(_ int, w *report.Window) {
		if w.Varied == eastWest && w.Directions[1].Offered.PacketsPerSecond > 3000 {
			w.Quality, w.Directions[1].Quality = report.Invalid, report.Invalid
		}
	})
	c := p.Conclude(history)
	if c.Directions[1].Reason != report.Inconclusive || c.Reason != report.Inconclusive || c.Detail != "" {
		t.Errorf("%s, %s of %+v", c.Reason, c.Detail, c.Directions)
	}
}
