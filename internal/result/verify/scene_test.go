package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// by is the producer of the Reports that are measured here, and of who verifies them.
const by = "linerate test"

// frame is the length of the frames that are sent, in bytes with FCS.
const frame = 512

// scene is a Plan, and how many generators carry it out in memory, through a device that forwards 10 kpps from west
// to east and 8 kpps back.
type scene struct {
	plan       plan.Plan
	generators int
	baseline   *report.Baseline
	machine    *sceneMachine // that plays generators and device; nil: nobody reads it
}

// sceneMachine is one on which the generators wait for a third of the time, and the device for a tenth, as sh has
// the processors. It begins with its time.
type sceneMachine struct {
	tells bool // the generators tell that they waited
	alone bool // the device alone waits
}

// starve has the generators wait.
func (m *sceneMachine) starve(generators []sim.Generator) {
	if m == nil || m.alone {
		return
	}
	for g := range generators {
		generators[g].MaxRate, generators[g].Paced = 15_000*units.PacketPerSecond, m.tells
		for at := 200 * time.Millisecond; at < time.Minute; at += 300 * time.Millisecond {
			generators[g].Stalls = append(generators[g].Stalls, sim.Standstill{Offset: at, Duration: 100 * time.Millisecond})
		}
	}
}

// reads is what reads it.
func (m *sceneMachine) reads() func(context.Context) (machine.Reading, error) {
	if m == nil {
		return nil
	}
	began := time.Now()
	return func(context.Context) (machine.Reading, error) {
		now := time.Since(began)
		return machine.Reading{At: now, Processors: []machine.Processor{{Number: 1, Busy: now}}, Processes: []machine.Process{{PID: 4711, Name: "sh", Processor: 1, Ran: now / 3}},
			Threads: []machine.Thread{{ID: 12, Name: "napi/east-12", Role: machine.Carries, Processor: 1, Waited: now / 10}, {ID: 31, Name: "linerate", Role: machine.Sends, Processor: 1, Waited: now / 3}}}, nil
	}
}

// ramp asks for up to 20 kpps each way, with an absolute criterion and one that compares.
func ramp() scene {
	return scene{generators: 1, plan: plan.Plan{
		Version: plan.Version, Test: plan.Test{Name: "scene", Product: "sim", Loadtest: "512b"}, Engine: "TRex", DUT: plan.DUT{Type: "Device", Forwarding: plan.L3},
		Procedure: plan.Procedure{Type: plan.TypeRamp, MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
			WarmupRate: unitstest.Rate("1kpps"), WarmupDuration: seconds(3), TargetRate: unitstest.Rate("20kpps"), RampDuration: seconds(20), StepDuration: seconds(2),
			SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 50, ConfirmDuration: seconds(5), StopAtSaturation: true,
		}},
		Criteria: []plan.Criterion{
			{Name: "fast", Metric: "PacketsPerSecond", Direction: "Total", Min: "9000"},
			{Name: "each", Metric: "LossRatio", Direction: "Each", Max: "0.01"},
			{Name: "not-slower", Metric: "PacketsPerSecond", Direction: "Total", MaxRegression: new(units.One / 20), AssumedSpread: units.One / 100},
		},
	}}
}

// scenes are runs of each procedure, by name.
func scenes() map[string]scene {
	each, constant, curve, most, several := ramp(), ramp(), ramp(), ramp(), ramp()
	each.plan.Procedure.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}, OtherLoad: units.One / 10}
	several.generators = 3
	for _, s := range []*scene{&constant, &curve, &most} {
		s.plan.Procedure = plan.Procedure{MaxLossRatio: units.One / 1000}
	}
	constant.plan.Procedure.Type = plan.TypeConstantLoad
	constant.plan.Procedure.ConstantLoad = &plan.ConstantLoad{Rate: unitstest.Rate("9kpps"), WarmupDuration: seconds(2), Duration: seconds(10), Window: seconds(2)}
	curve.plan.Procedure.Type = plan.TypeFrameLoss
	curve.plan.Procedure.FrameLoss = &plan.FrameLoss{MaxRate: unitstest.Rate("12kpps"), MinRate: unitstest.Rate("4kpps"), Step: unitstest.Rate("2kpps"), WarmupDuration: seconds(2), TrialDuration: seconds(3), CleanTrials: 2}
	most.plan.Procedure.Type = plan.TypeMaximumOfferedLoad
	most.plan.Procedure.MaximumOfferedLoad = &plan.MaximumOfferedLoad{Rate: unitstest.Rate("20kpps"), WarmupDuration: seconds(2), TrialDuration: seconds(3), Trials: 3}
	flood := most
	flood.machine = &sceneMachine{tells: true}
	search, standard, searches := ramp(), ramp(), ramp()
	for _, s := range []*scene{&search, &standard, &searches} {
		s.plan.Procedure = plan.Procedure{Type: plan.TypeSearch, MaxLossRatio: 0, Search: &plan.Search{Classification: plan.ClassifySequential, MinRate: unitstest.Rate("1kpps"), MaxRate: unitstest.Rate("20kpps"), WarmupDuration: seconds(2),
			Goals: []plan.Goal{{Name: "NDR", FinalTrialDuration: seconds(2), DurationSum: seconds(8), ExceedRatio: units.One / 2, Width: units.One / 50},
				{Name: "PDR", LossRatio: units.One / 200, FinalTrialDuration: seconds(2), DurationSum: seconds(8), ExceedRatio: units.One / 2, Width: units.One / 50}}}}
	}
	standard.plan.Procedure.Search.Classification = plan.ClassifyRFC9971
	searches.plan.Procedure.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}}
	return map[string]scene{"search": search, "search by the standard": standard, "search of each direction": searches, "ramp": ramp(), "each direction": each, "constant load": constant, "frame loss": curve, "maximum offered load": most, "flood of a starved machine": flood, "three generators": several}
}

