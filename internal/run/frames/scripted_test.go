package frames_test

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// scripted is a run over a scripted TRex, whose schedule is that of recordings of a real one, and a router that
// forwards limit packets per second each way.
type scripted struct {
	limit, holds float64
	capacity     float64 // of the server, all ports together, or 0 for any
	procedure    plan.Procedure
	// server is the scripted server afterwards.
	server *trextest.Server
}

// plan is the Plan of the run, with one generator.
func (s *scripted) plan() *plan.Plan {
	frame := units.Traffic{Packets: 1, Bytes: 64}
	p := plan.Plan{Version: plan.Version, Test: plan.Test{Name: "scripted", Loadtest: "64"}, Engine: "TRex",
		DUT: plan.DUT{Type: "Device", Forwarding: plan.L3}, Procedure: s.procedure,
		Directions: []plan.Direction{{From: "west", To: "east", Mix: frame}, {From: "east", To: "west", Mix: frame}}}
	g := plan.Generator{Name: "trex"}
	for i, link := range []string{"west", "east"} {
		address := func(host byte) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), host}), 24)
		}
		p.Links = append(p.Links, plan.Link{Name: link, DUT: plan.DUTEnd{Addresses: []netip.Prefix{address(1)}}})
		g.Ports = append(g.Ports, plan.GeneratorPort{Link: link, Share: 1, ShareOf: 1,
			Addresses: []netip.Prefix{address(2)}, Streams: []stream.Stream{{Enabled: true, SelfStart: true, CoreID: -1,
				NextStreamID: -1, Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
				Packet: stream.Packet{Binary: udp(byte(16 + 32*i))}}}})
	}
	p.Generators = []plan.Generator{g}
	return &p
}

