package figures_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// tcp is a direction of 40 Mb/s whose receiver held the sender back for so many milliseconds of a second.
func tcp(from, to string, held time.Duration) report.Direction {
	return report.Direction{From: from, To: to, Quality: report.Good, Sessions: &report.Sessions{Connections: 2, ReceivedIn: plan.Duration(time.Second), GoodputBitsPerSecond: 40_000_000, Segments: 1000,
		RetransmittedSegments: 10, RetransmitRatio: units.RatioOf(10, 1000), RoundTrip: &report.RoundTrip{MinMicroseconds: 80, MeanMicroseconds: 1900, MaxMicroseconds: 4000},
		Senders: report.SenderTime{Observed: plan.Duration(time.Second), Busy: plan.Duration(time.Second), ReceiverLimited: plan.Duration(held), Samples: 100, HeldByPath: 90}}}
}

func ofSessions(directions ...report.Direction) *report.Report {
	total := measure.Sum(directions, nil)
	return &report.Report{Plan: &plan.Plan{Sessions: &plan.Sessions{}}, Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: report.PathLimited, Directions: directions, Total: &total, Claim: report.Claim{Confirmed: true}}}
}

// What a direction did is bounded above only by what was seen in that direction, and of frames nothing is claimed.
func TestFiguresOfSessions(t *testing.T) {
	all := figures.Of(ofSessions(tcp("west", "east", 20*time.Millisecond), tcp("east", "west", time.Second/2)))
	type claim struct {
		low, high report.Number
		reason    report.Reason
	}
	got := map[string]claim{}
	for _, f := range all {
		got[f.Direction+" "+string(f.Metric)] = claim{f.Low, f.High, f.Reason}
	}
	want := map[string]claim{
		"west→east GoodputBitsPerSecond":  {"40000000", "40816326.530612244898", report.PathLimited}, // ÷ (1 − 2 %)
		"west→east RetransmitRatio":       {"0.01", "0.01", report.PathLimited},
		"west→east RoundTripMicroseconds": {"1900", "1900", report.PathLimited},
		"east→west GoodputBitsPerSecond":  {"40000000", "", report.GeneratorLimited},
		// at the device's own load it may lose and delay more
		"east→west RetransmitRatio":       {"0.01", "", report.GeneratorLimited},
		"east→west RoundTripMicroseconds": {"1900", "", report.GeneratorLimited},
		"Total GoodputBitsPerSecond":      {"80000000", "", report.GeneratorLimited},
		"Total RetransmitRatio":           {"0.01", "", report.GeneratorLimited},
		"Total RoundTripMicroseconds":     {"1900", "", report.GeneratorLimited},
	}
	for name, c := range want {
		if got[name] != c {
			t.Errorf("%s: %+v, want %+v", name, got[name], c)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d figures, want %d: %+v", len(got), len(want), got)
	}
}

// All that was asked for came one way: both ways together that is a lower bound, whichever way the path was the limit.
func TestAGoodputThatWasAskedForBoundsNoSum(t *testing.T) {
	asked := tcp("west", "east", 0)
	asked.Sessions.AskedBitsPerSecond = asked.Sessions.GoodputBitsPerSecond
	for _, directions := range [][]report.Direction{{asked, tcp("east", "west", 0)}, {tcp("east", "west", 0), asked}} {
		if f := one(t, ofSessions(directions...), figures.GoodputBitsPerSecond, report.AllDirections); f.Low != "80000000" || f.High != "" || f.Reason != report.TargetReached {
			t.Errorf("%+v", f)
		}
	}
}

// doubts are what makes retransmits and round trips no figures of the path.
var doubts = map[string]func(*report.Sessions){
	"an end dropped something": func(s *report.Sessions) {
		s.Ends = &report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Counter: "rx_dropped", Packets: 1}}}
	},
	"it isn't known what an end dropped": func(s *report.Sessions) { s.Ends = &report.SessionEnds{Unknown: "link east: no such file"} },
	"ends waited for processors":         func(s *report.Sessions) { s.EndsWaited = plan.Duration(100 * time.Millisecond) },
	"those who carry frames waited":      func(s *report.Sessions) { s.Disturbed = plan.Duration(100 * time.Millisecond) },
}

