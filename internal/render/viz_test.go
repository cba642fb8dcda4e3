package render

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// viewed is what the viewer reads of a file.
type viewed struct {
	Vars  map[string]any `json:"vars"`
	Stats map[string]map[string]map[string]*float64
}

func asViewed(t *testing.T, r *report.Report) (string, viewed) {
	t.Helper()
	text := string(rendered(t, "viz", r))
	var v viewed
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return text, v
}

func TestVizRatesAlwaysHaveADecimalPoint(t *testing.T) {
	text, _ := asViewed(t, reporttest.Measured(reporttest.Limited(150_000)))
	rates := regexp.MustCompile(`"(?:tx|rx)_(?:pps|bps|bps_L1|util)": ([^,\n]+)`).FindAllStringSubmatch(text, -1)
	if len(rates) < 100 {
		t.Fatalf("only %d rates", len(rates))
	}
	for _, m := range rates {
		if !regexp.MustCompile(`^\d+\.\d+$`).MatchString(m[1]) {
			t.Errorf("%s is not a number with a decimal point", m[0])
		}
	}
}

func TestVizPortsAreCompleteAndSend(t *testing.T) {
	_, v := asViewed(t, reporttest.Measured(reporttest.Limited(150_000)))
	for key, reading := range v.Stats {
		for _, port := range []string{"0", "1"} {
			for _, name := range []string{"tx_pps", "rx_pps", "tx_util", "rx_util"} {
				if reading[port][name] == nil {
					t.Errorf("%s: port %s has no %s", key, port, name)
				}
			}
			if *reading[port]["tx_pps"] <= 0 {
				t.Errorf("%s: port %s sent nothing", key, port)
			}
		}
	}
	if v.Vars["unidirectional"] != nil {
		t.Error("both ports send, and unidirectional is set")
	}
}

func TestVizKeepsTheOrderOfTime(t *testing.T) {
	text, v := asViewed(t, reporttest.Measured())
	var seconds []time.Duration
	for _, m := range regexp.MustCompile(`(?m)^  "(\d+\.\d{3})": `).FindAllStringSubmatch(text, -1) {
		d, err := time.ParseDuration(m[1] + "s")
		if err != nil {
			t.Fatal(err)
		}
		seconds = append(seconds, d)
	}
	if len(seconds) != len(v.Stats) || !slices.IsSorted(seconds) {
		t.Errorf("%d keys of %d readings, sorted: %t", len(seconds), len(v.Stats), slices.IsSorted(seconds))
	}
}

func TestVizShowsTheRampAndItsTopOnly(t *testing.T) {
	r := reporttest.Measured(reporttest.Limited(150_000)) // refines and confirms between ramp and hold
	_, v := asViewed(t, r)
	want := 10*2 + 6 // ten steps of 2 s and the hold of 6 s
	if len(v.Stats) != want {
		t.Errorf("%d readings, want %d", len(v.Stats), want)
	}
	lossAtEnd := func() float64 {
		last := r.Samples[len(r.Samples)-1]
		for key, reading := range v.Stats {
			if strings.HasPrefix(key, "52.") {
				return (*reading["0"]["tx_pps"] - *reading["1"]["rx_pps"]) / *reading["0"]["tx_pps"]
			}
		}
		t.Fatalf("no reading at %s", last.Time.Std())
		return 0
	}()
	if lossAtEnd < 0.5 {
		t.Errorf("the last reading lost %f, and the viewer takes that for the device's recovery", lossAtEnd)
	}
}

func TestVizLeavesOutWhatTheViewerStumblesOver(t *testing.T) {
	cut := func(samples int) *report.Report {
		r := reporttest.Measured()
		from := slices.IndexFunc(r.Samples, func(s report.Sample) bool { return s.Phase == report.Ramping })
		r.Samples = r.Samples[:from+samples]
		return r
	}
	for samples, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 4} {
		if _, v := asViewed(t, cut(samples)); len(v.Stats) != want {
			t.Errorf("%d samples make %d readings, want %d", samples, len(v.Stats), want)
		}
	}
	t.Run("a second is left out in which a port sent nothing", func(t *testing.T) {
		r := cut(6)
		last := len(r.Samples) - 1
		r.Samples[last].Directions[1].Sent = r.Samples[last-1].Directions[1].Sent
		if _, v := asViewed(t, r); len(v.Stats) != 5 {
			t.Errorf("%d readings, want 5", len(v.Stats))
		}
	})
	t.Run("the second of two samples of one moment is left out", func(t *testing.T) {
		r := cut(6)
		last := len(r.Samples) - 1
		r.Samples[last].Time = r.Samples[last-1].Time
		if _, v := asViewed(t, r); len(v.Stats) != 5 {
			t.Errorf("%d readings, want 5", len(v.Stats))
		}
	})
}

