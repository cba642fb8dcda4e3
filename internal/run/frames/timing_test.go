package frames_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// stampedStreams has each generator's streams bear stamps, two in each direction, of 64 and of 594 bytes, by four
// flow ids.
func stampedStreams(s *scenario) {
	for g := range s.plan.Generators {
		id := uint32(0)
		for i := range s.plan.Generators[g].Ports {
			p := &s.plan.Generators[g].Ports[i]
			template := p.Streams[0]
			p.Streams = nil
			for _, length := range []int{60, 590} {
				stamped := template
				id++
				stamped.Packet.Binary, stamped.VM.Instructions = append(udp(byte(16+32*i)), make([]byte, length-60)...),
					nil
				stamped.FlowStats = stream.Flow{Enabled: true, RuleType: "stats", StreamID: id, Stamped: true}
				p.Streams = append(p.Streams, stamped)
			}
		}
	}
}

// timed says at each reading that so many more frames of each flow id came, all of them within id microseconds,
// one of them twice and one late.
func timed(perReading uint64) func(n int) map[uint32]engine.Followed {
	return func(n int) map[uint32]engine.Followed {
		flows := map[uint32]engine.Followed{}
		for id := uint32(1); id <= 4; id++ {
			f := engine.Followed{Received: int64(perReading) * int64(n), Duplicates: int64(n), Late: int64(n)}
			f.Transits.Add(transit.Index(time.Duration(id)*time.Microsecond), perReading*uint64(n))
			flows[id] = f
		}
		return flows
	}
}

func TestWindowsHaveLatency(t *testing.T) {
	tier.Plain(t)
	for name, procedure := range map[string]option{"held": hold(5), "trials": searching(plan.ClassifySequential, 1,
		21)} {
		t.Run(name, func(t *testing.T) {
			s := scene(replicas(2), procedure)
			stampedStreams(s)
			for g := range s.world.Generators {
				s.world.Generators[g].Timed = timed(1000)
			}
			r := s.run(t)
			readings := 0
			for _, w := range r.Windows {
				for i, d := range w.Directions {
					if w.Phase == report.WarmUp && len(d.Latency) == 0 {
						continue
					}
					readings++
					upperBound := func(id int64) int64 {
						_, longest := transit.Bounds(transit.Index(time.Duration(id) * time.Microsecond))
						return longest.Nanoseconds()
					}
					for k, size := range []int64{64, 594} {
						l := d.Latency[k]
						if p, ok := l.Of("p99"); l.FrameSize != size || l.Frames != 2000 || l.Duplicates != 2 ||
							l.Late != 2 || !ok || p.Nanoseconds != upperBound(int64(2*i+k+1)) {
							t.Errorf("window %d, %s: %+v", w.Number, d.Name(), l)
						}
					}
				}
			}
			if readings == 0 || len(r.Untimed) > 0 {
				t.Errorf("%d directions of windows, untimed %+v", readings, r.Untimed)
			}
		})
	}
}

// unfollowed is an engine that follows no stamps.
type unfollowed struct {
	engine.Engine
	loaded *[]stream.Stream
}

func (u unfollowed) Load(ctx context.Context, port int, streams []stream.Stream) error {
	*u.loaded = append(*u.loaded, streams...)
	return u.Engine.Load(ctx, port, streams)
}

// A path that follows no stamps gets none, and the Report says why the latency is unknown.
func TestTheReportSaysWhichFramesAreNotTimed(t *testing.T) {
	const reason = "it receives by AF_PACKET"
	var loaded []stream.Stream
	for name, c := range map[string]struct {
		option
		message string
	}{
		"an engine that follows none": {func(s *scenario) {
			s.engine = func(_ int, e engine.Engine) engine.Engine { return unfollowed{e, &loaded} }
		}, "generator g0 follows none"},
		"ports that don't": {onGenerator(func(g *sim.Generator) { g.Untimed = reason }), "generator g0 on west: " +
			reason},
	} {
		t.Run(name, func(t *testing.T) {
			loaded = nil
			s := scene(c.option, hold(5))
			stampedStreams(s)
			r := s.run(t)
			if len(r.Untimed) != 2 || r.Untimed[0].From != "west" || !strings.HasSuffix(r.Untimed[0].Reason,
				c.message) {
				t.Errorf("untimed %+v", r.Untimed)
			}
			for _, w := range r.Windows {
				for _, d := range w.Directions {
					if len(d.Latency) > 0 || d.Unstamped > 0 {
						t.Errorf("window %d: %+v", w.Number, d)
					}
				}
			}
			if slices.ContainsFunc(loaded, func(s stream.Stream) bool { return s.FlowStats.Enabled }) {
				t.Errorf("streams were loaded with stamps that nobody follows: %+v", loaded)
			}
		})
	}
}

