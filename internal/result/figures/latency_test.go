package figures_test

import (
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestFiguresOfLatency(t *testing.T) {
	r := reporttest.WithLatency(20_000)
	longest := &reporttest.AtLoad(r, 1).Directions[1].Latency[0].Within[4]
	*longest = report.Percentile{Share: "all", Nanoseconds: 17_179_869_184, Open: true}
	r.Plan.Procedure.Latency.Loads = append(r.Plan.Procedure.Latency.Loads, units.One)
	reporttest.ReadLatency(r)
	got := map[string]string{}
	for _, f := range figures.Of(r) {
		if f.LatencyLoad != nil {
			got[string(f.Metric)+" "+figures.DirectionText(f)] = figures.Text(f)
		}
	}
	name := r.Answer.Directions[0].Name()
	for key, want := range map[string]string{
		"LatencyP50 " + name + ", 64 bytes at 0 % (single frames)":           "p50 10 µs",
		"LatencyP99.9 " + name + ", 64 bytes at 50 %":                        "p99.9 60.2 µs",
		"LatencyMax " + name + ", 64 bytes at 50 %":                          "longest 60.2 µs",
		"LatencyMax " + r.Answer.Directions[1].Name() + ", 64 bytes at 50 %": "longest over 17.2 s",
		"LatencyJitter " + name + ", 64 bytes at 50 %":                       "jitter 2 µs",
		"LatencyP99.999 " + name + ", 64 bytes at 50 %":                      "fewer than ten of 28,000 frames lie above it: make trials longer",
		"LatencyP50 " + name + ", 64 bytes at 100 %":                         "the run ended before the trial",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	if n := len(figures.LatencyOf(r, figures.LatencyP99, units.One/2, 594)); n != 0 {
		t.Errorf("%d figures of frames that weren't sent", n)
	}
	if n := len(figures.OfAnswer(r, figures.LatencyP99)); n != 0 {
		t.Errorf("%d figures of latency are the answer's", n)
	}
}

// Of frames of several sizes those are told that took longest, in whichever order they stand; one that may have
// taken any longer before all others.
func TestTheSlowestSizeIsTold(t *testing.T) {
	for name, longer := range map[string]func(p *report.Percentile){
		"p99 81 µs at 50 %":      func(p *report.Percentile) { p.Nanoseconds = 81_000 },
		"p99 over 81 µs at 50 %": func(p *report.Percentile) { p.Nanoseconds, p.Open = 81_000, true },
	} {
		for _, first := range []bool{true, false} {
			r := reporttest.WithLatency(20_000)
			of := &reporttest.AtLoad(r, 1).Directions[0]
			slow := of.Latency[0]
			slow.FrameSize, slow.Within = 1518, slices.Clone(slow.Within)
			p99 := slices.IndexFunc(slow.Within, func(p report.Percentile) bool { return p.Share == "p99" })
			longer(&slow.Within[p99])
			if of.Latency = append(of.Latency, slow); first {
				slices.Reverse(of.Latency)
			}
			reporttest.ReadLatency(r)
			r.Answer.Figures = slices.DeleteFunc(r.Answer.Figures, func(f report.Figure) bool { return *f.LatencyLoad == 0 })
			if got := figures.SlowestSizes(r, figures.LatencyP99); len(got) != 2 || got[0].FrameSize != 1518 || got[1].FrameSize != 64 {
				t.Errorf("%s: %+v", name, got)
			}
			if got := figures.LatencySummary(r); got != name {
				t.Errorf("%q, want %q", got, name)
			}
		}
	}
}

// A TRex tells whole microseconds in buckets of HdrHistogram with three digits: the frame may have taken the least
// of its bucket, and the figure is from there on.
func TestAFigureOfASampleHasTheTruthWithin(t *testing.T) {
	for _, took := range []time.Duration{300 * time.Nanosecond, 34 * time.Microsecond, 1900 * time.Microsecond, 4096 * time.Microsecond, 70_016 * time.Microsecond, 9 * time.Second} {
		told := hdrhistogram.New(1, 10_000_000, 3)
		must(t, told.RecordValues(took.Microseconds(), 1000))
		text, err := told.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		must(t, err)
		times, err := transit.DecodeMicroseconds(string(text))
		must(t, err)
		within, _ := times.Percentile(transit.P50)
		r := reporttest.WithLatency(20_000)
		size := &reporttest.AtLoad(r, 1).Directions[0].Latency[0]
		size.Sample = &report.LatencySample{PacketsPerSecond: 1000, ResolutionNanoseconds: 1000}
		size.Within[0].Nanoseconds = within.Nanoseconds()
		reporttest.ReadLatency(r)
		f := figures.LatencyOf(r, figures.LatencyP50, units.One/2, 0)[0]
		if ns := float64(took.Nanoseconds()); f.Low.Float() > ns || f.High.Float() < ns || f.High.Float() > 1.02*ns+2000 {
			t.Errorf("%s to %s ns of a frame that took %s", f.Low, f.High, took)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
