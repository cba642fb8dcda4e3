package frames_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// twoTRexes are scripted TRexes on two hosts, with a router between them. The clock of the host on east is 3 s ahead,
// and runs 50 ppm faster.
type twoTRexes struct {
	limit     float64
	procedure plan.Procedure
	// eastFalls is when east answers nothing any more, after it was asked to send. 0 means never.
	eastFalls time.Duration

	mu            sync.Mutex // requests come from several connections
	fell, stopped time.Time  // when east fell silent, and when west was first stopped after that
}

func (s *twoTRexes) run(t *testing.T) (rep *report.Report) {
	t.Helper()
	p := (&scripted{procedure: s.procedure}).plan()
	ports := p.Generators[0].Ports
	p.Generators = nil
	for _, port := range ports {
		p.Generators = append(p.Generators, plan.Generator{Name: "trex-" + port.Link, Ports: []plan.GeneratorPort{port}})
	}
	synctest.Test(t, func(t *testing.T) {
		wires := trextest.TwoPorts()
		for i := range wires {
			wires[i].Virtual, wires[i].Driver, wires[i].Limit = true, "net_af_packet", s.limit
		}
		trex, began := trextest.NewGenerator(wires...), time.Now()
		var generators []frames.Generator
		for i, port := range ports {
			server := trextest.ServeInMemory(t, trex)
			if port.Link == "east" {
				s.script(server, trex, began)
			} else {
				server.Script("stop_traffic", func(c trextest.Call) (any, error) {
					s.mu.Lock()
					defer s.mu.Unlock()
					if !s.fell.IsZero() && s.stopped.IsZero() {
						s.stopped = time.Now()
					}
					return trex.Answer(c)
				})
			}
			e, err := stl.Dial(t.Context(), server.Address(), stl.Options{Dial: server.Dial})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Close() }()
			generators = append(generators, frames.Generator{Name: "trex-" + port.Link, Engine: e,
				PortOfLink: map[string]int{port.Link: i}})
		}
		rep = runner.Run(t.Context(), p, frames.New(generators, frames.Options{PaceEvery: 50 * time.Millisecond,
			Numbered: 20}), runner.Options{})
	})
	return rep
}

// script gives the server of east a clock of its own, and lets it fall silent.
func (s *twoTRexes) script(server *trextest.Server, trex *trextest.Generator, began time.Time) {
	var sends time.Time
	for _, method := range []string{"ping", "start_traffic", "stop_traffic", "get_port_stats", "get_global_stats",
		"get_port_status", "get_async_events"} {
		server.Script(method, func(c trextest.Call) (any, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case method == "start_traffic" && sends.IsZero():
				sends = time.Now()
			case s.eastFalls > 0 && !sends.IsZero() && time.Since(sends) > s.eastFalls:
				if s.fell.IsZero() {
					s.fell = time.Now()
				}
				return nil, trextest.ErrStall
			}
			if method == "ping" {
				return map[string]any{"ts": 3 + time.Since(began).Seconds()*(1+50e-6)}, nil
			}
			return trex.Answer(c)
		})
	}
}

func TestTwoTRexesWithClocksOfTheirOwnFindTheLimit(t *testing.T) {
	s := twoTRexes{limit: hidden(t, 5_000, 30_000), procedure: plan.Procedure{Type: plan.TypeFrameLoss,
		FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("40kpps"), MinRate: unitstest.Rate("4kpps"),
			Step: unitstest.Rate("12kpps"), WarmupDuration: seconds(1), TrialDuration: seconds(1), CleanTrials: 2}}}
	rep := s.run(t)
	if rep.Ending != report.Completed {
		t.Fatalf("%s: %s\n%s", rep.Ending, rep.Message, trace(rep))
	}
	lossy := 0
	for _, w := range rep.Windows {
		for _, d := range w.Directions {
			if w.Quality != report.Lossy {
				continue
			}
			lossy++
			if got := float64(d.Received.PacketsPerSecond); got < s.limit*0.99 || got > s.limit*1.01 {
				t.Errorf("window %d, %s: %.0f packets/s, want %.0f", w.Number, d.Name(), got, s.limit)
			}
			if lost := units.RatioOf(d.Sent.Packets-d.Returned.Packets, d.Sent.Packets); d.LossRatio != lost ||
				d.EdgeFrames != 0 {
				t.Errorf("window %d, %s: %s lost, with %d frames at its edges, want %s and none", w.Number, d.Name(),
					d.LossRatio, d.EdgeFrames, lost)
			}
		}
	}
	if lossy == 0 {
		t.Errorf("no trial lost frames\n%s", trace(rep))
	}
}

// A TRex has no heartbeat, and would send until its trial is over.
func TestATRexWhoseHostIsLostEndsTheOthersTraffic(t *testing.T) {
	for name, procedure := range map[string]plan.Procedure{
		"in a trial": {Type: plan.TypeFrameLoss, FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("4kpps"),
			MinRate: unitstest.Rate("1kpps"), Step: unitstest.Rate("1kpps"), TrialDuration: seconds(120)}},
		"in a held load": {Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{
			Rate: unitstest.Rate("4kpps"), WarmupDuration: seconds(1), Duration: seconds(120), Window: seconds(5)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := twoTRexes{limit: 100_000, procedure: procedure, eastFalls: 6 * time.Second}
			rep := s.run(t)
			if rep.Ending != report.GeneratorLost || !strings.Contains(rep.Message, "trex-east") ||
				strings.Contains(rep.Message, "trex-west") {
				t.Errorf("%s: %s, want the lost generator's name", rep.Ending, rep.Message)
			}
			if took := s.stopped.Sub(s.fell); s.fell.IsZero() || s.stopped.IsZero() || took > 9500*time.Millisecond {
				t.Errorf("west is stopped %v after east fell silent\n%s", took, trace(rep))
			}
		})
	}
}
