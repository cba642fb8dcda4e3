package measure

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// drawWindow is a window of random counters, in two directions, that Counts; some have more come back than was sent.
func drawWindow(rnd *rand.Rand, number int) report.Window {
	took := time.Duration(1+rnd.IntN(20_000)) * time.Millisecond
	w := report.Window{Number: number, Phase: report.Hold, Load: units.One, Start: plan.Duration(number) * plan.Duration(time.Minute), Duration: plan.Duration(took),
		GeneratorCPUPercent: float64(rnd.IntN(100)), Generators: []report.GeneratorShare{{Name: "g0", OfferedPacketsPerSecond: rnd.Int64N(1e6)}}}
	for _, names := range [][2]string{{"west", "east"}, {"east", "west"}} {
		sent := 1 + rnd.Int64N(1e6)
		back := sent - rnd.Int64N(sent)/oneOf[int64](rnd, 1, 10, 1000, sent) + oneOf[int64](rnd, 0, 0, 0, 20)
		m := report.Direction{From: names[0], To: names[1], Sent: units.Traffic{Packets: sent, Bytes: 64 * sent}, Returned: units.Traffic{Packets: back, Bytes: 64 * back},
			EdgeFrames: 2 + rnd.Int64N(30), ReceiveErrors: rnd.Int64N(5), SendDrops: rnd.Int64N(3), DamagedFrames: rnd.Int64N(3), Quality: oneOf(rnd, report.Good, report.Short, report.Lossy), Reason: "drawn",
			LineRatePercent: units.Percent(rnd.Int64N(int64(units.Hundred))), Limiter: oneOf(rnd, nil, &report.Limiter{Passed: back, Dropped: sent - back})}
		m.LossRatio, m.LossRatioMin = units.RatioOf(sent-back, sent), units.RatioOf(SurelyLost(m), sent)
		m.Offered = FlowOf(units.PacketRateOver(sent, int64(took)), m.Sent)
		m.Received = FlowOf(units.PacketRateOver(back, int64(took)), m.Sent)
		m.Intended = m.Offered
		w.Directions = append(w.Directions, m)
	}
	for _, of := range []string{"processor 0", "processor 1"} {
		o := report.Observed{Observer: "cpu", Series: "busy", Subject: of, Unit: "s/s", Mean: new(rnd.Float64()), Over: w.Duration}
		if rnd.IntN(8) == 0 {
			o = report.Observed{Observer: "cpu", Series: "busy", Subject: of, Unit: "s/s", Missing: "drawn"}
		}
		w.Observed = append(w.Observed, o)
	}
	w.Quality, w.Reason = Worst(w.Directions)
	return w
}

// TestPropertyWindowsTogether: counters add up, rates are counters over time, and neither the order nor the number
// of windows changes what is said.
func TestPropertyWindowsTogether(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		windows := make([]report.Window, 1+rnd.IntN(6))
		for i := range windows {
			windows[i] = drawWindow(rnd, i+1)
		}
		if got := Combine(windows[:1]); !reflect.DeepEqual(got, windows[0]) {
			t.Fatalf("one window together is %+v, not the window %+v", got, windows[0])
		}
		before := text(t, windows)
		whole := Combine(windows)
		if text(t, windows) != before {
			t.Fatal("the windows were changed")
		}
		mixed := make([]report.Window, len(windows))
		for i, n := range rnd.Perm(len(windows)) {
			mixed[i] = windows[n]
		}
		if got, want := text(t, Combine(mixed)), text(t, whole); got != want {
			t.Fatalf("in another order the windows are together\n%s\nand not\n%s", got, want)
		}
		for i := range whole.Directions {
			checkDirection(t, windows, whole, i)
		}
	}
}

