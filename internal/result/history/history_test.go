package history_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

var begin = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)

type option func(*report.Report)

func weak(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
func lost(r *report.Report) {
	r.Ending, r.Message, r.Answer = report.GeneratorLost, "generator-0 didn't answer for 10s", report.Answer{Reason: report.NotMeasured}
}
func called(product, loadtest string) option {
	return func(r *report.Report) { r.Plan.Test.Product, r.Plan.Test.Loadtest = product, loadtest }
}
func within(resolution units.Ratio) option {
	return func(r *report.Report) { r.Answer.Resolution = resolution }
}
func to(percent int64) option {
	return func(r *report.Report) {
		r.Plan.Procedure.Ramp.TargetRate = units.Rate{Kind: units.LinePercent, Micros: percent * 1_000_000}
	}
}
func limited(packetsPerSecond int64) option {
	return func(r *report.Report) {
		r.Plan.DUT.Reference = &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: packetsPerSecond}}
	}
}

// broken is a device that lost frames at 500 packets/s in each direction already.
func broken(r *report.Report) {
	d := report.Direction{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 500}}
	r.Windows = []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Load: units.One / 1000, Directions: []report.Direction{d, d}}}
	r.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "no window was clean"}
}
func unconfirmed(r *report.Report) {
	r.Plan.Procedure.Ramp.ConfirmDuration, r.Answer.Confirmed = plan.Duration(time.Minute), false
}
func ports(rate units.BitRate) option {
	return func(r *report.Report) { r.LineRates[0].BitsPerSecond = rate }
}
func ran(image, digest string) option {
	return func(r *report.Report) {
		r.Plan.DUT.Type = "Pod"
		r.Device = &plan.Device{Pod: "t-1-dut", Containers: []plan.Container{{Name: "vpp", Image: image, ImageID: "lab/vpp@sha256:" + digest}}}
	}
}

// record is a run that received so much, both directions together, so many days after the beginning.
func record(day int, packetsPerSecond int64, options ...option) history.Record {
	name := fmt.Sprintf("night-%02d", day)
	flow := func(share int64) report.Flow {
		return report.Flow{PacketsPerSecond: packetsPerSecond / share, Layer1BitsPerSecond: packetsPerSecond * 672 / share}
	}
	m := report.Direction{From: "west", To: "east", Received: flow(2), LineRatePercent: units.PercentOf(packetsPerSecond*336, 1e9)}
	r := &report.Report{Version: report.Version, Producer: "linerate v0.1.0", Started: begin.AddDate(0, 0, day), Finished: begin.AddDate(0, 0, day).Add(time.Minute), Ending: report.Completed,
		LineRates: []report.LineRate{{Link: "west", BitsPerSecond: units.Gbps}, {Link: "east", BitsPerSecond: units.Gbps}},
		Plan: &plan.Plan{Version: plan.Version, Engine: "Software", DUT: plan.DUT{Type: "Reference", Forwarding: plan.L3},
			Test: plan.Test{Name: name, UID: name, Attempt: 1, Product: "Linux", Loadtest: "64b"}, Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}},
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{m, m}, Total: &report.Sum{Received: flow(1), LineRatePercent: m.LineRatePercent}, Claim: report.Claim{Saturated: true, Confirmed: true}}}
	for _, o := range options {
		o(r)
	}
	return history.Record{Name: name + ".json", Report: r}
}

// runs are n of them around a rate, a thousandth apart at most.
func runs(n int, around int64, options ...option) (out []history.Record) {
	random := rand.New(rand.NewPCG(uint64(around), 2))
	for i := range n {
		out = append(out, record(i, around+random.Int64N(max(around/1000, 1))-around/2000, options...))
	}
	return out
}

// anew are runs like these, made an hour later.
func anew(records []history.Record) []history.Record {
	for _, r := range records {
		r.Report.Started = r.Report.Started.Add(time.Hour)
	}
	return records
}

