package surprise_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/surprise"
	"github.com/linerate-dev/linerate/internal/units"
)

// test is a cell: how it was measured, and what each of its runs carried.
type test struct {
	name    string
	changed func(*plan.Plan)
	carried []int64
	bound   bool

	image      string
	generators int
}

// suiteOf has a cell for each test, which differ in one axis.
func suiteOf(tests ...test) *report.Suite {
	s := &report.Suite{Version: report.SuiteVersion, Name: "night"}
	for _, t := range tests {
		p := &plan.Plan{Engine: "Software", DUT: plan.DUT{Type: "Reference"}, Links: []plan.Link{{Name: "west"}, {Name: "east"}},
			Directions: []plan.Direction{{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64}}}, Procedure: plan.Procedure{Type: plan.TypeRamp}}
		if t.changed != nil {
			t.changed(p)
		}
		c := report.SuiteCell{Name: t.name, Product: t.name, Loadtest: "load", Values: []report.AxisValue{{Axis: "of", Value: t.name}}}
		for i, v := range t.carried {
			f := &report.Figures{Runs: 1, PacketsPerSecond: v, Layer1BitsPerSecond: v * 8 * (p.Directions[0].Mix.Bytes + 20), LowerBound: t.bound}
			if p.Sessions != nil {
				f = &report.Figures{Runs: 1, GoodputBitsPerSecond: &v, LowerBound: t.bound}
			}
			run := report.SuiteRun{Test: fmt.Sprintf("%s-r%d", t.name, i+1), Figures: f, Evidence: &report.Report{Version: report.Version, Plan: p}}
			if t.image != "" {
				run.Images = []plan.Container{{Name: "router", Image: t.image}}
			}
			if t.generators > 0 {
				run.Evidence.Environment = &report.Environment{Generators: make([]report.GeneratorEnvironment, t.generators)}
			}
			c.Runs = append(c.Runs, run)
		}
		if n := len(c.Runs); n > 0 {
			median := *c.Runs[n/2].Figures
			median.Runs = n
			c.Figures = &median
		}
		s.Cells = append(s.Cells, c)
	}
	return s
}

func mode(m plan.Mode) func(*plan.Plan) {
	return func(p *plan.Plan) { p.DUT.Reference = &plan.Reference{Mode: &m} }
}

func router(routes int) func(*plan.Plan) {
	return mode(plan.Mode{Router: &plan.RouterMode{Routes: routes}})
}

func filter(rules int) func(*plan.Plan) {
	return mode(plan.Mode{Filter: &plan.FilterMode{Rules: rules}})
}

func frames(bytes int64) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Directions[0].Mix.Bytes = bytes }
}

func tcp(changed func(*plan.Plan)) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Sessions, p.Procedure = &plan.Sessions{Protocol: plan.TCP, Parallel: 1}, plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true}}
		if changed != nil {
			changed(p)
		}
	}
}

func back(p *plan.Plan) {
	p.Directions = append(p.Directions, plan.Direction{From: "east", To: "west", Mix: p.Directions[0].Mix})
}

func asked(micros int64) func(*plan.Plan) {
	return tcp(func(p *plan.Plan) {
		p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false, units.Rate{Kind: units.Layer2Bits, Micros: micros}
	})
}

func trial(d time.Duration) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Procedure = plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaximumOfferedLoad: &plan.MaximumOfferedLoad{TrialDuration: plan.Duration(d)}}
	}
}

