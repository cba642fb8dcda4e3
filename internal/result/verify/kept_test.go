package verify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// sessions is a Report of TCP sessions, of two windows: what ends said at their edges is made up, and all that
// follows from it is computed.
func sessions(t *testing.T) *report.Report {
	t.Helper()
	r := reporttest.Sessions(40_000_000)
	r.Producer, r.Samples = by, nil
	*r.Plan.Procedure.ConstantLoad = plan.ConstantLoad{Unlimited: true, Duration: seconds(20), Window: seconds(10)}
	r.Plan.Criteria = []plan.Criterion{{Name: "goodput", Metric: "GoodputBitsPerSecond", Direction: "Total", Min: "1000000"}}
	r.Finished = r.Started.Add(30 * time.Second)
	first := r.Windows[0]
	r.Windows = nil
	for n := range 2 {
		w := report.Window{Number: n + 1, Phase: report.Hold, Load: units.One, Start: seconds(float64(1 + 10*n)), Duration: seconds(10), GeneratorCPUPercent: -1}
		for _, d := range first.Directions {
			s := d.Sessions
			end := measure.Sending{At: 10 * time.Second, Connections: s.Connections, WrittenBytes: s.WrittenBytes + int64(n), AcknowledgedBytes: s.AcknowledgedBytes, SentBytes: s.SentBytes,
				RetransmittedBytes: s.RetransmittedBytes, Segments: s.Segments, RetransmittedSegments: s.RetransmittedSegments, Busy: s.Senders.Busy.Std(), Samples: s.Senders.Samples,
				HeldByPath: s.Senders.HeldByPath, RoundTripSamples: 100, RoundTrips: 100 * 41 * time.Millisecond, ShortestRoundTrip: time.Millisecond, LongestRoundTrip: 52 * time.Millisecond}
			w.Directions = append(w.Directions, measure.Sessions(measure.SessionSpan{From: d.From, To: d.To, Window: 10 * time.Second,
				Sending:   []measure.Sending{{Connections: s.Connections}, end},
				Receiving: []measure.Receiving{{Connections: s.Connections}, {At: 10 * time.Second, Connections: s.Connections, Bytes: s.ReceivedBytes + int64(n)}}}))
		}
		w.Quality, w.Reason = measure.Worst(w.Directions)
		r.Windows = append(r.Windows, w)
	}
	return concluded(t, r)
}

// concluded is a Report with all that follows from its windows.
func concluded(t *testing.T, r *report.Report) *report.Report {
	t.Helper()
	r.Environment = nil
	r.Environment = report.EnvironmentOf(r)
	r.Answer = analysis.Answer(r)
	r.Figures = figures.Of(r)
	r.Verdict = analysis.Verdict(r)
	return stored(t, r)
}

// A changed figure of sessions is found as one of frames is. Raw counters of a window are in the sums of the result.
func TestEachChangedFigureOfSessionsIsFound(t *testing.T) {
	r := sessions(t)
	if v := verify.Report(r, by); v.Outcome != verify.Verified || !r.Answer.Measured || v.Criteria != 1 {
		t.Fatalf("%s: %v; %s", v, v.Findings(), r.Answer.Message)
	}
	tried, missed := changeEach(t, marshal(t, r), everySo(1, 1), false)
	if tried < 100 || len(missed) > 0 {
		t.Errorf("of %d nobody finds\n%s", tried, strings.Join(missed, "\n"))
	}
}

// A Report that gave up detail to fit where it is kept verifies, and it is said what was not verified; what is left
// of it can't be changed either.
func TestAThinnedReport(t *testing.T) {
	whole := ramp().run(t)
	r := stored(t, whole)
	r.Thinned = &report.Thinned{Windows: len(r.Windows), Samples: len(r.Samples), Notes: len(r.Notes)}
	cited := func(w report.Window) bool {
		return w.Number == r.Answer.Window || w.Number == r.Answer.MaxReceived.Window
	}
	for i := range r.Windows {
		if w := &r.Windows[i]; !cited(*w) {
			w.Evidence, w.Directions[0].Reason, w.Directions[1].Reason = nil, "", ""
		}
	}
	verifiedBut(t, r, "evidence of")
	r.Windows = slices.DeleteFunc(r.Windows, func(w report.Window) bool { return w.Number%2 == 0 && !cited(w) })
	r.Samples = nil
	verifiedBut(t, r, "windows were left out")
	r.Answer.Total.Received.PacketsPerSecond++
	if found := verify.Report(r, by).Findings(); len(found) != 1 || found[0].Field != "total.received.packetsPerSecond" {
		t.Errorf("%v", found)
	}
}

