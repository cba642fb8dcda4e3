package measure

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// meanwhile judges a drawn window the other way, the oracle of Judge: each time between readings is held against
// the limit as it is read. It does so for several limits at once, as reading takes its time.
func (d drawn) meanwhile(limits []units.Ratio) []report.Window {
	pace := d.setup.Pace(d.span.Intended)
	fault := ""
	var ticks []tick
	lossy := make([][][]bool, len(limits)) // of each limit and direction, for each tick
	for n := range lossy {
		lossy[n] = make([][]bool, len(d.setup.Directions))
	}
	for _, readings := range d.recorded {
		if pace.latest != nil && fault == "" {
			fault = Span{Readings: Pairwise(pace.latest, readings)}.fault(d.setup.Directions)
		}
		if pace.latest != nil && fault == "" {
			ticks = append(ticks, pace.tick(readings))
			for i, direction := range d.setup.Directions {
				f := d.setup.figures(direction, Span{Readings: Pairwise(pace.latest, readings)}, i, true)
				for n, limit := range limits {
					lossy[n][i] = append(lossy[n][i], exceeds(f.surelyLost(), f.sent.Packets, limit))
				}
			}
		}
		pace.latest = readings
	}
	if why := d.span.fault(d.setup.Directions); why != "" {
		fault = why
	}
	windows := make([]report.Window, len(limits))
	for i, direction := range d.setup.Directions {
		f := d.setup.figures(direction, d.span, i, fault == "")
		for n, limit := range limits {
			m := report.Direction{From: direction.From, To: direction.To, Quality: report.Invalid}
			if fault == "" {
				m.Quality = f.byLimit(limit)
			}
			if m.Quality == report.Lossy && excusedMeanwhile(&f, ticks, lossy[n][i], i, len(pace.bursts()) > 0, limit) {
				m.Quality = report.Invalid
			}
			if lost, is := f.machines(limit); m.Quality == report.Lossy && is {
				m.Quality, m.MachineLost = report.Invalid, lost
			}
			windows[n].Directions = append(windows[n].Directions, m)
			windows[n].Quality, _ = Worst(windows[n].Directions)
		}
	}
	return windows
}

// byLimit is the quality by the counters at the edges.
func (f *figures) byLimit(limit units.Ratio) report.Quality {
	astray := len(f.shares) > 1 && slices.ContainsFunc(f.shares, func(s share) bool { return exceeds(s.returned-s.sent-s.edges-f.foreign, s.sent, limit) })
	switch sent := f.sent.Packets; {
	case sent <= 0, exceeds(-f.lost()-f.edges-f.foreign, sent, limit):
		return report.Invalid
	case exceeds(f.surelyLost(), sent, limit):
		return report.Lossy
	case exceeds(f.lost(), sent, limit) && (f.lost() > f.edges || f.receiveErrors+f.sendDrops+f.damaged > 0), f.hiddenLoss() > f.edges && exceeds(f.lost()+f.hiddenLoss(), sent, limit), astray:
		return report.Invalid
	case f.mostOffered < f.intended.Mul(minOffered):
		return report.Short
	}
	return report.Good
}

// excusedMeanwhile says that a direction's loss may be for bursts and gaps, from the ticks in which it was above
// the limit.
func excusedMeanwhile(f *figures, ticks []tick, lossy []bool, direction int, bursts bool, limit units.Ratio) bool {
	if len(ticks) == 0 {
		return false
	}
	var all []time.Duration
	for _, t := range ticks {
		all = append(all, t.took)
	}
	slices.Sort(all)
	longest := max(50*time.Millisecond, 3*all[len(all)/2])
	var gaps, calm, calmLossy, unseen int64
	for n, t := range ticks {
		switch {
		case t.took > longest:
			gaps++
			unseen += max(0, t.lost[direction])
		case !t.burst:
			calm++
			if lossy[n] {
				calmLossy++
			}
		}
	}
	switch {
	case !bursts && gaps == 0, calm >= 5 && 2*calmLossy > calm:
		return false
	case bursts:
		return true
	}
	return !exceeds(surelyLostOf(f.lost()-unseen, f.receiveErrors, f.edges*(1+gaps)), f.sent.Packets, limit)
}