func TestWhatSurprises(t *testing.T) {
	for _, c := range []struct {
		what       string
		more, less test // of which the first is expected to carry at least as much
		rule       string
		says       string
	}{
		{"a filter is faster than none", test{name: "plain", changed: router(1), carried: []int64{400, 402}}, test{name: "filter", changed: filter(100), carried: []int64{430, 440}},
			"more work costs", `filter load carried 9.5 % more than plain load (440.00 pps, and 402.00 pps; each of 2 runs and each of 2), though a device that is "filter, 100 rules" does all that "router" does, and more`},
		{"a million routes are faster than one", test{name: "one", changed: router(1), carried: []int64{400}}, test{name: "million", changed: router(1_000_000), carried: []int64{500}}, "more work costs", "one run each"},
		{"many rules are faster than few", test{name: "few", changed: filter(1), carried: []int64{400}}, test{name: "many", changed: filter(100), carried: []int64{500}}, "more work costs", "filter, 100 rules"},
		{"the stack is faster than what comes before it", test{name: "xdp", changed: mode(plan.Mode{XDP: &plan.XDPMode{}}), carried: []int64{400}}, test{name: "router", changed: router(1), carried: []int64{500}}, "more work costs", `a device that is "router" does all that "XDP" does, and more`},
		{"a device is faster than no device", test{name: "path", changed: func(p *plan.Plan) { p.DUT.Type = "Loopback" }, carried: []int64{400}}, test{name: "router", changed: router(1), carried: []int64{500}}, "a device costs", "the other through none"},
		{"more large frames than small ones", test{name: "64b", changed: frames(64), carried: []int64{400}}, test{name: "512b", changed: frames(512), carried: []int64{500}}, "larger frames are fewer", "512 bytes on average, and 64"},
		{"more bits in small frames than in large ones", test{name: "512b", changed: frames(512), carried: []int64{100}}, test{name: "64b", changed: frames(64), carried: []int64{800}}, "larger frames carry more", "64 bytes on average, and 512"},
		{"one way carries more than both", test{name: "both", changed: tcp(back), carried: []int64{561e6}}, test{name: "one", changed: tcp(nil), carried: []int64{957e6}}, "more directions carry more", "1 of the other's 2 directions"},
		{"a small window carries more than a large one", test{name: "128k", changed: tcp(func(p *plan.Plan) { p.Sessions.WindowBytes = 128 << 10 }), carried: []int64{360e6}},
			test{name: "64k", changed: tcp(func(p *plan.Plan) { p.Sessions.WindowBytes = 64 << 10 }), carried: []int64{400e6}}, "larger windows carry more", "64 KiB, and 128 KiB"},
		{"a small window carries more than the kernels' own", test{name: "own", changed: tcp(nil), carried: []int64{360e6}},
			test{name: "64k", changed: tcp(func(p *plan.Plan) { p.Sessions.WindowBytes = 64 << 10 }), carried: []int64{400e6}}, "larger windows carry more", "64 KiB, and the kernels' own"},
		{"more comes of less", test{name: "fast", changed: asked(90), carried: []int64{300}}, test{name: "slow", changed: asked(80), carried: []int64{400}}, "more is carried of more", "it was asked for less"},
		{"one program carries more than the other", test{name: "iperf2", changed: tcp(func(p *plan.Plan) { p.Sessions.Application = plan.ApplicationIperf2 }), carried: []int64{100e6}},
			test{name: "iperf3", changed: tcp(func(p *plan.Plan) { p.Sessions.Application = plan.ApplicationIperf3 }), carried: []int64{110e6}}, "programs carry the same", "iperf3, and iperf2"},
		{"a short trial carries more than a long one", test{name: "60s", changed: trial(time.Minute), carried: []int64{300}}, test{name: "10s", changed: trial(10 * time.Second), carried: []int64{400}}, "longer trials carry the same", "10s, and 1m0s"},
	} {
		t.Run(c.what, func(t *testing.T) {
			all := surprise.Find(suiteOf(c.more, c.less))
			if len(all) != 1 || all[0].Rule != c.rule || !strings.Contains(all[0].Words, c.says) {
				t.Errorf("got %+v, want %q of rule %s", all, c.says, c.rule)
			}
			c.more.carried, c.less.carried = c.less.carried, c.more.carried
			for _, s := range surprise.Find(suiteOf(c.more, c.less)) {
				// of what is to be the same, either order surprises
				if s.Rule == c.rule && !strings.HasSuffix(s.Rule, "the same") {
					t.Errorf("as it is expected to be, it surprises: %s", s.Words)
				}
			}
		})
	}
}