func TestATableHasTheMediansOfItsRuns(t *testing.T) {
	records := append([]history.Record{record(1, 1_000_000), record(2, 1_002_000), record(3, 1_001_000), record(4, 700_000), record(5, 0, lost), record(6, 1_001_000)},
		record(1, 500_000, called("VPP", "64b"), weak), record(2, 510_000, called("VPP", "64b")), record(1, 300_000, called("Linux", "imix")), record(2, 310_000, called("Linux", "imix"), to(50)))
	cells := history.Table("night", records).Cells
	if len(cells) != 3 {
		t.Fatalf("%d cells", len(cells))
	}
	linux, vpp, mixed := cells[0], cells[1], cells[2]
	if f := linux.Figures; f == nil || f.Runs != 5 || f.PacketsPerSecond != 1_001_000 || f.LowerBound || f.Spread == nil || f.LineRatePercentSum <= f.LineRatePercent {
		t.Errorf("%+v", f)
	}
	if len(linux.Missing) != 1 || linux.Missing[0].Reason != "GeneratorLost" || linux.Missing[0].Test != "night-05" || !strings.Contains(linux.Message, "night-04") {
		t.Errorf("%+v, %q", linux.Missing, linux.Message)
	}
	if f := vpp.Figures; f == nil || f.PacketsPerSecond != 505_000 || !f.LowerBound {
		t.Errorf("a lower bound among them makes the median one: %+v", f)
	}
	if mixed.Figures != nil || !strings.Contains(mixed.Message, "procedure.ramp.targetRate") {
		t.Errorf("runs of different plans have a figure: %+v, %q", mixed.Figures, mixed.Message)
	}
}