// machines says that loss is the machine's that plays the device, and how much.
func (f *figures) machines(limit units.Ratio) (frames int64, is bool) {
	l := f.setup.Limit
	if l == nil || f.bucketTooShallow(*l) {
		return 0, false
	}
	reached := *l
	reached.PacketsPerSecond -= scale(l.PacketsPerSecond, 1, 200)
	reached.Layer2BitsPerSecond -= scale(l.Layer2BitsPerSecond, 1, 200)
	return max(0, f.surelyLost()-f.framesAbove(*l)), !exceeds(f.framesAbove(reached), f.sent.Packets, limit)
}

// limitsOf are limits to judge a window by, in order: usual ones, any, and those at which its answer may change.
func limitsOf(rnd *rand.Rand, w Window, p *Pace) []units.Ratio {
	limits := []units.Ratio{0, 1, units.One / 1000, units.One / 100, units.One, units.Ratio(rnd.Int64N(int64(units.One))), units.Ratio(rnd.Int64N(int64(units.One) / 1000))}
	for i, e := range w.counted.Evidence.Directions {
		d := direction{measured: w.counted.Directions[i], evidence: e}
		sent := d.measured.Sent.Packets
		for _, edge := range []units.Ratio{e.CalmLossRatio, lowestLimit(d.lost(), sent), lowestLimit(d.surelyLost(), sent), lowestLimit(d.lost()-e.LostInGaps, sent),
			lowestLimit(d.lost()+e.Hidden, sent)} {
			limits = append(limits, max(0, edge-1), edge, edge+1)
		}
		for range min(5, len(p.even.losses[i])) {
			limits = append(limits, oneOf(rnd, p.even.losses[i]...))
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// TestPropertyAWindowIsJudgedAfterwardsAsWhileItWasMeasured: one window, kept as evidence, answers for any limit
// what judging its readings by that limit does. At a higher limit no direction is worth less.
func TestPropertyAWindowIsJudgedAfterwardsAsWhileItWasMeasured(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		d := draw(rnd)
		span := d.span
		span.Pace = d.pace()
		w := d.setup.Window(span)
		var before report.Window
		limits := limitsOf(rnd, w, span.Pace)
		oracle := d.meanwhile(limits)
		for n, limit := range limits {
			got, want := Judge(w, Goal{MaxLossRatio: limit}), oracle[n]
			for i, m := range got.Directions {
				if m.Quality != want.Directions[i].Quality || m.MachineLost != want.Directions[i].MachineLost || got.Quality != want.Quality || m.Reason == "" {
					t.Fatalf("seed %d, limit %s, %s→%s: %s (%d lost by the machine): %s; while it was measured %s (%d)\n%+v", seed, limit, m.From, m.To, m.Quality,
						m.MachineLost, m.Reason, want.Directions[i].Quality, want.Directions[i].MachineLost, w.counted.Evidence)
				}
				if before.Directions != nil && worth(m) < worth(before.Directions[i]) {
					t.Fatalf("seed %d, %s→%s: %s at a limit of %s, and %s at a lower one", seed, m.From, m.To, m.Quality, limit, before.Directions[i].Quality)
				}
				count(seen, got, i)
			}
			if recalled, err := Recall(before); before.Directions != nil && (err != nil || !reflect.DeepEqual(Judge(recalled, Goal{MaxLossRatio: limit}), got)) {
				t.Fatalf("seed %d, limit %s: judged anew after another goal it differs, %v", seed, limit, err)
			}
			before = got
		}
	}
	for _, kind := range []string{"Good", "Good, uneven", "Short", "Lossy", "Lossy, uneven", "Invalid", "sent in bursts", "nothing could be read", "takes nothing", "flows of another replica",
		"edges alone", "itself dropped", "background", "lasted", "link changed", "more came back than"} {
		if seen[kind] == 0 {
			t.Errorf("no window was %s: %v", kind, seen)
		}
	}
}

// worth orders qualities as a laxer limit may change them.
func worth(m report.Direction) int {
	switch m.Quality {
	case report.Lossy:
		return 0
	case report.Invalid:
		return 1
	case report.Good, report.Short, report.Unjudged:
	}
	return 2
}

// count counts the kinds of answers.
func count(seen map[string]int, w report.Window, direction int) {
	m := w.Directions[direction]
	seen[string(m.Quality)]++
	if len(w.Bursts) > 0 || w.Unwatched > 0 {
		seen[string(m.Quality)+", uneven"]++
	}
	for _, words := range []string{"sent in bursts", "nothing could be read", "takes nothing", "flows of another replica", "edges alone", "itself dropped", "background", "lasted", "link changed", "more came back than"} {
		if strings.Contains(m.Reason, words) {
			seen[words]++
		}
	}
}

// TestPropertyTheLowerMedianStandsForAllCalmTimes: frames are lost all the time if, and only if, more than half of
// at least five calm times lost more than the limit.
func TestPropertyTheLowerMedianStandsForAllCalmTimes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 24))
	for range 5000 {
		e := newEvenness(1)
		var losses []int64
		for range rnd.IntN(13) {
			losses = append(losses, max(0, rnd.Int64N(6)-1))
			e.add(tick{lost: losses[len(losses)-1:], loss: []units.Ratio{lowestLimit(losses[len(losses)-1], 7)}})
		}
		for lost := range int64(6) {
			limit := units.Ratio(lost * int64(units.One) / 7) // a little below, as a seventh is no decimal
			more := 0
			for _, l := range losses {
				if exceeds(l, 7, limit) {
					more++
				}
			}
			d := direction{limit: limit, evidence: report.DirectionEvidence{CalmLossRatio: e.calmLossRatio(0)},
				window: report.Window{Bursts: []report.Burst{{}}, Evidence: &report.Evidence{Calm: e.calm}}}
			if steady := len(losses) >= 5 && 2*more > len(losses); d.explainedBySending() == steady {
				t.Fatalf("%v of 7 lost in each, limit %s: excused %v by a lower median of %s", losses, limit, d.explainedBySending(), e.calmLossRatio(0))
			}
		}
	}
}