// Latency is measured of single frames, and then of half of the load that was held, in trials of their own, with the
// whole distribution. The procedure's result stays the same.
func TestLatencyFollowsTheResult(t *testing.T) {
	s := scene(hold(2), func(s *scenario) {
		s.plan.Procedure.Latency = &plan.Latency{Loads: []units.Ratio{0, units.One / 2},
			TrialDuration: plan.Duration(time.Second)}
	})
	stampedStreams(s)
	for g := range s.world.Generators {
		s.world.Generators[g].Timed = timed(1000)
	}
	r := s.run(t)
	if r.Ending != report.Completed || !r.Answer.Measured || r.Windows[r.Answer.Window-1].Phase == report.AtLoad ||
		len(latencyWindows(r)) != 2 {
		t.Fatalf("%s, %+v", r.Ending, r.Answer)
	}
	full := r.Answer.Directions[0].Intended.PacketsPerSecond
	for i, want := range []int64{min(1000, full/100), full / 2} {
		w := latencyWindows(r)[i]
		if w.HasEdges() || len(w.Directions) != 2 {
			t.Fatalf("load %d: %+v", i, w)
		}
		if got := w.Directions[0].Intended.PacketsPerSecond; got < want-1 || got > want+1 {
			t.Errorf("load %d: %d packets/s were intended, want %d", i, got, want)
		}
		for _, d := range w.Directions {
			for _, latency := range d.Latency {
				h, err := transit.Decode(latency.Histogram)
				if err != nil || int64(h.Frames()) != latency.Timed() ||
					latency.Timed() == 0 {
					t.Errorf("load %d, %s: %+v; %d frames in its distribution (%v)", i, d.Name(), latency, h.Frames(),
						err)
				}
			}
		}
	}
	if n := len(figures.LatencyOf(r, figures.LatencyP99, units.One/2, 0)); n != 4 {
		t.Errorf("%d figures of p99 at half of the load, want two sizes in two directions", n)
	}
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			for _, l := range d.Latency {
				if (l.Histogram != "") != (w.Phase == report.AtLoad) {
					t.Errorf("window %d (%s) has a distribution: %v", w.Number, w.Phase, l.Histogram != "")
				}
			}
		}
	}
}

// latencyWindows are the windows of latency.
func latencyWindows(r *report.Report) []report.Window {
	return slices.DeleteFunc(slices.Clone(r.Windows), func(w report.Window) bool { return w.Phase != report.AtLoad })
}

// sampledStreams have a latency stream beside the load in each direction, 1000 frames a second.
func sampledStreams(s *scenario) {
	s.plan.Procedure.Latency = &plan.Latency{Loads: []units.Ratio{units.One / 2},
		TrialDuration: plan.Duration(time.Second)}
	for g := range s.plan.Generators {
		for i := range s.plan.Generators[g].Ports {
			p := &s.plan.Generators[g].Ports[i]
			sampled, err := profile.LatencyStream(p.Streams[0], uint32(i+1), 1000)
			if err != nil {
				panic(err)
			}
			p.Streams = append(p.Streams, sampled)
		}
	}
}

// The generator times latency streams alone.
func TestLatencyOfSampledFramesIsMarked(t *testing.T) {
	s := scene(hold(2))
	sampledStreams(s)
	for g := range s.world.Generators {
		s.world.Generators[g].Timed = timed(1000)
		s.world.Generators[g].Untimed = "its server knows no stamps"
	}
	r := s.run(t)
	if r.Ending != report.Completed || len(latencyWindows(r)) != 1 || len(r.Untimed) > 0 {
		t.Fatalf("%s, latency %+v, untimed %+v", r.Ending, r.Answer.Figures, r.Untimed)
	}
	for i, d := range latencyWindows(r)[0].Directions {
		if len(d.Latency) != 1 || d.Latency[0].Sample == nil ||
			*d.Latency[0].Sample != (report.LatencySample{PacketsPerSecond: 1000, ResolutionNanoseconds: 1000}) ||
			d.Latency[0].FrameSize != 1518 {
			t.Fatalf("%s: %+v", d.Name(), d)
		}
		f := figures.LatencyOf(r, figures.LatencyP99, units.One/2, 0)[i]
		if spread := f.High.Float() - f.Low.Float(); f.Missing != "" || spread < 1000 {
			t.Errorf("%s: p99 %s to %s ns, %s: it is known to a microsecond", d.Name(), f.Low, f.High, f.Missing)
		}
	}
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			if d.Unstamped > 0 {
				t.Errorf("window %d, %s: %d frames are said to lack a stamp", w.Number, d.Name(), d.Unstamped)
			}
		}
	}
}

// A counter that is read before the histogram is behind it in one reading, and not in the next.
func TestNoMoreSampledFramesAreTimedThanCame(t *testing.T) {
	s := scene(hold(2))
	sampledStreams(s)
	for g := range s.world.Generators {
		s.world.Generators[g].Timed = func(n int) map[uint32]engine.Followed {
			flows := timed(1000)(n)
			for id, f := range flows {
				f.Received += int64(1 - n%2)
				flows[id] = f
			}
			return flows
		}
	}
	r := s.run(t)
	counted := 0
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			for _, l := range d.Latency {
				counted++
				if l.Timed()%1000 != 0 || l.Uncounted < 0 {
					t.Errorf("window %d: %d frames came, %d without a time, of a histogram of thousands", w.Number,
						l.Frames, l.Uncounted)
				}
			}
		}
	}
	if r.Ending != report.Completed || counted == 0 {
		t.Errorf("%s: %s, %d latencies", r.Ending, r.Message, counted)
	}
}

func TestAGeneratorWithoutLatencyTimesIsNamed(t *testing.T) {
	s := scene(hold(2))
	sampledStreams(s)
	for g := range s.world.Generators {
		s.world.Generators[g].Unsampled = fmt.Errorf("%w: start TRex with --hdrh", engine.ErrIncompatible)
	}
	r := s.run(t)
	if r.Ending != report.Completed || !r.Answer.Measured || len(latencyWindows(r)) != 1 {
		t.Fatalf("%s, %+v", r.Ending, r.Answer)
	}
	for _, f := range figures.Latencies(r, figures.LatencyMetrics...) {
		if !strings.Contains(f.Missing, "start TRex with --hdrh") {
			t.Errorf("%+v", f)
		}
	}
}