// A goodput that is a lower bound bounds something; retransmits that may be the ends' own bound nothing of the path's.
func TestRetransmitsThatMayBeTheEndsAreNotThePaths(t *testing.T) {
	for name, change := range doubts {
		d := tcp("west", "east", 0)
		change(d.Sessions)
		for _, f := range figures.Of(ofSessions(d, tcp("east", "west", 0))) {
			of := f.Direction == "west→east" || f.Direction == report.AllDirections
			if goodput := f.Metric == figures.GoodputBitsPerSecond; (f.Missing != "") != (of && !goodput) || of && f.High != "" || of && !goodput && f.Low != "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestASummaryTellsARoundTripOnlyWhereItIsAFigure: segments that were sent again stay, as they were counted, and
// one direction in doubt is enough for all together.
func TestASummaryTellsARoundTripOnlyWhereItIsAFigure(t *testing.T) {
	for name, change := range doubts {
		d := tcp("west", "east", 0)
		change(d.Sessions)
		for want, directions := range map[string][]report.Direction{
			"west→east: ≥ 40.00 Mb/s goodput, 10 retransmits; east→west: 40.00 Mb/s goodput, 10 retransmits, rtt 1.9 ms": {d, tcp("east", "west", 0)},
			"≥ 120.00 Mb/s goodput, 30 retransmits in 3 directions":                                                      {tcp("a", "b", 0), d, tcp("c", "d", 0)},
		} {
			if got := figures.Summary(ofSessions(directions...)); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// What leaves a figure out by PathDoubt leaves out exactly those that are missing.
func TestWhatIsNotThePathsIsMissing(t *testing.T) {
	for name, change := range doubts {
		d := tcp("west", "east", 0)
		change(d.Sessions)
		r := ofSessions(d, tcp("east", "west", 0))
		of := map[string][]report.Direction{"west→east": r.Answer.Directions[:1], "east→west": r.Answer.Directions[1:], report.AllDirections: r.Answer.Directions}
		for _, f := range figures.Of(r) {
			if f.Metric != figures.GoodputBitsPerSecond && (figures.PathDoubt(of[f.Direction]...) != "") != (f.Missing != "") {
				t.Errorf("%s: %s of %s is missing for %q, and not the path's for %q", name, f.Metric, f.Direction, f.Missing, figures.PathDoubt(of[f.Direction]...))
			}
		}
	}
}

func TestASummaryOfSessionsReadsAsPeopleSayIt(t *testing.T) {
	for want, r := range map[string]*report.Report{
		"west→east: 40.00 Mb/s goodput, 10 retransmits, rtt 1.9 ms":                                                              ofSessions(tcp("west", "east", 0)),
		"west→east: 40.00 Mb/s goodput, 10 retransmits, rtt 1.9 ms; east→west: ≥ 40.00 Mb/s goodput, 10 retransmits, rtt 1.9 ms": ofSessions(tcp("west", "east", 0), tcp("east", "west", time.Second)),
		"≥ 120.00 Mb/s goodput, 30 retransmits, rtt 1.9 ms in 3 directions":                                                      ofSessions(tcp("a", "b", 0), tcp("b", "a", time.Second), tcp("c", "d", 0)),
	} {
		if got := figures.Summary(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if h := figures.HeadlineOf(ofSessions(tcp("west", "east", 0))); !h.OfSessions || h.Bound || h.GoodputBitsPerSecond != 40_000_000 || h.PacketsPerSecond != 0 {
		t.Errorf("%+v", h)
	}
	if f := figures.TableFigures(ofSessions(tcp("west", "east", time.Second))); !f.LowerBound || f.Throughput() != 40_000_000 {
		t.Errorf("%+v", f)
	}
}

// TestLossOfAReceiverThatDoesNotTellAll: what it says nothing of may be lost, so a demand is met only where even
// that is little enough.
func TestLossOfAReceiverThatDoesNotTellAll(t *testing.T) {
	d := report.Direction{From: "west", To: "east", Sessions: &report.Sessions{AskedBitsPerSecond: 8_000_000, GoodputBitsPerSecond: 7_920_000, WrittenBytes: 1_000_000, SentIn: plan.Duration(time.Second), ReceivedIn: plan.Duration(time.Second),
		Datagrams: &report.Datagrams{Sent: 1000, Received: 980, Lost: 10, LostAtLeast: true, LossRatio: units.RatioOf(10, 990)}}}
	for _, f := range figures.Of(ofSessions(d)) {
		if f.Metric == figures.DatagramLossRatio && f.Direction == "west→east" {
			if f.Low.Float() < 0.0101 || f.Low.Float() > 0.0102 || f.High != "0.02" || figures.Text(f) != "1.010101 % to 2 % of the datagrams lost" {
				t.Errorf("%+v: %s", f, figures.Text(f))
			}
			return
		}
	}
	t.Error("there is no figure of its loss")
}