func TestWhatDoesNotSurprise(t *testing.T) {
	plain := test{name: "plain", changed: router(1), carried: []int64{400, 402, 420}}
	for _, c := range []struct {
		what string
		with []test
	}{
		{"runs that overlap", []test{plain, {name: "filter", changed: filter(100), carried: []int64{410, 440, 450}}}},
		{"less than a hundredth", []test{plain, {name: "filter", changed: filter(100), carried: []int64{421, 422, 423}}}},
		{"more than a lower bound", []test{{name: "plain", changed: router(1), carried: []int64{400}, bound: true}, {name: "filter", changed: filter(100), carried: []int64{500}}}},
		{"devices of which neither does all that the other does", []test{{name: "bridge", changed: mode(plan.Mode{Bridge: &plan.BridgeMode{}}), carried: []int64{400}}, {name: "router", changed: router(1), carried: []int64{500}}}},
		{"a filter with a short table, and a router with a long one", []test{{name: "million", changed: router(1_000_000), carried: []int64{400}}, {name: "filter", changed: filter(1), carried: []int64{500}}}},
		{"tests that differ in more than the device", []test{plain, {name: "filter", changed: func(p *plan.Plan) { filter(100)(p); frames(512)(p) }, carried: []int64{500}}}},
		{"a cell without a figure", []test{plain, {name: "filter", changed: filter(100)}}},
		{"fewer directions of larger frames", []test{{name: "both", changed: back, carried: []int64{400}}, {name: "one", changed: func(p *plan.Plan) { p.Directions[0].Mix.Packets = 2; p.Directions[0].Mix.Bytes = 64 }, carried: []int64{500}}}},
		{"fewer directions on faster links", []test{{name: "both", changed: back, carried: []int64{400}}, {name: "one", changed: func(p *plan.Plan) { p.Links = []plan.Link{{Name: "west", LineRate: 1e10}, {Name: "east"}} }, carried: []int64{500}}}},
		{"devices of other images", []test{{name: "plain", changed: router(1), carried: []int64{400}, image: "router:old"}, {name: "filter", changed: filter(100), carried: []int64{500}, image: "router:new"}}},
		{"more generators", []test{{name: "plain", changed: router(1), carried: []int64{400}, generators: 1}, {name: "filter", changed: filter(100), carried: []int64{500}, generators: 2}}},
		{"frames and sessions", []test{plain, {name: "tcp", changed: tcp(router(1)), carried: []int64{500}}}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if all := surprise.Find(suiteOf(c.with...)); len(all) != 0 {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// A run that is a lower bound may carry any more, also beside a median that is none; and rates of two kinds are not
// more or less of the same.
func TestWhatMayBeMoreDoesNotSurprise(t *testing.T) {
	s := suiteOf(test{name: "plain", changed: router(1), carried: []int64{400, 402, 404}}, test{name: "filter", changed: filter(100), carried: []int64{500, 501, 502}})
	if all := surprise.Find(s); len(all) != 1 {
		t.Errorf("got %+v", all)
	}
	s.Cells[0].Runs[0].Figures.LowerBound = true
	if all := surprise.Find(s); len(all) != 0 {
		t.Errorf("one of its runs is a lower bound: %+v", all)
	}
	packets := func(p *plan.Plan) {
		asked(80)(p)
		p.Procedure.ConstantLoad.Rate.Kind = units.Packets
	}
	if all := surprise.Find(suiteOf(test{name: "bits", changed: asked(90), carried: []int64{300}}, test{name: "packets", changed: packets, carried: []int64{400}})); len(all) != 0 {
		t.Errorf("rates of two kinds: %+v", all)
	}
}

// Cells that differ in two axes differ in two things: which of them made the difference nobody can say.
func TestCellsThatDifferInTwoAxes(t *testing.T) {
	s := suiteOf(test{name: "plain", changed: router(1), carried: []int64{400}}, test{name: "filter", changed: filter(100), carried: []int64{500}})
	for i := range s.Cells {
		s.Cells[i].Values = append(s.Cells[i].Values, report.AxisValue{Axis: "generator", Value: s.Cells[i].Name})
	}
	if all := surprise.Find(s); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}

func TestCurvesAndCalibrations(t *testing.T) {
	s := suiteOf(test{name: "router", changed: router(1), carried: []int64{500_000}})
	load := func(text string) units.Rate {
		rate, err := units.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return rate
	}
	s.Cells[0].Curve = []report.CurvePoint{{Load: load("30kpps"), LossRatio: "0.3", LossRatioMin: "0.3"}, {Load: load("20kpps"), LossRatio: "0.01", LossRatioMin: "0.009"}, {Load: load("10kpps"), LossRatio: "0.03", LossRatioMin: "0.02"}}
	s.Cells[0].Capacity = &report.Capacity{Cell: "generator", PacketsPerSecond: 400_000}
	all := surprise.Find(s)
	if len(all) != 2 || !strings.Contains(all[0].Words, "router load lost 2") || !strings.Contains(all[0].Words, "at 10kpps and 1") || !strings.Contains(all[1].Words, "though its generators did 400.00 kpps by themselves (generator)") {
		t.Errorf("got %+v", all)
	}
	s.Cells[0].Runs = append(s.Cells[0].Runs, report.SuiteRun{Test: "another", Figures: &report.Figures{Runs: 1, PacketsPerSecond: 399_000}})
	if all := surprise.Find(s); len(all) != 1 {
		t.Errorf("one of its runs carried less than the generators: %+v", all)
	}
	s.Cells[0].Runs = s.Cells[0].Runs[:1]
	// it may have lost no more, and runs differ by so much
	s.Cells[0].Curve[2].LossRatioMin, s.Cells[0].Capacity.PacketsPerSecond = "0.01", 499_000
	if all := surprise.Find(s); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}