func checkDirection(t *testing.T, windows []report.Window, whole report.Window, i int) {
	t.Helper()
	var sent, back units.Traffic
	var took, edges, drops, least, worstOf int64
	most, lowest := -units.One, units.Hundred
	for _, w := range windows {
		d := w.Directions[i]
		sent, back = sent.Add(d.Sent), back.Add(d.Returned)
		took, edges, drops, least = took+int64(w.Duration), edges+d.EdgeFrames, drops+d.ReceiveErrors, least+SurelyLost(d)
		most, lowest = max(most, d.LossRatio), min(lowest, d.LineRatePercent)
		worstOf = max(worstOf, int64(severity(d.Quality)))
	}
	d := whole.Directions[i]
	if d.Sent != sent || d.Returned != back || d.EdgeFrames != edges || d.ReceiveErrors != drops || int64(whole.Duration) != took {
		t.Fatalf("%+v in %s; want %v sent, %v back, %d edges and %d drops in %d ns", d, whole.Duration.Std(), sent, back, edges, drops, took)
	}
	for name, pair := range map[string][2]int64{
		"offered":  {d.Offered.PacketsPerSecond, units.PacketRateOver(sent.Packets, took).Whole()},
		"received": {d.Received.PacketsPerSecond, units.PacketRateOver(back.Packets, took).Whole()},
	} {
		if diff := pair[0] - pair[1]; diff < -1 || diff > 1 {
			t.Fatalf("%s %d packets/s, but the counters over the durations are %d", name, pair[0], pair[1])
		}
	}
	if d.LossRatio != units.RatioOf(sent.Packets-back.Packets, sent.Packets) || d.LossRatio > most {
		t.Fatalf("loss %s of %d sent and %d back, at most %s in a window", d.LossRatio, sent.Packets, back.Packets, most)
	}
	if d.LossRatioMin > d.LossRatio || d.LossRatioMin < units.RatioOf(least, sent.Packets) {
		t.Fatalf("surely lost %s of %s, the windows' own add up to %s", d.LossRatioMin, d.LossRatio, units.RatioOf(least, sent.Packets))
	}
	if d.LineRatePercent < lowest || int64(severity(d.Quality)) != worstOf {
		t.Fatalf("%s of the line, %s", d.LineRatePercent, d.Quality)
	}
	if got := Sum(whole.Directions[i:i+1], nil); got.LossRatio != d.LossRatio || got.LossRatioMin != d.LossRatioMin {
		t.Fatalf("the sum of the one direction lost %s, at least %s; the direction %s, at least %s", got.LossRatio, got.LossRatioMin, d.LossRatio, d.LossRatioMin)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLossOfManyWindowsIsNotHiddenByTheirEdges(t *testing.T) {
	lossy := report.Window{Duration: plan.Duration(10 * time.Second), Quality: report.Lossy, Directions: []report.Direction{
		{From: "west", To: "east", Sent: units.Traffic{Packets: 100_000}, Returned: units.Traffic{Packets: 99_900}, EdgeFrames: 20, Quality: report.Lossy}}}
	calm := report.Window{Duration: plan.Duration(10 * time.Second), Quality: report.Good, Directions: []report.Direction{
		{From: "west", To: "east", Sent: units.Traffic{Packets: 100_000}, Returned: units.Traffic{Packets: 100_000}, EdgeFrames: 20, Quality: report.Good}}}
	windows := []report.Window{lossy}
	for range 9 {
		windows = append(windows, calm)
	}
	d := Combine(windows).Directions[0]
	if want := units.RatioOf(80, 1_000_000); d.LossRatioMin != want {
		t.Errorf("%s surely lost, want %s: 100 frames of the one window but for its 20 at the edges", d.LossRatioMin, want)
	}
	if want := "10 windows together: 100 of 1000000 frames did not come back: 0.01 % lost"; d.Reason != want {
		t.Errorf("%q, want %q", d.Reason, want)
	}
	if d.MostLost() != d.LossRatio {
		t.Errorf("up to %s may be lost of windows that don't say it, want %s", d.MostLost(), d.LossRatio)
	}
	for i := range windows {
		m := &windows[i].Directions[0]
		m.LossRatioMax = units.RatioOf(m.Sent.Packets-m.Returned.Packets+m.EdgeFrames, m.Sent.Packets)
	}
	d = Combine(windows).Directions[0]
	if want := units.RatioOf(300, 1_000_000); d.LossRatioMax != want || !strings.HasSuffix(d.Reason, "0.01 % lost") {
		t.Errorf("up to %s may be lost, want %s: 100 frames, and what 10 windows' edges may hide; %s", d.LossRatioMax, want, d.Reason)
	}
}

// One frame of billions is not rounded away: what may have been lost is rounded up, to a billionth.
func TestTheMostThatMayBeLostIsNotRoundedAway(t *testing.T) {
	for _, c := range []struct{ sent, lost, edges, foreign, want int64 }{{3e9, 1, 0, 0, 1}, {3e9, 0, 0, 0, 0}, {3e9, 0, 1, 0, 1}, {1000, 1, 0, 0, 0}, {1000, 1, 2, 3, 6_000_000}, {1000, -2, 1, 0, 0}, {1000, -2, 2, 3, 3_000_000}, {2, 2, 5, 0, 1e9}} {
		f := figures{sent: units.Traffic{Packets: c.sent}, returned: units.Traffic{Packets: c.sent - c.lost}, edges: c.edges, longest: time.Second, foreign: c.foreign}
		if got := f.measured().LossRatioMax; got != units.Ratio(c.want) {
			t.Errorf("%+v: up to %s", c, got)
		}
	}
}

// Nor is it rounded away of directions or windows together.
func TestOneFrameOfBillionsIsNotRoundedAwayOfASum(t *testing.T) {
	f := figures{sent: units.Traffic{Packets: 3e9}, returned: units.Traffic{Packets: 3e9 - 1}, longest: time.Second}
	one := f.measured()
	if s := Sum([]report.Direction{one, one}, nil); s.MostLost() != 1 {
		t.Errorf("of two directions of which each lost one frame of 3 billion up to %s is lost", s.MostLost())
	}
	w := report.Window{Duration: plan.Duration(time.Second), Directions: []report.Direction{one}}
	if d := Combine([]report.Window{w, w}).Directions[0]; d.MostLost() != 1 {
		t.Errorf("of two windows of which each lost one frame of 3 billion up to %s is lost", d.MostLost())
	}
}

func TestALongWindowWeighsMore(t *testing.T) {
	window := func(took time.Duration, pps int64, line units.Percent) report.Window {
		return report.Window{Duration: plan.Duration(took), Quality: report.Good, Directions: []report.Direction{
			{Received: report.Flow{PacketsPerSecond: pps}, LineRatePercent: line, Quality: report.Good}}}
	}
	d := Combine([]report.Window{window(30*time.Second, 1000, units.Hundred), window(10*time.Second, 600, units.Hundred/2)}).Directions[0]
	if d.Received.PacketsPerSecond != 900 || d.LineRatePercent.String() != "87.5" {
		t.Errorf("%d packets/s, %s %%; want 900 and 87.5", d.Received.PacketsPerSecond, d.LineRatePercent)
	}
}

func TestWhatCounts(t *testing.T) {
	of := func(whole report.Quality, directions ...report.Quality) report.Window {
		w := report.Window{Quality: whole}
		for _, q := range directions {
			w.Directions = append(w.Directions, report.Direction{Quality: q})
		}
		return w
	}
	for name, c := range map[string]struct {
		window report.Window
		want   bool
	}{
		"a window without directions doesn't":         {of(report.Good), false},
		"a clean one does":                            {of(report.Good, report.Good, report.Good), true},
		"one that was offered less does":              {of(report.Short, report.Good, report.Short), true},
		"one that lost frames does":                   {of(report.Lossy, report.Lossy, report.Good), true},
		"one that is Invalid in a direction does not": {of(report.Invalid, report.Lossy, report.Invalid), false},
		"one of no quality does not":                  {of("", report.Good), false},
	} {
		if c.window.Counts() != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	if w := Combine(nil); w.Counts() || w.GeneratorCPUPercent != -1 {
		t.Errorf("no windows together are %+v", w)
	}
}