func TestVizOfOneDirection(t *testing.T) {
	_, v := asViewed(t, reporttest.Measured(reporttest.Lanes("west", "east")))
	if v.Vars["unidirectional"] != true {
		t.Error("one direction, and unidirectional is not set")
	}
	for key, reading := range v.Stats {
		if *reading["0"]["tx_pps"] <= 0 || *reading["1"]["rx_pps"] <= 0 || *reading["1"]["tx_pps"] != 0 {
			t.Errorf("%s: port 0 sends %f, port 1 receives %f and sends %f", key, *reading["0"]["tx_pps"], *reading["1"]["rx_pps"], *reading["1"]["tx_pps"])
		}
	}
}

func TestVizOfTwoLanesIsTheFirst(t *testing.T) {
	_, two := asViewed(t, reporttest.Measured(reporttest.Limited(40_000), reporttest.Lanes("west", "east", "east", "west", "north", "south", "south", "north")))
	_, one := asViewed(t, reporttest.Measured(reporttest.Limited(40_000)))
	if len(two.Stats) != len(one.Stats) {
		t.Fatalf("%d readings, one lane has %d", len(two.Stats), len(one.Stats))
	}
	for key, reading := range one.Stats {
		if *two.Stats[key]["0"]["tx_pps"] != *reading["0"]["tx_pps"] {
			t.Errorf("%s differs", key)
		}
	}
}

func TestVizUtilisationIsPercentOfLineRate(t *testing.T) {
	_, v := asViewed(t, reporttest.Measured())
	top := 0.0
	for _, reading := range v.Stats {
		top = max(top, *reading["0"]["tx_util"])
	}
	if top < 99.9 || top > 100.01 {
		t.Errorf("at the ramp's top a port is used to %f percent", top)
	}
}

func TestVizNamesTheTrafficAsTheViewerKnowsIt(t *testing.T) {
	small, big := units.Traffic{Packets: 1, Bytes: 64}, units.Traffic{Packets: 1, Bytes: 1518}
	for _, c := range []struct {
		loadtest string
		mix      units.Traffic
		want     string
	}{
		{"imix", reporttest.IMIX(), "imix.py"},
		{"IMIX", reporttest.IMIX(), "imix.py"},
		{"64b", small, "udp_1pkt_simple_bdir.py"},
		{"smallest", small, "udp_1pkt_simple_bdir.py"},
		{"1518b", big, "1518b.py"},
		{"profiles/jumbo.py", big, "jumbo.py"},
		{"", big, "linerate.py"},
	} {
		if got := profileFile(c.loadtest, c.mix); got != c.want {
			t.Errorf("%q is %q, want %q", c.loadtest, got, c.want)
		}
	}
}

func TestVizVars(t *testing.T) {
	_, v := asViewed(t, reporttest.Measured())
	want := map[string]any{"warmup_mult": "1kpps", "warmup_duration": 4.0, "rampup_target": 100.0, "rampup_duration": 20.0, "hold_duration": 6.0, "profile_file": "imix.py"}
	for key, value := range want {
		if v.Vars[key] != value {
			t.Errorf("%s is %v, want %v", key, v.Vars[key], value)
		}
	}
	t.Run("a target in packets is told in percent", func(t *testing.T) {
		r := reporttest.Measured(reporttest.Frames(64))
		r.Plan.Procedure.Ramp.TargetRate = units.Rate{Kind: units.Packets, Micros: 744_047_619_047}
		if _, v := asViewed(t, r); v.Vars["rampup_target"] != 50.0 {
			t.Errorf("rampup_target is %v, want 50", v.Vars["rampup_target"])
		}
	})
}

func TestVizSaysWhyThereIsNone(t *testing.T) {
	noLine := reporttest.Measured()
	noLine.LineRates = nil
	noLine.Plan.Links = []plan.Link{{Name: "west"}, {Name: "east"}}
	for name, c := range map[string]struct {
		r    *report.Report
		want string
	}{
		"no ramp":       {reporttest.PathNotProven(), "no readings of a ramp"},
		"no directions": {reporttest.FailedAtStart(), "no directions"},
		"no line rate":  {noLine, "set the link's lineRate"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := Viz(&out, c.r); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() != 0 {
				t.Errorf("wrote %d bytes, error %v, want one with %q", out.Len(), err, c.want)
			}
		})
	}
}
