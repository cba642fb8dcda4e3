package soak_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/procedure/soak"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// highest is the highest load of these soaks, in packets per second.
const highest = 1_000_000

// soaked is a soak for one frame of a hundred thousand, of so many trials that begin with 2 s.
func soaked(trials int, options ...func(*plan.Soak)) soak.Soak {
	s := plan.Soak{LossRatio: units.One / 100_000, FirstTrialDuration: plan.Duration(2 * time.Second),
		TrialGrowth: plan.Duration(100 * time.Millisecond), WarmupDuration: plan.Duration(time.Second),
		MinRate: units.Rate{Kind: units.Packets, Micros: highest * 10_000}, MaxRate: units.Rate{Kind: units.Packets,
			Micros: highest * 1_000_000}}
	for n := range trials {
		s.Duration += s.FirstTrialDuration + plan.Duration(n)*s.TrialGrowth
	}
	for _, o := range options {
		o(&s)
	}
	return soak.New(plan.Procedure{Type: plan.TypeSoak, Soak: &s})
}

// device loses frames by chance: a share that is a function of the load on average, by itself or in clumps,
// more in some trials and less in others.
type device struct {
	words  string
	loses  func(load float64) float64
	clump  int64   // frames that are lost at once
	varies float64 // standard deviation of the logarithm of what it loses, from trial to trial
	sends  float64 // the most that its generator does; 0: all
}

func curve(shape losscurve.Shape, capacity, spread float64) func(float64) float64 {
	c := losscurve.Curve{Shape: shape, Capacity: capacity, Spread: spread * capacity}
	return func(load float64) float64 { return math.Exp(c.LogLossRatio(load)) }
}

func sharp(capacity float64) func(float64) float64 {
	return func(load float64) float64 { return max(0, 1-capacity/load) }
}

// critical is the truth: where the device loses the ratio on average.
func (d device) critical(ratio float64) float64 {
	low, high := highest*0.001, highest*4.0
	for range 60 {
		if middle := (low + high) / 2; d.loses(middle) > ratio {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// poisson draws a number of this average.
func poisson(rnd *rand.Rand, mean float64) int64 {
	if mean > 40 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*rnd.NormFloat64())))
	}
	n, chance := int64(0), math.Exp(-mean)
	for p := rnd.Float64(); p > chance; p *= rnd.Float64() {
		n++
	}
	return n
}

// shows is what a direction shows of a step.
func (d device) shows(rnd *rand.Rand, s procedure.Step) report.Direction {
	asked := s.Load.Float() * highest
	if s.Phase == report.WarmUp {
		asked = highest / 100
	}
	load := asked
	if d.sends > 0 {
		load = min(load, d.sends)
	}
	m := report.Direction{Intended: report.Flow{PacketsPerSecond: int64(math.Round(asked))},
		Offered: report.Flow{PacketsPerSecond: int64(math.Round(load))}, Quality: report.Good}
	m.Sent.Packets = int64(load * s.Judge.Seconds())
	mean := d.loses(load) * float64(m.Sent.Packets) * math.Exp(d.varies*rnd.NormFloat64()-d.varies*d.varies/2)
	lost := min(m.Sent.Packets, max(1, d.clump)*poisson(rnd, mean/float64(max(1, d.clump))))
	m.Returned.Packets = m.Sent.Packets - lost
	m.LossRatio = units.RatioOf(lost, m.Sent.Packets)
	m.LossRatioMin = m.LossRatio
	if lost > 0 {
		m.Quality = report.Lossy
	}
	return m
}

// carryOut carries a soak out against a device in each direction.
func carryOut(t *testing.T, seed uint64, p procedure.Procedure, devices ...device) []report.Window {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 9))
	var history []report.Window
	for {
		s := p.Next(history)
		if s.End {
			return history
		}
		history = append(history, windowOf(rnd, s, len(history), devices...))
	}
}

func windowOf(rnd *rand.Rand, s procedure.Step, n int, devices ...device) report.Window {
	w := report.Window{Number: n + 1, Phase: s.Phase, Load: s.Load, Duration: plan.Duration(s.Judge),
		Quality: report.Good}
	for i, d := range devices {
		m := d.shows(rnd, s)
		m.From, m.To = []string{"west", "east"}[i], []string{"east", "west"}[i]
		w.Directions = append(w.Directions, m)
	}
	return w
}

