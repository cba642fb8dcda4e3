package history_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

var twoPercent = &comparison.Allowance{MaxRegression: units.One / 50}

// sessions are runs with so much goodput in each direction.
func sessions(goodputs ...int64) (out []history.Record) {
	for i, g := range goodputs {
		out = append(out, sessionsOf(i, reporttest.Sessions(g)))
	}
	return out
}

// sessionsOf is a run of sessions on a day.
func sessionsOf(day int, r *report.Report, options ...option) history.Record {
	name := fmt.Sprintf("tcp-%02d", day)
	r.Plan.Test.Name, r.Plan.Test.UID = name, name
	r.Started, r.Finished = begin.AddDate(0, 0, day), begin.AddDate(0, 0, day).Add(r.Finished.Sub(r.Started))
	r.Environment = report.EnvironmentOf(r)
	for _, o := range options {
		o(r)
	}
	return history.Record{Name: name + ".json", Report: r}
}

func steady() []history.Record {
	return sessions(46_500_000, 46_510_000, 46_490_000, 46_505_000, 46_495_000)
}

func each(records []history.Record, options ...option) []history.Record {
	for _, r := range records {
		for _, o := range options {
			o(r.Report)
		}
	}
	return records
}

func by(congestionControl string) option {
	return func(r *report.Report) {
		for i := range r.Generators[0].Ports {
			r.Generators[0].Ports[i].CongestionControl = congestionControl
		}
		r.Environment = report.EnvironmentOf(r)
	}
}

func parallel(n int) option { return func(r *report.Report) { r.Plan.Sessions.Parallel = n } }

func atEnds(r *report.Report) {
	bound := reporttest.SessionsBound(r.Answer.Directions[0].Sessions.GoodputBitsPerSecond)
	r.Windows, r.Answer = bound.Windows, bound.Answer
}

func TestSessionsAreComparedByTheirGoodput(t *testing.T) {
	slower := func() []history.Record {
		return sessions(40_100_000, 40_110_000, 40_090_000, 40_105_000, 40_095_000)
	}
	for name, c := range map[string]struct {
		is        []history.Record
		judgement report.Judgement
		verdict   report.Outcome
		says      string
	}{
		"as much":                       {steady(), report.NotShown, report.Passed, "93.00 Mb/s goodput in 5 runs, 93.00 Mb/s goodput in 5 runs of the baseline"},
		"less":                          {slower(), report.Less, report.DidFail, "80.20 Mb/s goodput in 5 runs, 93.00 Mb/s goodput in 5 runs of the baseline: 13.76 % less"},
		"an end was the limit":          {each(slower(), atEnds), report.NotShown, report.Undecided, "5 of the candidate's runs found a lower bound only"},
		"another number of connections": {each(steady(), parallel(8)), report.NotComparable, report.Undecided, "sessions.parallel is 4 in the one and 8 in the other"},
		"another congestion control":    {each(slower(), by("bbr")), report.NotComparable, report.Undecided, "congestion control of west and east: cubic, then bbr"},
		"nobody knows which":            {each(slower(), by("")), report.Less, report.DidFail, "of the environment of these runs unknown: congestion control of west and east"},
		"frames":                        {runs(5, 93_000_000, called("Linux", "tcp")), report.NotComparable, report.Undecided, "traffic is sessions, whose goodput was measured, in tcp-00.json, and frames, which were counted, in night-00.json"},
	} {
		t.Run(name, func(t *testing.T) {
			got := history.Compare([]history.Side{{"before", steady()}, {"after", anew(c.is)}}, twoPercent, nil).Rows[0].Sides[1]
			if got.Judgement != c.judgement || got.Verdict != c.verdict || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s, %s: %s\nwant %s, %s: … %s", got.Judgement, got.Verdict, got.Message, c.judgement, c.verdict, c.says)
			}
		})
	}
}

func TestRunsOfFramesAndOfSessionsHaveNoCommonFigure(t *testing.T) {
	cell := history.Table("", append(steady(), record(9, 1_000_000, called("Linux", "tcp")))).Cells[0]
	if cell.Figures != nil || !strings.Contains(cell.Message, "traffic is sessions") {
		t.Errorf("%+v: %s", cell.Figures, cell.Message)
	}
}

