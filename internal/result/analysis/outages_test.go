package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// transferred is a Report of sessions both ways of which so many bytes had come by each second.
func transferred(s plan.Sessions, megabits int64, there, back []int64) *report.Report {
	r := &report.Report{Plan: &plan.Plan{Sessions: &s, Directions: []plan.Direction{{From: "west", To: "east"},
		{From: "east", To: "west"}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad,
			ConstantLoad: &plan.ConstantLoad{Unlimited: megabits == 0, Rate: units.Rate{Kind: units.Layer2Bits,
				Micros: megabits * 1e12}}}}}
	for i := range there {
		r.Samples = append(r.Samples, report.Sample{Time: plan.Duration(time.Duration(i) * time.Second),
			Directions: []report.SampleDirection{
				{Sessions: &report.SessionsSoFar{ReceivedBytes: there[i]}},
				{Sessions: &report.SessionsSoFar{ReceivedBytes: back[i]}}}})
	}
	return r
}

func TestConnectionsThatStandStillAreAnOutageOfTheDevice(t *testing.T) {
	moves := []int64{0, 10, 20, 30, 40, 50, 60, 70}
	tcp := plan.Sessions{Protocol: plan.TCP, Parallel: 4, MessageBytes: 128 << 10}
	datagrams := plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: 1, MessageBytes: 1000}
	late := plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf2, Parallel: 1, MessageBytes: 1000}
	for name, c := range map[string]struct {
		of       plan.Sessions
		megabits int64
		there    []int64
		want     string // of the first Interruption
		over     bool
	}{
		"TCP for good":                           {tcp, 0, []int64{0, 10, 20, 30, 30, 30, 30, 30}, "4s", false},
		"TCP for three seconds":                  {tcp, 0, []int64{0, 10, 10, 10, 10, 30, 40, 50}, "3s", true},
		"TCP for two seconds":                    {tcp, 0, []int64{0, 10, 20, 20, 20, 30, 40, 50}, "2s", true},
		"TCP that waits for a second":            {tcp, 0, []int64{0, 10, 20, 20, 30, 40, 50, 60}, "", false},
		"TCP that waits for a second twice":      {tcp, 0, []int64{0, 10, 20, 20, 30, 30, 40, 50}, "", false},
		"TCP that never carries anything":        {tcp, 0, []int64{0, 0, 0, 0, 0, 0, 0, 0}, "", false},
		"datagrams for a second":                 {datagrams, 8, []int64{0, 10, 20, 20, 30, 40, 50, 60}, "1s", true},
		"datagrams that are told late":           {late, 8, []int64{0, 10, 20, 20, 30, 40, 50, 60}, "", false},
		"datagrams that are told late for three": {late, 8, []int64{0, 10, 20, 20, 20, 20, 50, 60}, "3s", true},
		"messages of four seconds, one at a time": {plan.Sessions{Protocol: plan.TCP, Parallel: 1,
			MessageBytes: 4_000_000}, 8, []int64{0, 10, 10, 10, 10, 20, 20, 20}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := transferred(c.of, c.megabits, c.there, moves)
			r.Interruptions = Outages(r)
			if c.want == "" {
				if len(r.Interruptions) > 0 {
					t.Fatalf("%+v", r.Interruptions)
				}
				return
			}
			if len(r.Interruptions) != 1 || r.Interruptions[0].Direction != "west→east" ||
				r.Interruptions[0].Duration.Std().String() != c.want || r.Interruptions[0].Over != c.over {
				t.Fatalf("%+v, want %s", r.Interruptions, c.want)
			}
			if said := silentSentences(r, false); !strings.Contains(said[0], "nothing came back west→east for "+
				c.want) {
				t.Error(said)
			}
		})
	}
}

// Ends that had no processor for as long may have been the ones that stood still.
func TestConnectionsThatStandStillWhereTheirEndsDoMayBeNoOutage(t *testing.T) {
	r := transferred(plan.Sessions{Protocol: plan.TCP, Parallel: 4, MessageBytes: 1 << 10}, 0,
		[]int64{0, 10, 10, 10, 10, 30}, []int64{0, 10, 20, 30, 40, 50})
	r.Windows = []report.Window{{Number: 1, Start: plan.Duration(time.Second), Duration: plan.Duration(4 * time.Second),
		Quality: report.Good,
		Directions: []report.Direction{{Quality: report.Good,
			Sessions: &report.Sessions{EndsWaited: plan.Duration(3 * time.Second)}}}}}
	if all := Outages(r); len(all) != 1 || !all[0].EndsWaited {
		t.Errorf("%+v", all)
	}
}