// The devices that the judge doesn't know. Those of the first five lose as one of the functions says, or as
// something between and beyond them; the others break what is assumed.
var devices = []device{
	{words: "stretch, 1 %", loses: curve(losscurve.Stretch, 370_000, 0.01)},
	{words: "erf, 3 %", loses: curve(losscurve.Erf, 370_000, 0.03)},
	{words: "stretch, 0.2 %", loses: curve(losscurve.Stretch, 370_000, 0.002)},
	{words: "erf, 0.5 %", loses: curve(losscurve.Erf, 370_000, 0.005)},
	{words: "sharp limit", loses: sharp(370_000)},
	{words: "in clumps of 32", loses: curve(losscurve.Stretch, 370_000, 0.01), clump: 32},
	{words: "varying by a factor of 2", loses: curve(losscurve.Stretch, 370_000, 0.01), varies: 0.7},
	{words: "twelfth power", loses: func(load float64) float64 {
		return 1e-3*math.Pow(min(1, load/370_000), 12) + 0.999*sharp(370_000)(load)
	}},
}

// trialsOfARun is how many trials each run of a row has.
const trialsOfARun = 20

// row counts how often the truth lies within the interval that is claimed, of so many runs, and how wide that
// is on average, relative to the truth.
func row(t *testing.T, d device, runs int) (string, int) {
	t.Helper()
	truth, enclosed, short, width := d.critical(1e-5), 0, 0, 0.0
	p := soaked(trialsOfARun)
	for seed := range runs {
		c := p.Conclude(carryOut(t, uint64(seed), p, d))
		l := c.Estimates[0]
		low, high := l.Low.Float(), math.Inf(1)
		if l.High != "" {
			high = l.High.Float()
		}
		switch {
		case truth < low:
			short++
		case truth <= high:
			enclosed++
		}
		width += min(high, highest) - low
	}
	return fmt.Sprintf("| %s | %.0f | %.0f | %.0f | %.2f |\n", d.words, 100*float64(enclosed)/float64(runs),
		100*float64(short)/float64(runs), 100*float64(runs-enclosed-short)/float64(runs),
		100*width/float64(runs)/truth), enclosed
}

// TestTheTruthIsWithinTheInterval plays a few runs of each kind of device in the gate; the full tier counts how
// often it is so.
func TestTheTruthIsWithinTheInterval(t *testing.T) {
	for _, d := range devices {
		if _, enclosed := row(t, d, 1); enclosed < 1 {
			t.Errorf("%s: %d of 1", d.words, enclosed)
		}
	}
}

// TestTheIntervalOfEachFunctionHas95PercentOfItsFit, and is as much wider as loads are rounded.
func TestTheIntervalOfEachFunctionHas95PercentOfItsFit(t *testing.T) {
	p := soaked(12)
	history := carryOut(t, 3, p, devices[0])
	var trials []losscurve.Trial
	for _, w := range history[1:] {
		d := w.Directions[0]
		trials = append(trials, losscurve.Trial{Load: float64(d.Offered.PacketsPerSecond), Sent: d.Sent.Packets,
			Lost: d.Sent.Packets - d.Returned.Packets})
	}
	for i, s := range soak.CriticalLoads(p, history)[0].Shapes {
		fit := losscurve.FitTrials(losscurve.Shapes[i], trials, losscurve.Question{LossRatio: 1e-5,
			Lowest: highest / 100, Highest: highest})
		if low, high := fit.Quantile(0.025)-1, fit.Quantile(0.975)+1; math.Abs(s.Low.Float()-low) > 0.01 ||
			math.Abs(s.High.Float()-high) > 0.01 {
			t.Errorf("%+v, want %.2f to %.2f", s, low, high)
		}
	}
}

// TestADeviceThatLosesNothingHasALowerBound, of frames that were sent, and no estimate.
func TestADeviceThatLosesNothingHasALowerBound(t *testing.T) {
	p := soaked(10)
	history := carryOut(t, 1, p, device{loses: func(float64) float64 { return 0 }})
	c := p.Conclude(history)
	l := soak.CriticalLoads(p, history)[0]
	if c.Reason != report.TargetReached || !c.Confirmed || l.Low != "1000000" || l.High != "" ||
		l.PacketsPerSecond != "" || l.Lost != 0 {
		t.Errorf("%+v: %+v", c, l)
	}
	for i, w := range history[1:] {
		if w.Load != units.One {
			t.Errorf("trial %d at %s", i, w.Load)
		}
	}
	if c.Window != len(history)-1 {
		t.Errorf("its figures are of window %d, want the latest of the trials at that load, the longest", c.Window)
	}
	if want := "lower bound: 24,500,000 frames were sent in 10 trials, and none was lost: with 95 % confidence the " +
		"device loses less than 0.00001 at 1.00 Mpps, the highest load asked for"; !strings.Contains(c.Sentence, want) {
		t.Errorf("%s", c.Sentence)
	}
}