func TestATrendOfSessionsIsOfGoodput(t *testing.T) {
	nights := append(steady(), sessionsOf(5, reporttest.Sessions(37_200_000)), sessionsOf(6, reporttest.Sessions(46_500_000)))
	nights = append(nights, sessionsOf(7, reporttest.Sessions(50_000_000), func(r *report.Report) { r.Plan.Sessions.WindowBytes = 0 }))
	s := history.Trend("nightly", nights, nil).Series[0]
	if len(s.Stretches) != 2 || s.Stretches[0].Figures.Throughput() != 93_000_000 || s.Stretches[1].First != 7 {
		t.Fatalf("%+v", s.Stretches)
	}
	if p := s.Points[5]; !p.Outlier || p.FromMedian == nil || p.FromMedian.Percent.FormatFixed() != "-20.00" {
		t.Errorf("a run a fifth below the others: %+v", p)
	}
	if apart := strings.Join(s.Points[7].PlanChange, "; "); !strings.Contains(apart, "sessions.windowBytes") {
		t.Errorf("other windows: %q", apart)
	}
}

// Through a device that lets nothing pass connections carry nothing: a goodput of zero, and no rate of frames.
func TestAGoodputOfZeroIsAFigureOfSessions(t *testing.T) {
	for name, records := range map[string][]history.Record{"one run": sessions(0), "several": sessions(0, 0, 0)} {
		table := history.Table("", records)
		cell := table.Cells[0]
		if cell.Figures == nil || !cell.Figures.OfSessions() || cell.Figures.Throughput() != 0 {
			t.Fatalf("%s: the figures are %+v", name, cell.Figures)
		}
		var document bytes.Buffer
		if err := table.JSON(&document); err != nil {
			t.Fatal(err)
		}
		if text := document.String(); strings.Contains(text, "acketsPerSecond") || !strings.Contains(text, `"goodputBitsPerSecond": 0`) {
			t.Errorf("%s: the document says %s", name, text)
		}
		again := new(report.Table)
		if err := json.Unmarshal(document.Bytes(), again); err != nil || !again.Cells[0].Figures.OfSessions() {
			t.Errorf("%s: %v, read again the figures are %+v", name, err, again.Cells[0].Figures)
		}
	}
	nothing := anew(sessions(0, 0, 0, 0, 0))
	for name, d := range map[string]render.Document{
		"a table":      render.OfTable(history.Table("", nothing)),
		"a trend":      render.OfTrend(history.Trend("nightly", append(steady(), sessionsOf(5, reporttest.Sessions(0))), nil)),
		"a comparison": render.OfComparison(history.Compare([]history.Side{{Name: "v1", Records: steady()}, {Name: "v2", Records: nothing}}, twoPercent, nil)),
		"from nothing": render.OfComparison(history.Compare([]history.Side{{Name: "v1", Records: nothing}, {Name: "v2", Records: steady()}}, twoPercent, nil)),
	} {
		for _, format := range []string{"text", "markdown"} {
			var out bytes.Buffer
			if err := render.Write(&out, format, d, render.TextOptions{Width: 160}); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range []string{"pps", "NaN", "Inf", "line rate"} {
				if strings.Contains(out.String(), wrong) {
					t.Errorf("%s in %s says %q:\n%s", name, format, wrong, out.String())
				}
			}
		}
	}
}

// The golden files show what people read of sessions.
func TestComparisonsTrendsAndTablesOfSessionsReadAsTheyDid(t *testing.T) {
	less := anew(sessions(40_100_000, 40_110_000, 40_090_000, 40_105_000, 40_095_000))
	nights := append(steady(), sessionsOf(5, reporttest.Sessions(37_200_000)), sessionsOf(6, reporttest.SessionsBound(46_500_000)))
	documents := map[string]render.Document{
		"sessions-comparison": render.OfComparison(history.Compare([]history.Side{{Name: "v1.3", Records: steady()}, {Name: "v1.4", Records: less}, {Name: "v1.5", Records: anew(anew(each(steady(), by("bbr"))))}}, twoPercent, nil)),
		"sessions-trend":      render.OfTrend(history.Trend("nightly", nights, nil)),
		"sessions-table":      render.OfTable(history.Table("TCP", append(nights, each(sessions(90_000_000), called("VPP", "tcp"))...))),
		"sessions-and-frames": render.OfTable(history.Table("both", append(steady(), runs(2, 1_000_000)...))),
	}
	for name, d := range documents {
		golden(t, name+".txt", func(w io.Writer) error { return render.Write(w, "text", d, render.TextOptions{Width: 160}) })
		golden(t, name+".md", in("markdown", d))
		golden(t, name+".html", in("html", d))
		golden(t, name+".csv", in("csv", d))
	}
}