// run carries the scene out in virtual time, and gives the Report as a file brings it back.
func (s scene) run(t testing.TB) *report.Report {
	t.Helper()
	mix := units.Traffic{Packets: 1, Bytes: frame}
	world := sim.Config{Now: time.Now, Generators: make([]sim.Generator, s.generators)}
	ports := map[string]int{"west": 0, "east": 1}
	for i, name := range []string{"west", "east"} {
		world.Links = append(world.Links, sim.Link{Name: name, Speed: 10 * units.Gbps})
		s.plan.Links = append(s.plan.Links, plan.Link{Name: name, DUT: plan.DUTEnd{Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 1}), 24)}}})
	}
	for i, d := range []plan.Direction{{From: "west", To: "east", Mix: mix}, {From: "east", To: "west", Mix: mix}} {
		s.plan.Directions = append(s.plan.Directions, d)
		world.Directions = append(world.Directions, sim.Direction{From: i, To: 1 - i, Mix: mix,
			Device: sim.Device{Limit: units.PacketRate(10-2*i) * 1000 * units.PacketPerSecond, Burst: 10 * time.Millisecond}})
	}
	for g := range s.generators {
		s.plan.Generators = append(s.plan.Generators, generator(g, s.generators))
	}
	s.machine.starve(world.Generators)
	var r *report.Report
	inBubble(t, func(t *testing.T) {
		w := sim.New(world)
		var gens []frames.Generator
		for g := range s.generators {
			gens = append(gens, frames.Generator{Name: s.plan.Generators[g].Name, Engine: w.Generator(g), PortOfLink: ports})
		}
		r = runner.Run(t.Context(), &s.plan, frames.New(gens, frames.Options{PaceEvery: 250 * time.Millisecond, Numbered: 50, Machine: s.machine.reads()}), runner.Options{Producer: by, Baseline: s.baseline})
	})
	if r.Ending != report.Completed {
		t.Fatalf("%s: %s", r.Ending, r.Message)
	}
	return stored(t, r)
}

// inBubble runs a function in virtual time; of a fuzz test within a test of its own.
func inBubble(t testing.TB, fn func(*testing.T)) {
	t.Helper()
	is, ok := t.(*testing.T)
	if !ok {
		t.Fatal("virtual time is for tests")
	}
	synctest.Test(is, fn)
}

// compared is the scene with a baseline of three runs of it, so that the relative criterion is judged.
func (s scene) compared(t testing.TB) scene {
	t.Helper()
	var kept []analysis.KeptReport
	for range 3 {
		r := s.run(t)
		r.Started = r.Started.Add(-time.Duration(len(kept)+1) * time.Hour)
		kept = append(kept, analysis.KeptReport{Report: r})
	}
	s.baseline = analysis.BaselineOf("File", "before", analysis.Candidate{Plan: kept[0].Report.Plan}, kept)
	return s
}

func generator(g, n int) plan.Generator {
	out := plan.Generator{Name: "g" + string(rune('0'+g))}
	for i, link := range []string{"west", "east"} {
		out.Ports = append(out.Ports, plan.GeneratorPort{Link: link, Share: 1, ShareOf: int64(n),
			Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), byte(2 + g)}), 24)},
			Streams: []stream.Stream{{Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
				Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}}, Packet: stream.Packet{Binary: udp(byte(16 + 32*i))}}}})
	}
	return out
}

// udp is a UDP frame between 16/8 and 48/8.
func udp(from byte) []byte {
	f := make([]byte, frame-units.FCSBytes)
	copy(f[12:], []byte{0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, from, 0, 0, 1, 64 - from, 0, 0, 1, 4, 1, 0, 12, 0, 26})
	return f
}

func seconds(n float64) plan.Duration { return plan.Duration(n * float64(time.Second)) }

// stored is a Report as a file brings it back.
func stored(t testing.TB, r *report.Report) *report.Report {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	back, err := report.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return back
}