func (s *scripted) run(t *testing.T) (rep *report.Report) {
	t.Helper()
	p := s.plan()
	synctest.Test(t, func(t *testing.T) {
		ports := trextest.TwoPorts()
		for i := range ports {
			ports[i].Virtual, ports[i].Driver, ports[i].Limit, ports[i].Holds = true, "net_af_packet", s.limit, s.holds
		}
		trex := trextest.NewGenerator(ports...)
		trex.Capacity = s.capacity
		s.server = trextest.ServeInMemory(t, trex)
		e, err := stl.Dial(t.Context(), s.server.Address(), stl.Options{Dial: s.server.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		driver := frames.New([]frames.Generator{{Name: "trex", Engine: e, PortOfLink: map[string]int{"west": 0,
			"east": 1}}}, frames.Options{PaceEvery: 50 * time.Millisecond, Numbered: 20})
		rep = runner.Run(t.Context(), p, driver, runner.Options{})
		if sending := trex.Sending(); len(sending) > 0 {
			t.Errorf("ports %v send after the run", sending)
		}
	})
	judgedAnew(t, p.Procedure.MaxLossRatio, rep)
	verified(t, rep)
	if rep.Ending != report.Completed {
		t.Fatalf("%s: %s\n%s", rep.Ending, rep.Message, trace(rep))
	}
	return rep
}

// hidden is a limit that no procedure can know.
func hidden(t *testing.T, low, high float64) float64 {
	t.Helper()
	limit := low + rand.Float64()*(high-low)
	t.Logf("the device forwards %.0f packets/s", limit)
	return limit
}

// A TRex counts the duration of a trial from the request, and the second port ends later than the first. All
// the same each trial sends what it was asked for, and its rates are the device's.
func TestTrialsOfATRexSendForTheirWholeTime(t *testing.T) {
	checkNear := func(t *testing.T, figure string, got, want float64) {
		t.Helper()
		if got < want*0.99 || got > want*1.01 {
			t.Errorf("%s is %.1f, and the device's is %.1f", figure, got, want)
		}
	}
	whole := func(t *testing.T, rep *report.Report) {
		t.Helper()
		for _, w := range rep.Windows {
			for _, d := range w.Directions {
				if d.Burst != nil || w.HasEdges() || w.Decided != nil {
					continue
				}
				intended := float64(d.Intended.PacketsPerSecond)
				if asked := intended * w.Duration.Std().Seconds(); float64(d.Sent.Packets) < asked-1 {
					t.Errorf("window %d, %s: %d frames of the %.0f asked for", w.Number, d.Name(), d.Sent.Packets,
						asked)
				}
				if deviation := float64(d.Offered.PacketsPerSecond)/intended - 1; math.Abs(deviation) > 0.002 {
					t.Errorf("window %d, %s: %d packets/s offered of %d", w.Number, d.Name(),
						d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)
				}
			}
		}
	}
	t.Run("Search", func(t *testing.T) {
		s := scripted{limit: hidden(t, 5_000, 30_000)}
		goal := func(name string, loss units.Ratio) plan.Goal {
			return plan.Goal{Name: name, LossRatio: loss, FinalTrialDuration: seconds(1), DurationSum: seconds(11),
				ExceedRatio: units.One / 2, Width: units.One / 200}
		}
		s.procedure = plan.Procedure{Type: plan.TypeSearch,
			Search: &plan.Search{Classification: plan.ClassifySequential, MinRate: unitstest.Rate("80pps"),
				MaxRate:        unitstest.Rate("40kpps"),
				WarmupDuration: seconds(1), Goals: []plan.Goal{goal("NDR", 0), goal("PDR", units.One/200)}}}
		rep := s.run(t)
		whole(t, rep)
		for i, loss := range []float64{0, 0.005} {
			g := rep.Answer.Goals[i]
			lower, upper, irregular := reporttest.Bounds(rep, g.Name)
			if irregular || lower == 0 || upper == 0 {
				t.Fatalf("%s is irregular: %s\n%s", g.Name, rep.Answer.EvidenceText(), trace(rep))
			}
			checkNear(t, g.Name, lower, 2*s.limit/(1-loss))
		}
	})
	t.Run("FrameLoss", func(t *testing.T) {
		s := scripted{limit: hidden(t, 5_000, 30_000)}
		s.procedure = plan.Procedure{Type: plan.TypeFrameLoss,
			FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("40kpps"), MinRate: unitstest.Rate("4kpps"),
				Step:           unitstest.Rate("4kpps"),
				WarmupDuration: seconds(1), TrialDuration: seconds(1), CleanTrials: 2}}
		rep := s.run(t)
		whole(t, rep)
		lossy := 0
		for _, w := range rep.Windows {
			if w.Quality != report.Lossy {
				continue
			}
			lossy++
			for _, d := range w.Directions {
				checkNear(t, "the forwarding rate", float64(d.Received.PacketsPerSecond), s.limit)
			}
		}
		if lossy == 0 {
			t.Error("no trial lost frames")
		}
	})
	t.Run("BackToBack", func(t *testing.T) {
		s := scripted{limit: hidden(t, 5_000, 15_000), holds: 900}
		s.procedure = plan.Procedure{Type: plan.TypeBackToBack,
			BackToBack: &plan.BackToBack{Rate: unitstest.Rate("20kpps"), WarmupDuration: seconds(1),
				TrialDuration: seconds(2), MaxBurstDuration: seconds(2),
				Resolution: units.One / 100, Repetitions: 3}}
		rep := s.run(t)
		whole(t, rep)
		for _, w := range rep.Windows {
			for _, d := range w.Directions {
				if d.Burst != nil && d.Sent.Packets != d.Burst.Frames {
					t.Errorf("window %d: %d frames of a burst of %d", w.Number, d.Sent.Packets, d.Burst.Frames)
				}
			}
		}
		longest, asked := s.holds*20_000/(20_000-s.limit), 0
		for _, f := range figures.Of(rep) {
			if f.Metric == procedure.BackToBackFrames && f.Direction != report.AllDirections {
				checkNear(t, "the longest burst", f.Low.Float(), longest)
				asked++
			}
		}
		if asked == 0 {
			t.Errorf("no figure: %+v", rep.Answer)
		}
	})
	t.Run("Ramp whose limit is confirmed by a trial", func(t *testing.T) {
		s := scripted{limit: hidden(t, 5_000, 15_000)}
		s.procedure = plan.Procedure{Type: "Ramp", Ramp: plan.Ramp{WarmupRate: unitstest.Rate("1kpps"),
			WarmupDuration: seconds(2), TargetRate: unitstest.Rate("20kpps"), RampDuration: seconds(40),
			StepDuration: seconds(2), SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200,
			ConfirmDuration: seconds(4), StopAtSaturation: true}}
		rep := s.run(t)
		whole(t, rep)
		if !rep.Answer.Confirmed || !rep.Answer.Saturated {
			t.Fatalf("%+v\n%s", rep.Answer, trace(rep))
		}
		for _, d := range rep.Answer.Directions {
			checkNear(t, "the throughput", float64(d.Received.PacketsPerSecond), s.limit)
		}
	})
}

// Asked for more than it can send, a TRex sends its whole schedule late. Its ports are stopped when the trial's
// time is over, what it reaches is reported, and the search goes on below that.
func TestATRexThatIsAskedForMoreThanItCanSend(t *testing.T) {
	for name, c := range map[string]struct{ capacity, limit float64 }{
		"and a device that is slower": {60_000, 12_345},
		"and a device that is faster": {60_000, 500_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted{limit: c.limit, capacity: c.capacity}
			s.procedure = plan.Procedure{Type: plan.TypeSearch,
				Search: &plan.Search{Classification: plan.ClassifySequential, MinRate: unitstest.Rate("80pps"),
					MaxRate:        unitstest.Rate("1.488mpps"),
					WarmupDuration: seconds(1), Goals: []plan.Goal{{Name: "NDR", FinalTrialDuration: seconds(1),
						DurationSum: seconds(5), ExceedRatio: units.One / 2, Width: units.One / 200}}}}
			rep := s.run(t)
			g := rep.Answer.Goals[0]
			want, reason := 2*c.limit, report.LossAboveLimit
			if want > c.capacity {
				want, reason = c.capacity, report.GeneratorLimited
			}
			got, _, _ := reporttest.Bounds(rep, g.Name)
			if got == 0 || g.Answer.Reason != reason {
				t.Fatalf("%+v: %s\n%s", g, rep.Answer.EvidenceText(), trace(rep))
			}
			if got < want*0.99 || got > want*1.02 {
				t.Errorf("%.0f packets/s, want %.0f: %s", got, want, rep.Answer.EvidenceText())
			}
			if words := trace(rep); !strings.Contains(words,
				"after 3m25s at most, or later where the generator can't keep up with the load") {
				t.Errorf("it promises more than a TRex keeps:\n%s", words)
			}
			late := 0
			for _, w := range rep.Windows {
				for _, d := range w.Directions {
					if float64(d.Intended.PacketsPerSecond) <= 1.05*c.capacity/2 {
						continue
					}
					late++
					if deviation := float64(d.Offered.PacketsPerSecond)/(c.capacity/2) - 1; deviation < -0.01 ||
						deviation > 0.01 || w.Quality == report.Good {
						t.Errorf("window %d is %s: %d packets/s offered, it can send %.0f", w.Number, w.Quality,
							d.Offered.PacketsPerSecond, c.capacity/2)
					}
				}
				if w.Took.Std() > 3*time.Second {
					t.Errorf("window %d took %s", w.Number, w.Took.Std())
				}
			}
			if late == 0 {
				t.Error("the server was never asked for more than it can send")
			}
			if words := trace(rep); strings.Contains(words, "can't start") {
				t.Error(words)
			}
		})
	}
}
