package history_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// slow are runs whose frames took so many nanoseconds, at half of what the device carries.
func slow(nanoseconds ...int64) (all []history.Record) {
	for i, took := range nanoseconds {
		like := reporttest.WithLatency(took)
		r := record(i, 1_000_000)
		r.Report.Plan.Procedure.Latency, r.Report.Windows, r.Report.Answer.Figures = like.Plan.Procedure.Latency, like.Windows, like.Answer.Figures
		all = append(all, r)
	}
	return all
}

// at50 is a figure of a side at half of what the device carries.
func at50(t *testing.T, s report.Compared, metric report.Metric) report.LatencyMedian {
	t.Helper()
	for _, l := range s.Latency {
		if l.Metric == metric && l.LatencyLoad == units.One/2 && l.Direction == "west→east" {
			return l
		}
	}
	t.Fatalf("no %s among %d figures", metric, len(s.Latency))
	return report.LatencyMedian{}
}

func TestLatencyIsComparedAndLessIsBetter(t *testing.T) {
	c := history.Compare([]history.Side{
		{Name: "v1", Records: slow(20_000, 20_100, 19_900, 20_050, 19_950)},
		{Name: "v2", Records: anew(slow(26_000, 26_100, 25_900, 26_050, 25_950))},
		{Name: "v3", Records: anew(anew(slow(20_000, 20_100)))},
	}, nil, nil)
	sides := c.Rows[0].Sides
	was := at50(t, sides[0], "LatencyP50")
	if was.Runs != 5 || was.Nanoseconds < 19_900 || was.Nanoseconds > 20_300 || was.LowNanoseconds == 0 || was.Judgement != "" || was.Change != nil {
		t.Errorf("the first side: %+v", was)
	}
	more := at50(t, sides[1], "LatencyP50")
	if more.Judgement != report.More || more.Change.Percent < 28*units.Hundred/100 || more.Change.Percent > 32*units.Hundred/100 || more.Change.LowPercent == nil {
		t.Errorf("30 %% longer: %s, %+v", more.Judgement, more.Change)
	}
	if few := at50(t, sides[2], "LatencyP50"); few.Judgement != report.TooFew {
		t.Errorf("two runs: %s, %s", few.Judgement, few.Message)
	}
	if rare := at50(t, sides[1], "LatencyP99.999"); rare.Judgement != report.NotComparable || rare.Runs != 0 || rare.Missing != 5 {
		t.Errorf("what no run tells: %+v", rare)
	}
	for format, wants := range map[string][]string{
		"text":     {"west→east, 64 bytes at 50 %, p50", "20.1 µs ±", "+30.03%", "more", "too few runs", "less is better"},
		"markdown": {"west→east, 64 bytes at 50 %, p50", "more"},
		"html":     {"west→east, 64 bytes at 50 %, p50", "too few runs"},
		"csv":      {"latency,,,v2,", "LatencyP99.9,"},
	} {
		var out bytes.Buffer
		if err := render.Write(&out, format, render.OfComparison(c), render.TextOptions{Width: 200}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q:\n%s", format, want, out.String())
			}
		}
	}
}

func TestLatencyOverTime(t *testing.T) {
	trend := history.Trend("", slow(20_000, 20_100, 19_900, 26_000), nil)
	s := trend.Series[0]
	if len(s.Points[3].Latency) == 0 || len(s.Stretches) != 1 || len(s.Stretches[0].Latency) == 0 {
		t.Fatalf("%d figures, %d stretches", len(s.Points[3].Latency), len(s.Stretches))
	}
	for format, want := range map[string]string{"text": "26.", "markdown": "of median", "html": "at 50 %, p99.9", "csv": "LatencyP99.9,"} {
		var out bytes.Buffer
		if err := render.Write(&out, format, render.OfTrend(trend), render.TextOptions{Width: 200}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %s lacks %q:\n%s", err, format, want, out.String())
		}
	}
}