func TestWhatADifferenceIsWorth(t *testing.T) {
	two := &comparison.Allowance{MaxRegression: units.One / 50}
	tests := map[string]struct {
		was, is   []history.Record
		demand    *comparison.Allowance
		judgement report.Judgement
		verdict   report.Outcome
		change    string // in whole percent; empty: none is told
		says      string
	}{
		"5 % less in five runs each":           {runs(5, 1_000_000), runs(5, 950_000), nil, report.Less, "", "-5", "the difference lies within -5."},
		"5 % more":                             {runs(5, 1_000_000), runs(5, 1_050_000), nil, report.More, "", "5", "the difference lies within +"},
		"the same":                             {runs(5, 1_000_000), runs(5, 1_000_000), nil, report.NotShown, "", "0", "no difference is shown: it lies within"},
		"one run each":                         {runs(1, 1_000_000), runs(1, 950_000), nil, report.TooFew, "", "-5", "1 against 1 runs are too few"},
		"the same, held against a demand":      {runs(5, 1_000_000), runs(5, 1_000_000), two, report.NotShown, report.Passed, "0", "at most 2 % less allowed"},
		"less than is allowed":                 {runs(5, 1_000_000), runs(5, 950_000), two, report.Less, report.DidFail, "-5", "kpps in 5 runs, 1.00 Mpps in 5 runs of the baseline"},
		"too few to tell":                      {runs(1, 1_000_000), runs(1, 950_000), two, report.TooFew, report.Undecided, "-5", "too few runs"},
		"weak generators":                      {runs(5, 1_000_000, weak), runs(5, 950_000, weak), nil, report.NotShown, "", "", "lower bounds"},
		"weak, and still more":                 {runs(5, 1_000_000), runs(5, 1_100_000, weak), nil, report.More, "", "10", "is at least"},
		"weak, held against a demand":          {runs(5, 1_000_000, weak), runs(5, 950_000, weak), two, report.NotShown, report.Undecided, "", "found a lower bound only"},
		"within the resolution":                {runs(5, 1_000_000, within(units.One/50)), runs(5, 990_000, within(units.One/50)), nil, report.NotShown, "", "-1", "no difference is shown"},
		"another plan":                         {runs(5, 1_000_000), runs(5, 950_000, to(50)), two, report.NotComparable, report.Undecided, "", "measured in another way, so the figures can't be compared: procedure.ramp.targetRate"},
		"another device":                       {runs(5, 1_000_000, limited(9)), runs(5, 950_000, limited(8)), nil, report.Less, "", "-5", "of the device, reference.limit.packetsPerSecond is 9 in the one and 8 in the other"},
		"plans mixed":                          {runs(5, 1_000_000), append(runs(2, 950_000), anew(runs(2, 950_000, to(50)))...), two, report.NotComparable, report.Undecided, "", "runs of different plans"},
		"plans mixed before":                   {append(runs(2, 950_000), anew(runs(2, 950_000, to(50)))...), runs(5, 1_000_000), two, report.NotComparable, report.Undecided, "", "the first side was not measured"},
		"not measured":                         {runs(5, 1_000_000), runs(2, 1_000_000, lost), two, report.NotComparable, report.Undecided, "", "this side was not measured"},
		"the same runs":                        {runs(5, 1_000_000), runs(5, 1_000_000)[2:], two, report.NotComparable, report.Undecided, "", "3 of its 3 runs are also runs of the first side"},
		"half of them lost frames at any load": {runs(5, 1_000_000), append(runs(5, 1_000_000), anew(runs(5, 0, broken))...), two, report.NotShown, report.Undecided, "-", "10 runs"},
		"all lost frames at any load":          {runs(5, 1_000_000), runs(5, 0, broken), two, report.Less, report.DidFail, "-", "at least 99.90 % less"},
		"most weren't measured":                {runs(5, 1_000_000), append(runs(5, 1_000_000), anew(runs(6, 0, lost))...), two, report.NotComparable, report.Undecided, "", "only 5 of 11 runs have a figure that counts"},
		"figures that weren't confirmed":       {runs(5, 1_000_000), runs(5, 1_000_000, unconfirmed), two, report.NotComparable, report.Undecided, "", "no run of this side has a figure that was confirmed"},
		"another line rate":                    {runs(5, 1_000_000, ports(25*units.Gbps)), runs(5, 400_000, ports(10*units.Gbps)), two, report.NotComparable, report.Undecided, "", "link west is 25gbps in night-00.json and 10gbps in night-00.json"},
		"line rates mixed":                     {runs(5, 1_000_000, ports(25*units.Gbps)), append(runs(2, 1_000_000, ports(10*units.Gbps)), anew(runs(3, 1_000_000, ports(25*units.Gbps)))...), two, report.NotComparable, report.Undecided, "", "runs at different line rates"},
		"not measured before":                  {runs(2, 1_000_000, lost), runs(2, 1_000_000), two, report.NotComparable, report.Undecided, "", "the first side was not measured"},
		"nothing there":                        {nil, runs(2, 1_000_000), nil, report.NotComparable, "", "", "the first side has no Report of it"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if name != "the same runs" {
				c.is = anew(c.is)
			}
			got := history.Compare([]history.Side{{"before", c.was}, {"after", c.is}}, c.demand, nil)
			if len(got.Rows) != 1 || len(got.Rows[0].Sides) != 2 {
				t.Fatalf("%+v", got.Rows)
			}
			side := got.Rows[0].Sides[1]
			change := ""
			if side.Change != nil {
				// and no -0
				change = fmt.Sprint(math.Round(float64(side.Change.Percent)/float64(units.Hundred/100)) + 0)
			}
			if side.Judgement != c.judgement || side.Verdict != c.verdict || !strings.HasPrefix(strings.TrimPrefix(change, "-0.0"), strings.TrimPrefix(c.change, "0")) || c.change == "" != (change == "") || !strings.Contains(side.Message, c.says) {
				t.Errorf("%s, %s, %q: %s\nwant %s, %s, %q: … %s", side.Judgement, side.Verdict, change, side.Message, c.judgement, c.verdict, c.change, c.says)
			}
		})
	}
}