// Where the generator sends less than asked for and nothing is lost, what it sent is a lower bound.
func TestAGeneratorsLimitIsNotTheDevices(t *testing.T) {
	p := soaked(10)
	c := p.Conclude(carryOut(t, 1, p, device{loses: sharp(700_000), sends: 500_000}))
	if l := c.Estimates[0]; c.Reason != report.GeneratorLimited || l.Low != "500000" || l.High != "" ||
		!strings.Contains(c.Sentence, "the generators send no more, of 1.00 Mpps asked for") {
		t.Errorf("%s: %+v: %s", c.Reason, l, c.Sentence)
	}
}

// TestTooFewFramesSayNothing of a loss ratio that it takes more to see.
func TestTooFewFramesSayNothing(t *testing.T) {
	p := soaked(5, func(s *plan.Soak) { s.LossRatio = 10 })
	for _, d := range devices[:1] {
		c := p.Conclude(carryOut(t, 1, p, d))
		if c.Window != procedure.NoWindow || c.Reason != report.NotMeasured || c.Estimates != nil || c.Sections != nil ||
			!strings.Contains(c.Sentence, "and a loss ratio of 0.00000001 takes 300,000,000 to see") {
			t.Errorf("%+v: %s", c, c.Sentence)
		}
	}
}

// TestWhatCannotBeJudgedIsLeftOut, and asked again.
func TestWhatCannotBeJudgedIsLeftOut(t *testing.T) {
	p, rnd := soaked(12), rand.New(rand.NewPCG(1, 1))
	history, trace := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
		w := windowOf(rnd, s, n, devices[0])
		if n == 3 || n == 7 {
			w.Directions[0].Returned.Packets = 0
			Void("somebody else sent", n)(n, &w)
		}
		return w
	})
	c := p.Conclude(history)
	if l := soak.CriticalLoads(p, history)[0]; l.Trials != len(history)-3 ||
		!strings.Contains(c.Sentence, "2 trials that could not be judged are left out") {
		t.Errorf("%d windows, %+v: %s", len(history), l, c.Sentence)
	}
	if history[3].Load != history[4].Load || !strings.Contains(strings.Join(trace, "\n"),
		"window 4 is repeated, as it could not be judged: somebody else sent") {
		t.Errorf("%s, then %s: %q", history[3].Load, history[4].Load, trace)
	}
	trials, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
		w := windowOf(rnd, s, n, devices[0])
		if n > 0 {
			Void("somebody else sent", n)(n, &w)
		}
		return w
	})
	if c := p.Conclude(trials); len(trials) != 6 || !c.Finished || c.Reason != report.NotMeasured {
		t.Errorf("%d windows: %+v", len(trials), c)
	}
}

// What others on the machine may have had a part in bounds the critical load from below, as if the device had lost it,
// and not from above.
func TestWhatOthersMayHaveLostWidensTheInterval(t *testing.T) {
	p := soaked(12)
	history := carryOut(t, 3, p, devices[0])
	single := soak.CriticalLoads(p, history)[0]
	for i := range history {
		history[i].Directions[0].DisturbedFrames = 1000
	}
	shared := soak.CriticalLoads(p, history)[0]
	if shared.Low != single.Low || shared.Doubtful == 0 || shared.High != "" &&
		shared.High.Float() <= single.High.Float() {
		t.Errorf("%+v, disturbed %+v", single, shared)
	}
}

