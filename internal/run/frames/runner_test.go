package frames_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

const kpps = 1000 * units.PacketPerSecond

// scenario is a plan and the world that it is carried out in. Options change what matters to a case.
type scenario struct {
	plan    plan.Plan
	world   sim.Config
	options runner.Options
	frames  frames.Options
	ctx     func(context.Context) context.Context
	// driver and engine, where they are set, wrap the run's driver and a generator's engine.
	driver func(runner.Driver, *sim.World) runner.Driver
	engine func(g int, e engine.Engine) engine.Engine
	// reset makes what resets the world's device. It is nil where nobody can.
	reset func(*sim.World) func(context.Context) (string, error)
	// final is the world afterwards, gone the generators that can't be reached then.
	final     *sim.World
	absent    []int
	latest    *report.Report
	forwarded []int64 // per direction, the truth
}

type option func(*scenario)

// scene is IMIX both ways through a device that forwards 10 kpps a direction, asked for up to 20 kpps in 20
// steps of 2 s.
func scene(options ...option) *scenario {
	imix := units.Traffic{Packets: 48, Bytes: 17368}
	device := sim.Device{Limit: 10 * kpps, Burst: 10 * time.Millisecond}
	s := &scenario{
		plan: plan.Plan{
			Version: plan.Version, Test: plan.Test{Name: "scene", Product: "sim", Loadtest: "imix"}, Engine: "TRex",
			DUT:        plan.DUT{Type: "Device", Forwarding: plan.L3},
			Directions: []plan.Direction{{From: "west", To: "east", Mix: imix}, {From: "east", To: "west", Mix: imix}},
			Procedure: plan.Procedure{Type: "Ramp", MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
				WarmupRate: unitstest.Rate("1kpps"), WarmupDuration: seconds(3), TargetRate: unitstest.Rate("20kpps"),
				RampDuration: seconds(40), StepDuration: seconds(2),
				SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200, ConfirmDuration: seconds(10),
				StopAtSaturation: true,
			}},
		},
		world: sim.Config{
			Now:   time.Now,
			Links: []sim.Link{{Name: "west", Speed: 10 * units.Gbps}, {Name: "east", Speed: 10 * units.Gbps}},
			Directions: []sim.Direction{{From: 0, To: 1, Mix: imix, Device: device}, {From: 1, To: 0, Mix: imix,
				Device: device}},
			Generators: []sim.Generator{{}},
		},
		// the world's time and frames are cheap, ours aren't
		frames: frames.Options{PaceEvery: 250 * time.Millisecond, Numbered: 100},
		ctx:    func(ctx context.Context) context.Context { return ctx },
		driver: func(d runner.Driver, _ *sim.World) runner.Driver { return d },
		engine: func(_ int, e engine.Engine) engine.Engine { return e },
	}
	for i, name := range []string{"west", "east"} {
		s.plan.Links = append(s.plan.Links, plan.Link{Name: name, DUT: plan.DUTEnd{
			Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 1}), 24)}}})
	}
	for _, o := range options {
		o(s)
	}
	for g := range s.world.Generators {
		s.plan.Generators = append(s.plan.Generators, replica(g, len(s.world.Generators)))
	}
	return s
}

// replica is generator g of n, with its own addresses and an equal share.
func replica(g, n int) plan.Generator {
	generator := plan.Generator{Name: "g" + string(rune('0'+g))}
	for i, link := range []string{"west", "east"} {
		generator.Ports = append(generator.Ports, plan.GeneratorPort{Link: link, Share: 1, ShareOf: int64(n),
			Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), byte(2 + g)}), 24)},
			Streams: []stream.Stream{{Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
				Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
				Packet: stream.Packet{Binary: append(udp(byte(16+32*i)), make([]byte, 1454)...)},
				VM:     stream.VM{Instructions: anySize}}},
		})
	}
	return generator
}

// udp is a 60-byte UDP frame between 16/8 and 48/8.
// anySize makes frames of all lengths of one stream, as the simulated mixes have them.
var anySize = []stream.Instruction{
	{Type: "flow_var", Name: "size", Size: 2, Op: "inc", InitValue: 60, MinValue: 60, MaxValue: 1514, Step: 1},
	{Type: "trim_pkt_size", Name: "size"},
}

func udp(source byte) []byte {
	f := make([]byte, 60)
	copy(f[12:], []byte{0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, source, 0, 0, 1, 64 - source, 0, 0, 1, 4,
		1, 0, 12, 0, 26})
	binary.BigEndian.PutUint16(f[24:], ^stream.FoldChecksum(stream.SumWords(f[14:34])))
	return f
}

