package measure

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// beside is a second in which napi/east-12 waited for processor 1, which sh had for 48 %, and a thread of the ends'
// for as long.
func beside(waited, ends time.Duration) *report.Disturbance {
	return &report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(waited), Strangers: plan.Duration(480 * time.Millisecond),
		Waits:  []report.Wait{{Thread: "napi/east-12", ID: 12, Processor: 1, Waited: plan.Duration(waited)}, {Thread: "linerate", ID: 31, Sends: true, Processor: 1, Waited: plan.Duration(ends)}},
		Others: []report.Other{{Process: "sh", PID: 4711, Processor: 1, Ran: plan.Duration(480 * time.Millisecond)}}}
}

func TestADisturbedMachineIsNoPathsLimit(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		disturbance *report.Disturbance
		ourselves   bool
		reason      report.Reason
		disturbed   time.Duration
		says        string
	}{
		"nobody can tell":                    {nil, false, report.PathLimited, 0, "held back by what is between the ends"},
		"waits as they come on any machine":  {beside(20*ms, 0), false, report.PathLimited, 0, "held back by what is between the ends"},
		"who carries frames waited too long": {beside(310*ms, 0), false, report.MachineLimited, 310 * ms, "held"},
		"and the sentence says who for whom": {beside(21*ms, 0), false, report.MachineLimited, 21 * ms,
			"thread napi/east-12 (12), which carries frames, waited 21ms of 1s for processor 1, which sh (process 4711) had for 48 %: a lower bound (keep other work off the processors of ends and device)"},
		"the ends themselves had the processors of this machine's own kernel": {func() *report.Disturbance { d := beside(310*ms, 0); d.Strangers = plan.Duration(15 * ms); return d }(), true, report.PathLimited, 0, "between the ends"},
		"strangers had the processors of this machine's own kernel":           {beside(310*ms, 0), true, report.MachineLimited, 310 * ms, "napi/east-12"},
		"the host took them": {&report.Disturbance{Over: plan.Duration(time.Second), Stolen: plan.Duration(100 * ms)}, false, report.MachineLimited, 100 * ms,
			"the host of this virtual machine took 100ms of 1s: a lower bound"},
		"the machine didn't answer": {&report.Disturbance{Missing: "deadline exceeded"}, false, report.MachineLimited, time.Second,
			"the machine was too busy to say who waited for its processors (deadline exceeded): a lower bound"},
	} {
		t.Run(name, func(t *testing.T) {
			s := span(func(s *SessionSpan) {
				s.Window, s.Disturbance, s.SharesKernel = time.Second, c.disturbance, c.ourselves
			})
			m := Sessions(s)
			if c.says == "held" {
				c.says = "waited 310ms"
			}
			if got := LimitOfSessions(*m.Sessions); got.Reason() != c.reason || m.Sessions.Disturbed.Std() != c.disturbed || !strings.Contains(m.Reason, c.says) || m.Quality != report.Good {
				t.Errorf("%s %s, disturbed for %s: %s", m.Quality, got.Reason(), m.Sessions.Disturbed.Std(), m.Reason)
			}
		})
	}
}

func TestEndsThatWaitForProcessorsAreNoPathsLimit(t *testing.T) {
	none := &Drops{Counters: map[string]int64{QueueDrops: 0}}
	waiting := func(program string, waited time.Duration, link string) EndSpan {
		return EndSpan{Link: link, First: none, Last: none, WaitsFirst: &Waits{program, time.Hour}, WaitsLast: &Waits{program, time.Hour + waited}}
	}
	for name, c := range map[string]struct {
		ends   []EndSpan
		waited time.Duration
		reason report.Reason
	}{
		"two programs, each a little":          {[]EndSpan{waiting("a", 90*time.Millisecond, "west"), waiting("b", 100*time.Millisecond, "east")}, 190 * time.Millisecond, report.PathLimited},
		"two programs, together a lot":         {[]EndSpan{waiting("a", 190*time.Millisecond, "west"), waiting("b", 100*time.Millisecond, "east")}, 290 * time.Millisecond, report.GeneratorLimited},
		"one program of both ends counts once": {[]EndSpan{waiting("a", 190*time.Millisecond, "west"), waiting("a", 190*time.Millisecond, "east")}, 190 * time.Millisecond, report.PathLimited},
		"a program of two directions": {func() []EndSpan {
			e := waiting("a", 300*time.Millisecond, "west")
			e.Directions = 2
			return []EndSpan{e}
		}(), 150 * time.Millisecond, report.PathLimited},
		"an end that doesn't tell may have waited": {[]EndSpan{{Link: "west", First: none, Last: none}}, 0, report.Inconclusive},
		"an end whose program was restarted": {func() []EndSpan {
			e := waiting("a", 0, "west")
			e.WaitsLast.Program = "b"
			return []EndSpan{e}
		}(), 0, report.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			m := Sessions(span(func(s *SessionSpan) {
				s.Ends, s.Window, s.Disturbance = c.ends, time.Second, beside(0, 150*time.Millisecond)
			}))
			limit := LimitOfSessions(*m.Sessions)
			if m.Sessions.EndsWaited.Std() != c.waited || limit.Reason() != c.reason {
				t.Errorf("waited %s, %s: %s", m.Sessions.EndsWaited.Std(), limit.Reason(), m.Reason)
			}
			const who = "; meanwhile thread linerate (31), which sends or receives, waited 150ms of 1s for processor 1, which sh (process 4711) had for 48 %"
			if named := strings.Contains(m.Reason, "the ends' programs waited for processors for 7.25 % of the connections' time: a lower bound") && strings.HasSuffix(m.Reason, who); named != (c.reason == report.GeneratorLimited) {
				t.Errorf("it says %s", m.Reason)
			}
		})
	}
}

// A window that was disturbed slows connections down for those after it, too: the figure of all is a bound.
func TestOneDisturbedWindowMakesABoundOfAll(t *testing.T) {
	calm := Sessions(span())
	disturbed := Sessions(span(func(s *SessionSpan) { s.Window, s.Disturbance = time.Second, beside(310*time.Millisecond, 0) }))
	again := Sessions(span(func(s *SessionSpan) { s.Window, s.Disturbance = time.Second, beside(90*time.Millisecond, 0) }))
	whole := CombineSessions([]*report.Sessions{calm.Sessions, disturbed.Sessions, again.Sessions, calm.Sessions})
	limit := LimitOfSessions(*whole)
	if limit.Cause != ByMachine || whole.Disturbed.Std() != 400*time.Millisecond || !strings.Contains(limit.Sentence, "napi/east-12 (12), which carries frames, waited 400ms of 2s for processor 1, which sh (process 4711) had for 48 %") {
		t.Errorf("%s: %s, disturbed for %s", limit.Cause, limit.Sentence, whole.Disturbed.Std())
	}
	sum := SumSessions([]report.Direction{disturbed, disturbed})
	if sum.Disturbed != disturbed.Sessions.Disturbed || !reflect.DeepEqual(sum.Disturbance, disturbed.Sessions.Disturbance) {
		t.Errorf("two directions of one machine were disturbed for %s", sum.Disturbed.Std())
	}
}
