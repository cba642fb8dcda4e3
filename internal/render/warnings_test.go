package render

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// A window above the limit in one direction can't at once be the proof of the limit and say nothing about the device.
func TestOnlyWindowsThatDecideNothingSayNothing(t *testing.T) {
	half := report.Window{Number: 9, Quality: report.Invalid, Directions: []report.Direction{{Quality: report.Invalid}, {Quality: report.Lossy}}}
	none := report.Window{Number: 11, Quality: report.Invalid, Reason: "pause frames on east", Directions: []report.Direction{{Quality: report.Invalid}, {Quality: report.Invalid}}}
	for name, c := range map[string]struct {
		windows []report.Window
		want    string
	}{
		"lossy the one way":          {[]report.Window{half}, ""},
		"nothing in either way":      {[]report.Window{half, none}, "1 of 2 windows says nothing about the device; the first is window 11: pause frames on east"},
		"good the one way, and both": {[]report.Window{{Number: 1, Quality: report.Invalid, Directions: []report.Direction{{Quality: report.Good}, {Quality: report.Invalid}}}, none, half}, "2 of 3 windows say nothing about the device; the first is window 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(windowWarnings(&report.Report{Windows: c.windows}), "\n"); !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What came back of a burst came at the device's pace, for longer than the burst: that nobody knows its rate is no
// rate of 0.
func TestABurstHasNoReceivedRate(t *testing.T) {
	r := reporttest.Measured()
	for i := range r.Windows[0].Directions {
		d := &r.Windows[0].Directions[i]
		d.Burst, d.Received, d.LineRatePercent = &report.SentBurst{Frames: d.Sent.Packets}, report.Flow{}, 0
	}
	checked := 0
	for _, row := range readBack(t, OfReports(r)) {
		if row["record"] != "window" || row["window"] != "1" {
			continue
		}
		if checked++; row["received_packets_per_second"]+row["received_layer1_bits_per_second"]+row["received_layer2_bits_per_second"]+row["line_rate_percent"] != "" || row["offered_packets_per_second"] == "" {
			t.Errorf("%v", row)
		}
	}
	for _, row := range find(find(parsed(t, r), "table", "windows")[0], "tr", "")[1 : 1+checked] {
		cells := find(row, "td", "")
		if n := len(cells); textOf(cells[n-4]) != "" || textOf(cells[n-5]) == "" {
			t.Errorf("the page has %q received of %q offered", textOf(cells[n-4]), textOf(cells[n-5]))
		}
	}
	if checked == 0 {
		t.Error("no row of a burst")
	}
}

// A trial that was ended before its time is listed with both times, and is told apart from a short one.
func TestATrialThatWasEndedBeforeItsTimeSaysSo(t *testing.T) {
	r := reporttest.Bursts()
	w := &r.Windows[0]
	w.Duration = plan.Duration(900 * time.Millisecond)
	w.Decided = &report.Decided{Duration: w.Duration, Planned: plan.Duration(time.Minute)}
	if page := string(rendered(t, "html", r)); strings.Count(page, "900ms, ended before 1m0s") != 1 {
		t.Error("the page's windows don't say that the first was ended before its time")
	}
	table, err := csv.NewReader(bytes.NewReader(rendered(t, "csv", r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	planned, kind, ended := slices.Index(table[0], "planned_seconds"), slices.Index(table[0], "record"), 0
	for _, row := range table[1:] {
		if row[kind] == "window" && row[planned] == "60" {
			ended++
		} else if row[planned] != "" {
			t.Errorf("%q in a row of a %s", row[planned], row[kind])
		}
	}
	if ended != len(w.Directions) {
		t.Errorf("%d rows, want one for each of %d directions", ended, len(w.Directions))
	}
}

// A run that met no device names what may keep frames from the generator's ports, which the device's sentence leaves out.
func TestARunThatMetNoDeviceNamesWhatMayKeepFramesFromItsPorts(t *testing.T) {
	r := &report.Report{Ending: report.Failed, Message: "nobody answers for 198.18.0.1. Note: west is a virtual function",
		Fault: &report.Cause{Detail: report.NobodyAnswers, Address: "198.18.0.1", Link: "west",
			Cautions: []string{"west is a virtual function"}}}
	want := []string{"not a whole measurement: the run ended as Failed", "west is a virtual function"}
	if got := endingWarnings(r); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