// A trial that is Invalid as it lost frames counts as one that lost them for the lower end, and as one that lost none
// for the upper; else trials that were disturbed alike and lost none would count alone.
func TestLossInDoubtIsNotLeftOut(t *testing.T) {
	p := soaked(12)
	history := carryOut(t, 3, p, devices[0])
	single := soak.CriticalLoads(p, history)[0]
	for i := range history {
		w := &history[i]
		if w.Evidence = (&report.Evidence{Directions: make([]report.DirectionEvidence, 1)}); w.Phase == report.Trial &&
			w.Directions[0].LossRatio > 0 && w.Load < units.One/2 {
			w.Quality, w.Directions[0].Quality = report.Invalid, report.Invalid
		}
	}
	doubted := soak.CriticalLoads(p, history)[0]
	if doubted.Trials != single.Trials || doubted.Low != single.Low || doubted.Lost != single.Lost ||
		doubted.Doubtful == 0 || doubted.High != "" && doubted.High.Float() <= single.High.Float() {
		t.Errorf("%+v, in doubt %+v", single, doubted)
	}
}

// offered is a trial of one direction that was offered and lost so much in ten seconds.
func offered(load units.Ratio, pps, lost int64) report.Window {
	m := report.Direction{From: "west", To: "east", Quality: report.Good,
		Intended: report.Flow{PacketsPerSecond: int64(float64(load) / float64(units.One) * highest)},
		Offered:  report.Flow{PacketsPerSecond: pps}}
	m.Sent.Packets, m.Returned.Packets = 10*pps, 10*pps-lost
	m.LossRatio, m.LossRatioMin = units.RatioOf(lost, 10*pps), units.RatioOf(lost, 10*pps)
	return report.Window{Phase: report.Trial, Load: load, Quality: report.Good, Directions: []report.Direction{m}}
}

func ofTrials(trials ...report.Window) []report.Window {
	warm := report.Window{Phase: report.WarmUp, Load: units.One / 100, Quality: report.Good,
		Directions: []report.Direction{{From: "west", To: "east", Quality: report.Good}}}
	warm.Directions[0].Sent.Packets, warm.Directions[0].Returned.Packets = 1000, 1000
	return append([]report.Window{warm}, trials...)
}

// TestNoLowerEndIsAboveWhatWasOffered, and where the upper end is open there is no estimate: the result is a
// lower bound, and the generators are named where they were the limit.
func TestNoLowerEndIsAboveWhatWasOffered(t *testing.T) {
	p := soaked(10)
	for name, c := range map[string]struct {
		pps    int64
		reason report.Reason
		phrase string
	}{
		"all was offered": {highest, report.LoadEstimated, "no load that was offered is known to be above that point"},
		"the generators' most": {highest / 2, report.GeneratorLimited,
			"and the generators send no more, of 1.00 Mpps asked for"},
	} {
		trials := ofTrials(offered(units.One, c.pps, 1))
		for range 6 {
			trials = append(trials, offered(units.One, c.pps, 0))
		}
		got := p.Conclude(trials)
		l := got.Estimates[0]
		if l.Low.Float() > float64(c.pps) || l.Low == "0" || l.High != "" || l.PacketsPerSecond != "" ||
			l.Deviation != "" || got.Reason != c.reason || !strings.Contains(got.Sentence, c.phrase) ||
			strings.Contains(got.Sentence, "function") {
			t.Errorf("%s: %s: %+v: %s", name, got.Reason, l, got.Sentence)
		}
	}
}

// TestEndsAreRoundedOutward, and as far apart as loads are unsure.
func TestEndsAreRoundedOutward(t *testing.T) {
	p := soaked(12)
	history := carryOut(t, 3, p, devices[2])
	exact := soak.CriticalLoads(p, history)[0]
	for i := range history {
		e := report.DirectionEvidence{Offered: 100 * units.PacketPerSecond, MostOffered: 100 * units.PacketPerSecond}
		if i == 1 {
			e.MostOffered += 5000 * units.PacketPerSecond
		}
		history[i].Evidence = &report.Evidence{Directions: []report.DirectionEvidence{e}}
	}
	unsure := soak.CriticalLoads(p, history)[0]
	if low, high := exact.Low.Float()-unsure.Low.Float(),
		unsure.High.Float()-exact.High.Float(); math.Abs(low-4999) > 1 || math.Abs(high-4999) > 1 {
		t.Errorf("%+v, unsure %+v", exact, unsure)
	}
	low, high := math.Inf(1), 0.0
	for _, s := range exact.Shapes {
		low, high = min(low, s.Low.Float()), max(high, s.High.Float())
	}
	if len(exact.Low) < 7 || exact.Low.Float() > low || exact.High.Float() < high {
		t.Errorf("%+v", exact)
	}
	c := p.Conclude(ofTrials(offered(units.One, 1_234_567, 0)))
	if c.Estimates[0].Low != "1234567" {
		t.Errorf("%+v", c.Estimates[0])
	}
}