// An answer that combines several windows is not held to the one of them that was kept.
func TestAThinnedReportOfSeveralWindows(t *testing.T) {
	for _, name := range []string{"maximum offered load", "flood of a starved machine", "constant load"} {
		t.Run(name, func(t *testing.T) {
			r := stored(t, scenes()[name].run(t))
			if len(r.Answer.Windows) < 2 {
				t.Fatalf("the answer is of windows %v", r.Answer.Windows)
			}
			r.Thinned = &report.Thinned{Windows: len(r.Windows), Samples: len(r.Samples), Notes: len(r.Notes)}
			r.Windows = slices.DeleteFunc(r.Windows, func(w report.Window) bool {
				return w.Number != r.Answer.Window && w.Number != r.Answer.MaxReceived.Window
			})
			r.Samples = nil
			verifiedBut(t, r, "windows were left out")
			r.Answer.Total.Received.PacketsPerSecond++
			if found := verify.Report(r, by).Findings(); len(found) == 0 {
				t.Error("a changed total was not found")
			}
		})
	}
}

// Where generators don't report how long they waited, their frames count as evenly sent.
func TestAReportWithoutTheWaitsOfSenders(t *testing.T) {
	s := scenes()["flood of a starved machine"]
	s.machine = &sceneMachine{}
	r := s.run(t)
	if v := verify.Report(r, by); v.Outcome != verify.Verified {
		t.Errorf("%s: %v", v, v.Findings())
	}
	disturbed := 0
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			if d.SendersWaited != 0 {
				t.Errorf("window %d, %s: a sender waited %s, which nobody told", w.Number, d.Name(), d.SendersWaited.Std())
			}
			if waited := w.Disturbance.Waited.Std(); d.DisturbedFrames > 0 {
				disturbed++
				if want := (d.Sent.Packets*int64(waited) + int64(w.Duration) - 1) / int64(w.Duration); d.DisturbedFrames != want {
					t.Errorf("window %d, %s: up to %d of %d frames were lost as others waited %s of %s, want %d", w.Number, d.Name(), d.DisturbedFrames, d.Sent.Packets, waited, w.Duration.Std(), want)
				}
			}
		}
	}
	if disturbed == 0 {
		t.Error("no window was disturbed")
	}
}

// How long senders waited decides how much may have been lost for a disturbance: to change it, or to leave it out,
// is found.
func TestAChangedWaitOfSendersIsFound(t *testing.T) {
	whole := scenes()["flood of a starved machine"].run(t)
	if v := verify.Report(whole, by); v.Outcome != verify.Verified || !strings.Contains(whole.Answer.EvidenceText(), "neither is a limit") {
		t.Fatalf("%s: %v: %s", v, v.Findings(), whole.Answer.Message)
	}
	for name, change := range map[string]func(*plan.Duration){
		"longer":   func(d *plan.Duration) { *d += *d / 10 },
		"shorter":  func(d *plan.Duration) { *d -= *d / 10 },
		"left out": func(d *plan.Duration) { *d = 0 },
	} {
		r := stored(t, whole)
		d := &r.Windows[len(r.Windows)-1].Directions[0]
		if d.SendersWaited <= 0 {
			t.Fatalf("no sender waited: %+v", *d)
		}
		change(&d.SendersWaited)
		if !slices.ContainsFunc(verify.Report(r, by).Findings(), func(f verify.Finding) bool { return strings.HasSuffix(f.Field, "disturbedFrames") }) {
			t.Errorf("nobody finds that it is %s", name)
		}
	}
}

func verifiedBut(t *testing.T, r *report.Report, but string) {
	t.Helper()
	v := verify.Report(stored(t, r), by)
	if v.Outcome != verify.Verified || !strings.Contains(strings.Join(v.NotVerified(), "\n"), but) {
		t.Errorf("%s: %v; not verified: %v", v, v.Findings(), v.NotVerified())
	}
}