// TestOneLimitStandsForAllThatAShareExceeds: what is kept of a calm time is the lowest limit that its loss is not
// above, to the last billionth.
func TestOneLimitStandsForAllThatAShareExceeds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 22))
	for range 20_000 {
		sent := 1 + rnd.Int64N(1<<(1+rnd.IntN(50)))
		lost := rnd.Int64N(sent+1) - rnd.Int64N(2)*sent/2
		lowest := lowestLimit(lost, sent)
		for _, limit := range []units.Ratio{0, lowest - 1, lowest, lowest + 1, units.Ratio(rnd.Int64N(int64(units.One)))} {
			if limit >= 0 && exceeds(lost, sent, limit) != (limit < lowest) {
				t.Fatalf("%d of %d lost exceed %s: %v, and the lowest limit is %s", lost, sent, limit, exceeds(lost, sent, limit), lowest)
			}
		}
	}
}

func TestAWindowOfMinutesIsKeptAsShortAsOneOfSeconds(t *testing.T) {
	size := func(ticks int) int {
		rnd := rand.New(rand.NewPCG(2, 23))
		h := habits{calm: 0.02, often: 0.7, burst: 0.5, bursts: 0.002, usual: 20 * time.Millisecond, pps: 10_000, slow: 1, generators: 1, directions: 2}
		s := drawSetup(rnd, h)
		pace := s.Pace([]units.PacketRate{10_000 * units.PacketPerSecond, 10_000 * units.PacketPerSecond})
		now := []engine.Reading{{Ports: map[int]engine.PortCounters{0: {LinkUp: true}, 1: {LinkUp: true}}}}
		readings := [][]engine.Reading{{now[0]}}
		pace.Add(now)
		for range ticks {
			now = h.tick(rnd, now, h.usual, false, rnd.Float64() < h.bursts)
			pace.Add(now)
		}
		readings[0] = append(readings[0], now[0])
		w := s.Window(Span{Readings: readings, Intended: []units.PacketRate{10_000 * units.PacketPerSecond, 10_000 * units.PacketPerSecond}, Pace: pace})
		if e := w.counted.Evidence; len(pace.long) > 0 || e.Fault != "" || e.Calm < int64(ticks)/2 || e.Directions[0].CalmLossRatio == 0 {
			t.Errorf("%d times are kept one by one, evidence %+v", len(pace.long), e)
		}
		document, err := json.Marshal(w.counted.Evidence)
		if err != nil {
			t.Fatal(err)
		}
		return len(document)
	}
	if short, long := size(100), size(10_000); long > short+60 { // some counters have digits more
		t.Errorf("the evidence of 2 s takes %d bytes, that of 200 s %d", short, long)
	}
}

func TestAWindowWithoutEvidenceCanNotBeJudgedAnew(t *testing.T) {
	_, err := Recall(report.Window{Number: 7, Quality: report.Lossy, Directions: []report.Direction{{}}})
	if err == nil || !strings.Contains(err.Error(), "window 7 can't be judged by another goal") {
		t.Errorf("error %v", err)
	}
}
