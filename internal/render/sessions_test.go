package render

import (
	"encoding/csv"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestARunOfSessionsReadsAsItDid(t *testing.T) {
	for _, format := range []string{"text", "markdown", "html", "csv", "json"} {
		golden(t, "sessions."+map[string]string{"text": "txt", "markdown": "md", "html": "html", "csv": "csv", "json": "json"}[format], rendered(t, format, reporttest.Sessions(46_500_000)))
	}
}

func TestARunOfDatagramsReadsAsItDid(t *testing.T) {
	for _, format := range []string{"text", "markdown", "csv", "json"} {
		golden(t, "datagrams."+map[string]string{"text": "txt", "markdown": "md", "csv": "csv", "json": "json"}[format], rendered(t, format, reporttest.Datagrams(40_000_000)))
	}
	page := string(rendered(t, "html", reporttest.Datagrams(40_000_000)))
	for _, want := range []string{"Goodput and lost datagrams against time", `data-missing="lost datagrams"`, "lost, late, jitter", "<td class=\"n\">500</td>", "25 µs"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
	if strings.Contains(page, "retransmits per second") {
		t.Error("the page draws retransmits, which UDP has none of")
	}
}

// TestWhatIsNotThePathsStandsInNoCell: what was sent again west→east may be the ends' own, and so may what was in
// all directions together.
func TestWhatIsNotThePathsStandsInNoCell(t *testing.T) {
	r := reporttest.Sessions(46_500_000)
	r.Answer.Directions[0].Sessions.Ends = &report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Interface: "east0", Counter: "TCPRcvQDrop", Packets: 3}}}
	const why = "Retransmits and round trips west→east may not be the path's: an end itself dropped segments that may have been of these connections."
	for format, wants := range map[string][]string{
		"text":     {why, "west→east 4 ≥46.50 Mb/s 40 - - - -", "east→west 4 46.50 Mb/s 40 0.0996% 800 µs 41 ms 52 ms", "all 8 ≥93.00 Mb/s 80 - - - -"},
		"markdown": {why, "| west→east | 4 | ≥46.50 Mb/s | 40 | - | - | - | - |", "| east→west | 4 | 46.50 Mb/s | 40 | 0.0996% | 800 µs | 41 ms | 52 ms |", "| all | 8 | ≥93.00 Mb/s | 80 | - | - | - | - |"},
		"html":     {html.EscapeString(why)},
		"junit":    {`"west-east.retransmittedSegments" value="40"`, `"east-west.roundTripMicroseconds" value="41000"`},
	} {
		got := strings.Join(strings.Fields(string(rendered(t, format, r))), " ")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s doesn't say %q:\n%s", format, want, got)
			}
		}
		if strings.Contains(got, "west-east.roundTrip") {
			t.Errorf("%s tells a round trip west→east", format)
		}
	}
	for _, row := range readBack(t, OfReports(r)) {
		if row["retransmitted_segments"] == "" {
			continue
		}
		if figure := row["from"] == "east"; (row["retransmit_percent"] != "") != figure || (row["round_trip_microseconds"] != "") != figure {
			t.Errorf("row %s from %q: %s %% were sent again, round trip %s µs; they are figures: %t", row["row"], row["from"], row["retransmit_percent"], row["round_trip_microseconds"], figure)
		}
	}
}

// TestJitterOfTheEndsStandsInNoCell: they waited for processors, and what was lost is the path's all the same.
func TestJitterOfTheEndsStandsInNoCell(t *testing.T) {
	r := reporttest.Datagrams(40_000_000)
	told := func() (loss, jitter bool) {
		for _, row := range readBack(t, OfReports(r)) {
			if row["datagrams_sent"] != "" && row["from"] == "west" {
				loss, jitter = row["datagram_loss_percent"] != "", row["jitter_microseconds"] != ""
			}
		}
		return loss, jitter
	}
	if loss, jitter := told(); !loss || !jitter {
		t.Fatalf("loss is told: %t, jitter: %t", loss, jitter)
	}
	r.Answer.Directions[0].Sessions.EndsWaited = plan.Duration(time.Minute)
	if loss, jitter := told(); !loss || jitter {
		t.Errorf("loss is told: %t, jitter: %t", loss, jitter)
	}
	const why = "Jitter west→east may not be the path's: the ends' own threads waited 1m0s for processors"
	if got := strings.Join(strings.Fields(string(rendered(t, "text", r))), " "); !strings.Contains(got, why) {
		t.Errorf("text doesn't say %q:\n%s", why, got)
	}
}

// ofFramesAlone are words that mean nothing where no frame is counted.
var ofFramesAlone = regexp.MustCompile(`(?i)\b(packets?|pps|frames?|line[ -]rate|loss|lossy|offered|intended)\b`)