// TestDatagramsLostBetweenTheirEndsAreAnOutageHoweverTheEndsWaited: datagrams that left the sender, and that the
// receiver's sockets neither delivered nor dropped, no waiting program has lost.
func TestDatagramsLostBetweenTheirEndsAreAnOutageHoweverTheEndsWaited(t *testing.T) {
	for name, c := range map[string]struct {
		became report.Datagrams
		outage bool
	}{
		"they were lost on the way": {report.Datagrams{Sent: 4000, Lost: 3900}, true},
		"the receiver's sockets dropped them": {report.Datagrams{Sent: 4000, Lost: 3900, DroppedByReceiver: 3000},
			false},
		"the sender sent hardly any": {report.Datagrams{Sent: 10, Lost: 10}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := transferred(plan.Sessions{Protocol: plan.UDP, Parallel: 1, MessageBytes: 1 << 10}, 0,
				[]int64{0, 10, 10, 10, 10, 10}, []int64{0, 10, 20, 30, 40, 50})
			r.Windows = []report.Window{{Number: 1, Start: plan.Duration(time.Second),
				Duration: plan.Duration(4 * time.Second), Quality: report.Good,
				Directions: []report.Direction{{Quality: report.Good,
					Sessions: &report.Sessions{EndsWaited: plan.Duration(3 * time.Second), Datagrams: &c.became}}}}}
			if all := Outages(r); len(all) != 1 || all[0].EndsWaited == c.outage {
				t.Errorf("%+v", all)
			}
		})
	}
}

// TestASilenceWhileTheEndsWaitForProcessorsPassesNothing: whether the device or the ends stood still, nobody saw the
// load carried in that time, so no criterion passes, and no figure is confirmed.
func TestASilenceWhileTheEndsWaitForProcessorsPassesNothing(t *testing.T) {
	tcp := plan.Sessions{Protocol: plan.TCP, Parallel: 4, MessageBytes: 128 << 10}
	datagrams := plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: 1, MessageBytes: 1000}
	for name, c := range map[string]struct {
		of       plan.Sessions
		megabits int64
		there    []int64
		waited   time.Duration // the ends' programs, in each window of a second
		want     report.Reason
		passes   bool
	}{
		"TCP for four seconds": {tcp, 0, []int64{0, 10, 10, 10, 10, 10, 30, 40}, 2 * time.Second,
			report.NotHeld, false},
		"TCP from a moment on": {tcp, 0, []int64{0, 10, 20, 20, 20, 20, 20, 20}, 2 * time.Second,
			report.NotHeld, false},
		"TCP on a calm machine": {tcp, 0, []int64{0, 10, 20, 20, 20, 20, 20, 20}, 0, report.DeviceLost,
			false},
		"TCP that waits for a second": {tcp, 0, []int64{0, 10, 20, 20, 30, 40, 50, 60}, 2 * time.Second,
			report.GeneratorLimited, true},
		"datagrams, of which few are overdue": {datagrams, 8, []int64{0, 10, 20, 30, 40, 50, 60, 60},
			2 * time.Second, report.NotHeld, false},
		"datagrams that come though ends waited": {datagrams, 8, []int64{0, 10, 20, 30, 40, 50, 60, 70},
			2 * time.Second, report.GeneratorLimited, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := transferred(c.of, c.megabits, c.there, make([]int64, len(c.there)))
			r.Ending, r.Plan.Directions = report.Completed, r.Plan.Directions[:1]
			load := r.Plan.Procedure.ConstantLoad
			load.Window, load.Duration = plan.Duration(time.Second),
				plan.Duration(len(c.there)-1)*plan.Duration(time.Second)
			r.Plan.Criteria = []plan.Criterion{{Name: "some", Metric: "GoodputBitsPerSecond", Min: "1"}}
			for n := range len(c.there) - 1 {
				s := waitingSessions(c.of, c.there[n+1]-c.there[n], c.waited)
				r.Windows = append(r.Windows, report.Window{Number: n + 1, Phase: report.Hold, Quality: report.Good,
					Start:    r.Samples[n].Time,
					Duration: plan.Duration(time.Second), Directions: []report.Direction{{From: "west", To: "east",
						Quality: report.Good, Sessions: s}}})
			}
			r.Interruptions = Outages(r)
			r.Answer = Answer(r)
			verdict := Verdict(r)
			if r.Answer.Reason != c.want || r.Answer.Confirmed != c.passes ||
				(verdict.Outcome == report.Passed) != c.passes {
				t.Errorf("%s, confirmed %v, %s: %s", r.Answer.Reason, r.Answer.Confirmed, verdict.Outcome,
					r.Answer.Message)
			}
			if c.want == report.NotHeld && !strings.Contains(r.Answer.NotHeld, "waited for processors") {
				t.Error(r.Answer.NotHeld)
			}
		})
	}
}

// waitingSessions is a second of sessions that received so many kilobytes, and whose ends waited. Of datagrams the
// second half is not overdue yet.
func waitingSessions(of plan.Sessions, kilobytes int64, waited time.Duration) *report.Sessions {
	second := plan.Duration(time.Second)
	s := &report.Sessions{Connections: of.Parallel, ReceivedBytes: 1000 * kilobytes, ReceivedIn: second,
		GoodputBitsPerSecond: 8000 * kilobytes,
		EndsWaited:           plan.Duration(waited)}
	if of.Protocol == plan.UDP {
		s.SentIn, s.WrittenBytes, s.AskedBitsPerSecond = second, 400_000, 8_000_000
		s.Datagrams = &report.Datagrams{Sent: 400, Received: kilobytes}
		if kilobytes == 0 {
			s.Datagrams.Lost = 172
		}
		return s
	}
	s.Senders = report.SenderTime{Observed: second * plan.Duration(of.Parallel),
		Busy: second * plan.Duration(of.Parallel), Samples: 200, HeldByPath: 190}
	return s
}