// What background may hide is lost for the lower end, and not for the upper. Frames without a sender, or that came back
// to another replica, show that counters are wrong.
func TestBackgroundIsCountedWhateverWasLost(t *testing.T) {
	p := soaked(10)
	hidden := func(lost int64, e report.DirectionEvidence) report.Window {
		w := offered(units.One, highest, lost)
		w.Quality, w.Directions[0].Quality, w.Evidence = report.Invalid, report.Invalid,
			&report.Evidence{Directions: []report.DirectionEvidence{e}}
		return w
	}
	for name, c := range map[string]struct {
		trial          report.Window
		trials         int
		lost, doubtful int64
	}{
		"it lost nothing":       {hidden(0, report.DirectionEvidence{Hidden: 500}), 2, 500, 500},
		"it lost some":          {hidden(50, report.DirectionEvidence{Hidden: 500}), 2, 550, 500},
		"whose loss is unclear": {hidden(200, report.DirectionEvidence{}), 2, 200, 200},
		"too many came back":    {hidden(-500, report.DirectionEvidence{}), 1, 0, 0},
		"another replica's": {hidden(50, report.DirectionEvidence{Surplus: []report.Surplus{{Sent: 1000,
			Returned: 1500, Unexplained: 500}}}), 1, 0, 0},
	} {
		l := soak.CriticalLoads(p, ofTrials(offered(units.One, highest, 0), c.trial))[0]
		if l.Trials != c.trials || l.Lost != c.lost || l.Doubtful != c.doubtful {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// Less may have been offered than was counted, whether something was lost or not.
func TestALowerBoundIsLowerByWhatIsUnsure(t *testing.T) {
	p := soaked(10)
	for lost, surely := range map[int64]bool{0: true, 1: false} {
		trials := ofTrials(offered(units.One, highest, lost))
		for range 6 {
			trials = append(trials, offered(units.One, highest, 0))
		}
		e := report.DirectionEvidence{Offered: highest * units.PacketPerSecond,
			MostOffered: (highest + 5000) * units.PacketPerSecond}
		trials[1].Evidence = &report.Evidence{Directions: []report.DirectionEvidence{e}}
		if l := p.Conclude(trials).Estimates[0]; l.High != "" || l.Low.Float() > highest-5000 || surely &&
			l.Low != "995000" {
			t.Errorf("%d lost: %+v", lost, l)
		}
	}
}

// TestOnlyTheHighestLoadIsCalledSo.
func TestOnlyTheHighestLoadIsCalledSo(t *testing.T) {
	p := soaked(10, func(s *plan.Soak) { s.LossRatio = units.One / 4_000_000 })
	c := p.Conclude(ofTrials(offered(units.One, highest, 0), offered(units.One/2, highest/2, 0)))
	if l := c.Estimates[0]; l.Low != "500000" ||
		!strings.Contains(c.Sentence, "500.00 kpps, by the trials at that load and above") {
		t.Errorf("%+v: %s", l, c.Sentence)
	}
}

// TestLoadsStayWithinTheBounds, trials get longer, and their lengths add up to the duration, whatever the
// device does; each direction has an answer of its own.
func TestLoadsStayWithinTheBounds(t *testing.T) {
	for seed, d := range devices[:tier.Times(2, len(devices))] {
		p := soaked(14)
		weaker := device{loses: sharp(610_000)}
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		history, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
			return windowOf(rnd, s, n, d, weaker)
		})
		sum := time.Duration(0)
		for i, w := range history[1:] {
			sum += w.Duration.Std()
			if w.Load > units.One || w.Load < units.One/100 ||
				w.Directions[0].Returned.Packets > w.Directions[0].Sent.Packets {
				t.Errorf("trial %d: %+v", i, w)
			}
			if i > 0 && i < len(history)-2 && w.Duration <= history[i].Duration {
				t.Errorf("trial %d lasts %s after %s", i, w.Duration.Std(), history[i].Duration.Std())
			}
		}
		if want := p.Bound().Time - time.Second; sum != want {
			t.Errorf("%s of %s", sum, want)
		}
		c := p.Conclude(history)
		for i, truth := range []float64{d.critical(1e-5), 610_000} {
			if l := soak.CriticalLoads(p, history)[i]; l.Low.Float() > truth*1.01 || l.High != "" && l.High.Float() < truth*0.99 ||
				l.Lost < 0 {
				t.Errorf("%s, direction %d: %+v, want %.0f", d.words, i, l, truth)
			}
		}
		if c.Reason != report.LoadEstimated {
			t.Errorf("%+v", c)
		}
	}
}

// Beside a direction that is estimated, one that lost nothing is a lower bound, in its reason as in the sentence.
func TestEachDirectionSaysWhetherItIsEstimatedOrOpen(t *testing.T) {
	p := soaked(14)
	for name, weaker := range map[string]struct {
		device
		reason report.Reason
		phrase string
	}{
		"it lost nothing": {device{loses: func(float64) float64 { return 0 }}, report.TargetReached,
			"east→west: lower bound: "},
		"its generator sends no more": {device{loses: func(float64) float64 { return 0 }, sends: 500_000},
			report.GeneratorLimited, "the generators send no more, of 1.00 Mpps asked for"},
		"it is estimated, and lower yet": {device{loses: sharp(200_000)}, report.LoadEstimated, "east→west: "},
	} {
		c := p.Conclude(carryOut(t, 1, p, devices[4], weaker.device))
		if len(c.Directions) != 2 || c.Reason != report.LoadEstimated ||
			c.Directions[0].Reason != report.LoadEstimated || c.Directions[1].Reason != weaker.reason ||
			c.Directions[1].Window != c.Window {
			t.Errorf("%s: %s: %+v", name, c.Reason, c.Directions)
		}
		if !strings.Contains(c.Sentence, "of them lost: estimate: 0.00001 is lost on average at") ||
			!strings.Contains(c.Sentence, weaker.phrase) {
			t.Errorf("%s: %s", name, c.Sentence)
		}
	}
}

// TestAnExtrapolatedDirectionIsNotConfirmed, and the other direction of the same soak is.
func TestAnExtrapolatedDirectionIsNotConfirmed(t *testing.T) {
	p := soaked(10)
	lossOf := func(lost int64) report.Window { return offered(units.One, highest, lost) }
	trials := ofTrials()
	for n := range int64(10) {
		w := lossOf(5_000_000) // half of what is sent, at each load: no trial is below the critical load
		direction := offered(units.One, highest, 0).Directions[0]
		direction.From, direction.To = "east", "west"
		if w.Directions = append(w.Directions, direction); n > 7 {
			w.Load = units.One / 2
		}
		trials = append(trials, w)
	}
	trials[0].Directions = append(trials[0].Directions, trials[0].Directions[0])
	c := p.Conclude(trials)
	if !c.Estimates[0].Extrapolated || c.Directions[0].Confirmed || !c.Directions[1].Confirmed || c.Confirmed ||
		!strings.Contains(c.Sentence, "not confirmed, as only ") {
		t.Errorf("%+v %+v: %s", c.Estimates[0], c.Directions, c.Sentence)
	}
}

// A trial at the lower end asks all functions, and the one after it a single one, which costs that much less.
func TestATrialFitsTheFunctionThatItAsksAlone(t *testing.T) {
	p := soaked(12)
	history := carryOut(t, 1, p, devices[0])
	cost := func(trials int) float64 {
		return testing.AllocsPerRun(1, func() { p.Next(history[:1+trials]) })
	}
	const approaches = 3 // trials whose loads no function chooses
	early, late := cost(approaches), cost(approaches+len(losscurve.Shapes))
	if early > 0.7*late {
		t.Errorf("a trial that asks one function allocates %.0f times, one that asks %d %.0f times", early,
			len(losscurve.Shapes), late)
	}
}

// A device that loses a share at each load has no critical load between the bounds.
func TestALossAtAnyLoadIsNoEstimate(t *testing.T) {
	p := soaked(20)
	c := p.Conclude(carryOut(t, 1, p, device{loses: func(float64) float64 { return 0.001 }}))
	if l := c.Estimates[0]; l.Low != "0" {
		t.Errorf("%+v: %s", l, c.Sentence)
	}
}

func TestAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return soaked(1+rnd.IntN(6), func(s *plan.Soak) {
			s.WarmupDuration = plan.Duration(rnd.Int64N(2) * int64(time.Second))
			s.TrialGrowth = plan.Duration(rnd.Int64N(int64(time.Second)))
		})
	})
}