func TestFiguresThatWereNotConfirmedAreSetAside(t *testing.T) {
	before := append(runs(5, 1_000_000), record(7, 2_000_000, unconfirmed))
	after := anew(append(runs(5, 950_000), record(8, 3_000_000, unconfirmed), record(9, 3_000_000, unconfirmed)))
	c := history.Compare([]history.Side{{"before", before}, {"after", after}}, nil, nil)
	for i, want := range []int{1, 2} {
		if s := c.Rows[0].Sides[i]; s.Figures == nil || s.Figures.Runs != 5 || len(s.SetAside) != want || s.SetAside[0].Reason != report.ReasonNotConfirmed || len(s.Outliers) > 0 {
			t.Errorf("side %d has %+v, set aside %+v, outliers %q", i, s.Figures, s.SetAside, s.Outliers)
		}
	}
	var text strings.Builder
	if err := render.Write(&text, "text", render.OfComparison(c), render.TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"949.98 kpps", "2 of 7 measured runs set aside (a longer window was to confirm its figure, but didn't): night-08, night-09"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	none := history.Compare([]history.Side{{"before", before}, {"after", anew(runs(2, 950_000, unconfirmed))}}, nil, nil).Rows[0].Sides[1]
	if none.Figures != nil || len(none.SetAside) != 2 || none.Judgement != report.NotComparable {
		t.Errorf("of figures none of which was confirmed it says %+v", none)
	}
}

func TestSidesAreMatchedByWhatTheyAre(t *testing.T) {
	before := history.Side{Name: "before", Records: append(runs(2, 1000, called("VPP", "imix")), runs(2, 2000, called("VPP", "64b"))...)}
	after := history.Side{Name: "after", Records: append(runs(2, 2000, called("VPP", "64b")), runs(2, 3000, called("Linux", "64b"))...)}
	var got []string
	for _, r := range history.Compare([]history.Side{before, after}, nil, nil).Rows {
		words := r.Product + " " + r.Loadtest
		for _, s := range r.Sides {
			if s.Figures == nil {
				words += " -"
				continue
			}
			words += fmt.Sprintf(" %d", s.Figures.Runs)
		}
		got = append(got, words)
	}
	if want := "VPP imix 2 -, VPP 64b 2 2, Linux 64b - 2"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	one := history.Compare([]history.Side{{"a", runs(1, 1000, called("VPP-23", "64b"))}, {"b", runs(1, 1000, called("VPP-24", "64b"))}, {"c", runs(1, 1000, called("VPP-24", "64b"))}}, nil, nil)
	if len(one.Rows) != 1 || one.Rows[0].Product != "VPP-23 / VPP-24" || one.Rows[0].Loadtest != "64b" || len(one.Rows[0].Sides) != 3 {
		t.Errorf("sides of one test each aren't matched: %+v", one.Rows)
	}
}

// A device that didn't change is seldom called changed, and one that lost 3 % is found, with 1 % of spread and 5
// runs each.
func TestHowOftenItIsWrong(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const pairs = 1000
	claimed := func(ratio float64) (n int) {
		night := func(around float64) (out []history.Record) {
			for i := range 5 {
				out = append(out, record(i, int64(around*(1+0.01*random.NormFloat64()))))
			}
			return out
		}
		for range pairs {
			c := history.Compare([]history.Side{{"before", night(1_000_000)}, {"after", anew(night(1_000_000 * ratio))}}, nil, nil)
			if j := c.Rows[0].Sides[1].Judgement; j == report.Less || j == report.More {
				n++
			}
		}
		return n
	}
	if n := claimed(1); n > pairs/20 {
		t.Errorf("of %d pairs without a change %d are called changed", pairs, n)
	}
	if n := claimed(0.97); n < pairs*85/100 {
		t.Errorf("of %d pairs that lost 3 %% %d are found", pairs, n)
	}
}

func TestWhichImageWasMeasuredIsTold(t *testing.T) {
	side := func(name string, records ...history.Record) history.Side {
		return history.Side{Name: name, Records: records}
	}
	first := func() []history.Record { return runs(5, 1_000_000, ran("lab/vpp:1", "11")) }
	second := anew(runs(5, 900_000, ran("lab/vpp:1", "22")))
	unknown := runs(5, 1_000_000, func(r *report.Report) { r.Plan.DUT.Type = "Pod" }) // without its containers
	kernel := func(image, digest string) []history.Record {
		return runs(5, 1_000_000, ran(image, digest), func(r *report.Report) { r.Plan.DUT.Type = "Reference" })
	}
	for name, c := range map[string]struct {
		a, b []history.Record
		says string // "": nothing of images
	}{
		"two builds":                        {first(), second, "of the device, container vpp ran lab/vpp:1 (sha256:11) in the one and lab/vpp:1 (sha256:22) in the other"},
		"one build":                         {first(), anew(first()), ""},
		"nobody wrote down which":           {unknown, second, ""},
		"runs of several builds":            {first(), append(anew(first())[:4], second[4]), "its runs are of several devices: in night-00.json and night-04.json, container vpp ran"},
		"the kernel, by another linerate's": {kernel("linerate:1", "33"), anew(kernel("linerate:2", "44")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := history.Compare([]history.Side{side("a", c.a...), side("b", c.b...)}, nil, nil).Rows[0].Sides[1]
			told := strings.Join(append(b.Doubts, b.Message), "\n")
			if c.says == "" && strings.Contains(told, "container") || !strings.Contains(told, c.says) {
				t.Errorf("it says %q", told)
			}
		})
	}
	var text strings.Builder
	if err := render.Write(&text, "text", render.OfComparison(history.Compare([]history.Side{side("a", first()...), side("b", second...)}, nil, nil)), render.TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Device under test of a: vpp ran lab/vpp:1 (sha256:11).", "Device under test of b: vpp ran lab/vpp:1 (sha256:22)."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	text.Reset()
	if err := render.Write(&text, "text", render.OfTable(history.Table("", first())), render.TextOptions{Width: 200}); err != nil || !strings.Contains(text.String(), "Device under test: vpp ran lab/vpp:1 (sha256:11).") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if mixed := history.Table("", append(first(), second...)).Cells[0]; len(mixed.Images) != 0 || !strings.Contains(mixed.Message, "its runs are of several devices: in night-00.json and night-00.json, container vpp ran") {
		t.Errorf("a table of two builds says %q of %v", mixed.Message, mixed.Images)
	}
	points := history.Trend("", []history.Record{record(0, 1_000_000, ran("lab/vpp:1", "11")), record(1, 1_000_000, ran("lab/vpp:1", "11")), record(2, 1_000_000, ran("lab/vpp:1", "22"))}, nil).Series[0]
	if len(points.Points[1].ImageChange) != 0 || len(points.Points[2].ImageChange) != 1 || len(points.Stretches) != 1 {
		t.Errorf("the trend says %+v", points)
	}
}

func TestARunThatIsNamedTwiceCountsOnce(t *testing.T) {
	before := runs(5, 100_000)
	one := record(9, 90_000)
	after := []history.Record{one, one, one, one, one}
	for i := range after {
		after[i].Name = fmt.Sprintf("copy-%d.json", i)
	}
	c := history.Compare([]history.Side{{Name: "before", Records: before}, {Name: "after", Records: after}}, &comparison.Allowance{MaxRegression: units.One / 50}, nil)
	if side := c.Rows[0].Sides[1]; side.Verdict != report.Undecided || side.Figures.Runs != 1 || !strings.Contains(side.Message, "4 of its 5 Reports are copies of others") {
		t.Errorf("%d runs, %s: %s", side.Figures.Runs, side.Verdict, side.Message)
	}
	if cell := history.Table("all", after).Cells[0]; cell.Figures.Runs != 1 || cell.Figures.Spread != nil {
		t.Errorf("the table has %+v", cell.Figures)
	}
}