func seconds(n float64) plan.Duration { return plan.Duration(n * float64(time.Second)) }

// run carries the scenario out in virtual time.
func (s *scenario) run(t *testing.T) *report.Report {
	t.Helper()
	var rep *report.Report
	synctest.Test(t, func(t *testing.T) {
		world := sim.New(s.world)
		var gens []frames.Generator
		for g := range s.world.Generators {
			ports := map[string]int{}
			for _, p := range s.plan.Generators[g].Ports {
				ports[p.Link] = map[string]int{"west": 0, "east": 1}[p.Link]
			}
			gens = append(gens, frames.Generator{Name: s.plan.Generators[g].Name,
				Engine: s.engine(g, world.Generator(g)), PortOfLink: ports})
		}
		if s.reset != nil {
			s.frames.Reset = s.reset(world)
		}
		rep = runner.Run(s.ctx(t.Context()), &s.plan, s.driver(frames.New(gens, s.frames), world), s.options)
		s.final, s.forwarded = world, nil
		for i := range s.world.Directions {
			s.forwarded = append(s.forwarded, world.Forwarded(i))
		}
		s.tidy(t, s.absent...)
	})
	s.latest = rep
	judgedAnew(t, s.plan.Procedure.MaxLossRatio, rep)
	verified(t, rep)
	return rep
}

// runOn carries the scenario out by one engine, in the virtual time of the caller.
func (s *scenario) runOn(t *testing.T, e engine.Engine) *report.Report {
	gens := []frames.Generator{{Name: s.plan.Generators[0].Name, Engine: e,
		PortOfLink: map[string]int{"west": 0, "east": 1}}}
	return runner.Run(t.Context(), &s.plan, frames.New(gens, s.frames), s.options)
}

// verified recomputes the Report from its raw counters, as a file brings it back. That trials were ended which
// the procedure doesn't end is some tests' doing.
func verified(t *testing.T, rep *report.Report) {
	t.Helper()
	document, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := report.Decode(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range verify.Report(decoded, rep.Producer).Findings() {
		if !strings.HasPrefix(f.Field, "decided") {
			t.Errorf("verify: %s", f.Message)
		}
	}
}

// judgedAnew judges each window once more. By the Plan's goal its quality stays the same, and a clean window stays
// clean at twice the limit.
func judgedAnew(t *testing.T, limit units.Ratio, rep *report.Report) {
	t.Helper()
	for _, w := range rep.Windows {
		if measure.OfTrains(w.Directions) {
			continue // which no loss judges
		}
		counted, err := measure.Recall(stored(t, w))
		if err != nil {
			t.Fatal(err)
		}
		limit := limit
		if w.Decided != nil {
			limit = min(limit, w.Decided.LossRatio)
		}
		if judged := measure.Judge(counted, measure.Goal{MaxLossRatio: limit}); !reflect.DeepEqual(judged, w) {
			t.Fatalf("window %d is %s: %s; judged once more it is %s: %s", w.Number, w.Quality, w.Reason,
				judged.Quality, judged.Reason)
		}
		for i, m := range measure.Judge(counted, measure.Goal{MaxLossRatio: 2 * limit}).Directions {
			original := w.Directions[i].Quality
			if clean := original == report.Good || original == report.Short; clean && m.Quality != original ||
				m.Quality == report.Lossy && original != report.Lossy {
				t.Fatalf("window %d, %s→%s is %s at the limit, and %s at twice that: %s", w.Number, m.From, m.To,
					original, m.Quality, m.Reason)
			}
		}
	}
}

// stored is the window as a Report brings it back.
func stored(t *testing.T, w report.Window) report.Window {
	t.Helper()
	document, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var decoded report.Window
	if err := json.Unmarshal(document, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// everything checks the world after any run. Nothing that can be reached is left running, and no port is claimed.
func (s *scenario) tidy(t *testing.T, except ...int) {
	t.Helper()
	for g := range s.world.Generators {
		if len(except) > 0 && except[0] == g {
			continue
		}
		if s.final.Generator(g).Running() || s.final.Generator(g).Claimed() {
			t.Errorf("generator %d: running %v, claimed %v after the run", g, s.final.Generator(g).Running(),
				s.final.Generator(g).Claimed())
		}
	}
}

// trace is what the run decided, and why.
func trace(r *report.Report) string {
	var b strings.Builder
	for _, n := range r.Notes {
		b.WriteString(n.Time.Std().Round(time.Millisecond).String() + " " + n.Message + "\n")
	}
	return b.String()
}