func TestNothingSpeaksOfFramesWhereTrafficIsSessions(t *testing.T) {
	bound := reporttest.SessionsBound(46_500_000)
	bound.Plan.Test.Name, bound.Plan.Test.Loadtest = "linux-tcp-2", "tcp-2"
	for _, format := range []string{"text", "markdown", "html"} {
		for name, reports := range map[string][]*report.Report{"one": {reporttest.Sessions(46_500_000)}, "two": {reporttest.Sessions(46_500_000), bound}} {
			if found := ofFramesAlone.FindAllString(shown(string(rendered(t, format, reports...))), -1); len(found) > 0 {
				t.Errorf("%s of %s says %q", format, name, found)
			}
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(rendered(t, "csv", reporttest.Sessions(46_500_000))))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for column, name := range rows[0] {
		if !ofFramesAlone.MatchString(strings.ReplaceAll(name, "_", " ")) {
			continue
		}
		for _, row := range rows[1:] {
			if row[column] != "" {
				t.Errorf("csv has %s %q in a row of kind %s", name, row[column], row[0])
			}
		}
	}
}

// shown is what a page shows: without its script, its style, its classes and the Plan, whose members have their own
// names.
func shown(page string) string {
	for _, hidden := range []string{`(?s)<script>.*?</script>`, `(?s)<style>.*?</style>`, `(?s)<pre>.*?</pre>`, `class="[^"]*"`} {
		page = regexp.MustCompile(hidden).ReplaceAllString(page, "")
	}
	return page
}

func TestGoodputIsDrawnByTheReceiversClock(t *testing.T) {
	const goodput = 46_500_000
	r := reporttest.Sessions(goodput)
	tracks := tracksOf(r)
	if len(tracks) != 3 || tracks[0].Name != "all directions" || tracks[2].Name != "east→west" {
		t.Fatalf("tracks are %+v", tracks)
	}
	for _, track := range tracks {
		want := float64(goodput)
		if track.index < 0 {
			want *= 2
		}
		readings, _ := track.readings(r)
		if len(readings) != len(r.Samples)-1 {
			t.Fatalf("%s: %d readings of %d samples", track.Name, len(readings), len(r.Samples))
		}
		for _, g := range readings[1:] {
			if math.Abs(g.goodput-want) > 100 {
				t.Errorf("%s: from %.2f s on %.0f bit/s are drawn, want %.0f", track.Name, g.start, g.goodput, want)
			}
		}
		if readings[0].phase != report.WarmUp || readings[2].phase != report.Hold {
			t.Errorf("%s: phases are %s and %s", track.Name, readings[0].phase, readings[2].phase)
		}
	}
}

func TestAReportOfSessionsWithoutSamplesIsDrawnByItsWindows(t *testing.T) {
	r := reporttest.Sessions(46_500_000)
	r.Samples = nil
	readings, _ := tracksOf(r)[1].readings(r)
	if len(readings) != 1 || readings[0].goodput != 46_500_000 || readings[0].start != 2 || readings[0].end != 12 {
		t.Errorf("readings are %+v", readings)
	}
}

func TestWhatNobodyReadIsNoGoodput(t *testing.T) {
	r := reporttest.Sessions(46_500_000)
	for i := range r.Samples {
		if i >= 5 { // an end was restarted
			r.Samples[i].Directions[1].Sessions.ReceivedBytes -= 20_000_000
		}
	}
	for i, want := range map[int]bool{0: false, 1: true, 2: false} { // all directions, west→east, east→west
		readings, _ := tracksOf(r)[i].readings(r)
		if known := readings[4].goodput >= 0; known != want {
			t.Errorf("track %d: what came between the fourth and the fifth sample is known: %t", i, known)
		}
	}
}

// The windows of a load that was held are all marked, and their marks tell goodput.
func TestTheWindowsOfTheResultAreMarked(t *testing.T) {
	r := reporttest.Sessions(46_500_000)
	whole := r.Windows[0]
	r.Windows = nil
	for i := range 5 {
		w := whole
		w.Number, w.Start, w.Duration = i+1, plan.Duration(time.Duration(2*i)*time.Second), plan.Duration(2*time.Second)
		w.Directions = slices.Clone(whole.Directions)
		if i == 0 {
			w.Phase = report.WarmUp
		}
		if i == 3 {
			w.Quality, w.Directions[0].Quality, w.Directions[0].Sessions = report.Invalid, report.Invalid, nil
		}
		r.Windows = append(r.Windows, w)
	}
	r.Answer.Windows = []int{2, 3, 5}
	drawn, ok := newTimeline(r, tracksOf(r)[0], false)
	if !ok {
		t.Fatal("nothing is drawn")
	}
	var bands, marks []string
	for _, b := range drawn.Bands {
		if strings.HasPrefix(b.Class, "chosen") {
			bands = append(bands, b.Title)
		}
	}
	for _, m := range drawn.Marks {
		marks = append(marks, m.Class)
	}
	if len(bands) != 3 || !strings.HasPrefix(bands[0], "the result comes from 3 windows, of which this is one: window 2, hold: 93.00 Mb/s goodput, ") {
		t.Errorf("bands are %q", bands)
	}
	if want := []string{"good", "good", "good", "invalid", "good"}; !slices.Equal(marks, want) {
		t.Errorf("marks are %q, want %q", marks, want)
	}
}

func TestAViewerOfRampsIsGivenNoSessions(t *testing.T) {
	err := viz(io.Discard, reporttest.Sessions(46_500_000))
	if err == nil || ofFramesAlone.MatchString(strings.ReplaceAll(err.Error(), "ramps of frames", "")) || !strings.Contains(err.Error(), "write html") {
		t.Errorf("viz says %v", err)
	}
}
