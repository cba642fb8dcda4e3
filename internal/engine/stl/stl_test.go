package stl_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const kpps = 1000 * units.PacketPerSecond

// simulatedServer is a simulated server with an engine on it.
type simulatedServer struct {
	*trextest.Server
	generator *trextest.Generator
	*stl.Engine
}

// Address is the engine's method, as the server has one, too.
func (l simulatedServer) Address(ctx context.Context, port int, a engine.Addressing) (engine.MAC, error) {
	return l.Engine.Address(ctx, port, a)
}

// onSimulatedServer runs a test under simulated time.
func onSimulatedServer(t *testing.T, test func(t *testing.T, l simulatedServer), change ...func([]trextest.Port)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ports := trextest.TwoPorts()
		for _, c := range change {
			c(ports)
		}
		g := trextest.NewGenerator(ports...)
		s := trextest.ServeInMemory(t, g)
		e, err := stl.Dial(t.Context(), s.Address(), stl.Options{Dial: s.Dial})
		noError(t, err)
		t.Cleanup(func() { _ = e.Close() })
		test(t, simulatedServer{s, g, e})
	})
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants checks an error's kind and that it says certain words.
func wants(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v is not %q", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q doesn't say %q", err, w)
		}
	}
}

func fail(err error) trextest.AnswerFunc {
	return func(trextest.Call) (any, error) { return nil, err }
}

func refusal(words string) trextest.AnswerFunc {
	return fail(&wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method", Specific: words})
}

func virtual(ports []trextest.Port) {
	for i := range ports {
		ports[i].Virtual, ports[i].Driver = true, "net_af_packet"
	}
}

// udp is a stream of 64-byte frames (FCS included) at 1 pps.
func udp() stream.Stream {
	return stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
		Packet: stream.Packet{Binary: make([]byte, 60)},
	}
}

func latency(id uint32, pps float64) stream.Stream {
	s := udp()
	s.Mode.Rate.Value = pps
	s.FlowStats = stream.Flow{Enabled: true, StreamID: id, RuleType: "latency"}
	return s
}

// ready claims both ports and loads them.
func (l simulatedServer) ready(t *testing.T, streams ...stream.Stream) {
	t.Helper()
	if len(streams) == 0 {
		streams = []stream.Stream{udp()}
	}
	noError(t, l.Claim(t.Context(), []int{0, 1}, false))
	for port := range 2 {
		_, err := l.Address(t.Context(), port, engine.Addressing{NextHopMAC: "02:00:00:00:00:20"})
		noError(t, err)
		noError(t, l.Load(t.Context(), port, streams))
	}
}

func bothPorts(rate units.PacketRate) []engine.PortLoad {
	return []engine.PortLoad{{Port: 0, Rate: rate}, {Port: 1, Rate: rate}}
}

func (l simulatedServer) read(t *testing.T) engine.Reading {
	t.Helper()
	r, err := l.Read(t.Context(), []int{0, 1})
	noError(t, err)
	return r
}

func TestDescribe(t *testing.T) {
	t.Run("physical ports", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			d, err := l.Describe(t.Context())
			noError(t, err)
			if d.Product != "TRex v3.08" || d.Server != "memory:4501" || len(d.Ports) != 2 {
				t.Errorf("described as %+v", d)
			}
			p := d.Ports[1]
			if p.Index != 1 || p.Virtual || p.Speed != 10*units.Gbps || !p.LinkUp || p.MAC != "02:00:00:00:00:11" ||
				p.FlowControl != "on" {
				t.Errorf("port 1 is %+v", p)
			}
		})
	})
	t.Run("virtual ports", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			d, err := l.Describe(t.Context())
			noError(t, err)
			if p := d.Ports[0]; !p.Virtual || p.FlowControl != "unknown" {
				t.Errorf("port 0 is %+v", p)
			}
		}, virtual)
	})
	t.Run("virtual functions have their card's speed", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			d, err := l.Describe(t.Context())
			noError(t, err)
			if d.Ports[0].Virtual {
				t.Error("a virtual function is said to have no physical speed")
			}
		}, virtual, func(p []trextest.Port) { p[0].Driver = "net_iavf" })
	})
}

func TestARunFromClaimToRelease(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t, udp(), latency(7, 500))
		earlier := l.read(t)
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		time.Sleep(1300 * time.Millisecond) // 300 ms of it until the common start
		first := l.read(t)
		if got := first.Ports[0].Sent.Sub(earlier.Ports[0].Sent); got != (units.Traffic{Packets: 1500,
			Bytes: 1500 * 64}) {
			t.Errorf("sent %+v in the first second at 1 kpps and 500 pps for latency", got)
		}
		noError(t, l.Update(t.Context(), bothPorts(20*kpps)))
		time.Sleep(time.Second)
		second := l.read(t)
		for port := range 2 {
			if got := second.Ports[port].Received.Sub(first.Ports[port].Received).Packets; got != 20_500 {
				t.Errorf("port %d received %d in a second at 20 kpps", port, got)
			}
		}
		if second.Instant-first.Instant != time.Second || second.Uncertainty != 0 || second.CPUPercent != 25 {
			t.Errorf("reading %+v after %v", second, first.Instant)
		}
		stats, err := l.Latency(t.Context())
		noError(t, err)
		if s := stats[7]; s.Average != 34*time.Microsecond || s.Received == 0 || s.Received != s.Sent ||
			s.Histogram[0] != 1 {
			t.Errorf("latency %+v", stats)
		}
		noError(t, l.Stop(t.Context(), []int{0, 1}))
		if sending := l.generator.Sending(); len(sending) != 0 {
			t.Errorf("ports %v still send", sending)
		}
		noError(t, l.Release(t.Context()))
		noError(t, l.Release(t.Context()))
		if owners := l.generator.Owners(); owners[0] != "" || owners[1] != "" {
			t.Errorf("owners %v", owners)
		}
		if crashes := l.generator.Crashes(); len(crashes) != 0 {
			t.Errorf("a real server would have crashed: %v", crashes)
		}
	})
}

func TestALatencyStreamHasItsFramesTimes(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.generator.Histograms = true
		l.ready(t, udp(), latency(7, 500))
		read := func() engine.Followed {
			sampled, err := l.Sampled(t.Context(), []uint32{7})
			noError(t, err)
			return sampled[7]
		}
		if fresh := read(); fresh.Received != 0 || fresh.Transits.Frames() != 0 {
			t.Errorf("before anything was sent: %+v", fresh)
		}
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		time.Sleep(1300 * time.Millisecond) // 300 ms of it until the common start
		earlier := read()
		time.Sleep(10 * time.Second)
		later := read()
		window := later.Transits.Since(earlier.Transits)
		if frames := window.Frames(); later.Received-earlier.Received != 5000 || frames != 5000 ||
			later.Uncounted != 0 {
			t.Errorf("%d frames came in 10 s at 500 a second, %d in the histogram, %d uncounted",
				later.Received-earlier.Received, frames, later.Uncounted)
		}
		// 34 µs, rounded down, is less than 35, and each hundredth frame takes 80 µs.
		for share, want := range map[transit.Share]time.Duration{transit.P50: 35 * time.Microsecond,
			transit.P99: 35 * time.Microsecond, transit.P999: 81 * time.Microsecond} {
			if percentile, ok := window.Percentile(share); !ok || percentile < want-1 || percentile > want*101/100 {
				t.Errorf("%v %v, want %v and at most 1 %% more", share, percentile, want)
			}
		}
	})
}

// A server reads counters and histogram one after the other, and frames come meanwhile.
func TestALatencyStreamIsReadWhileItsFramesCome(t *testing.T) {
	for name, c := range map[string]struct {
		later     time.Duration
		uncounted int64
	}{"the counters first": {10 * time.Millisecond, 0}, "the histogram first": {-10 * time.Millisecond, 5}} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.generator.Histograms, l.generator.HistogramsLater = true, c.later
				l.ready(t, udp(), latency(7, 500))
				noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
				time.Sleep(1300 * time.Millisecond) // 300 ms of it until the common start
				sampled, err := l.Sampled(t.Context(), []uint32{7})
				noError(t, err)
				if f := sampled[7]; f.Uncounted != c.uncounted || f.Received != int64(f.Transits.Frames())+
					f.Uncounted || f.Received < 500 {
					t.Errorf("%d frames came, %d of them without a time, %d in the histogram: want %d without",
						f.Received, f.Uncounted, f.Transits.Frames(), c.uncounted)
				}
				noError(t, l.Stop(t.Context(), []int{0, 1}))
				sampled, err = l.Sampled(t.Context(), []uint32{7})
				noError(t, err)
				if f := sampled[7]; f.Uncounted != 0 || f.Received != int64(f.Transits.Frames()) {
					t.Errorf("once they stopped, %d frames came, %d of them without a time", f.Received, f.Uncounted)
				}
			})
		})
	}
	t.Run("a first frame is counted and not timed yet", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_pgid_stats", func(trextest.Call) (any, error) {
				return map[string]any{"flow_stats": map[string]any{"7": map[string]any{"rp": map[string]any{"1": 1}}},
					"latency": map[string]any{"7": map[string]any{"lat": map[string]any{"hdrh": ""}}}}, nil
			})
			sampled, err := l.Sampled(t.Context(), []uint32{7})
			noError(t, err)
			if f := sampled[7]; f.Received != 1 || f.Uncounted != 1 {
				t.Errorf("%+v, want one frame without a time", f)
			}
		})
	})
}

func TestALatencyStreamWithoutATimeIsRefused(t *testing.T) {
	answer := func(hdrh string) trextest.AnswerFunc {
		return func(trextest.Call) (any, error) {
			return map[string]any{"flow_stats": map[string]any{"7": map[string]any{"rp": map[string]any{"1": 3}}},
				"latency": map[string]any{"7": map[string]any{"lat": map[string]any{"average": 34.0,
					"histogram": map[string]any{"30": 3}, "hdrh": hdrh}}}}, nil
		}
	}
	for name, c := range map[string]struct{ hdrh, message string }{
		"not started " +
			"with --hdrh": {"", "latency stream 7: incompatible generator: it has no histogram of its frames' " +
			"times (hdrh): start TRex with --hdrh"},
		"no histogram": {"bm9uc2Vuc2U=", "its histogram (hdrh) can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.Script("get_pgid_stats", answer(c.hdrh))
				_, err := l.Sampled(t.Context(), []uint32{7})
				wants(t, err, engine.ErrIncompatible, c.message)
			})
		})
	}
}

func TestEveryStartHasAnEnd(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		wants(t, l.Start(t.Context(), bothPorts(kpps), 0), engine.ErrRefused, "for ever")
		noError(t, l.Start(t.Context(), bothPorts(kpps), 2*time.Second))
		time.Sleep(time.Minute)
		r := l.read(t)
		if sent := r.Ports[0].Sent.Packets; sent < 2000 || sent > 2020 || len(l.generator.Sending()) != 0 {
			t.Errorf("sent %d packets in 2 s at 1 kpps", r.Ports[0].Sent.Packets)
		}
	})
}

func TestClaim(t *testing.T) {
	t.Run("names the owner, and keeps nothing", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.generator.Steal(1, "alice")
			wants(t, l.Claim(t.Context(), []int{0, 1}, false), engine.ErrTaken,
				`port 1 of memory:4501 is owned by "alice"`)
			if owner := l.generator.Owners()[0]; owner != "" {
				t.Errorf("port 0 is left to %q", owner)
			}
		})
	})
	t.Run("by force takes it, and turns flow control off", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.generator.Steal(1, "alice")
			noError(t, l.Claim(t.Context(), []int{0, 1}, true))
			d, err := l.Describe(t.Context())
			noError(t, err)
			if p := d.Ports[1]; p.Owner != "linerate" || p.FlowControl != "off" {
				t.Errorf("port 1 is %+v", p)
			}
		})
	})
	t.Run("keeps nothing when the answer is lost", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			var asked atomic.Int64
			l.Script("acquire", func(c trextest.Call) (any, error) {
				answer, err := l.generator.Answer(c)
				if asked.Add(1) == 2 {
					return nil, trextest.ErrStall
				}
				return answer, err
			})
			wants(t, l.Claim(t.Context(), []int{0, 1}, true), engine.ErrLost)
			if owners := l.generator.Owners(); owners[0] != "" || owners[1] != "" {
				t.Errorf("owners %v", owners)
			}
		})
	})
	t.Run("of a port that isn't there says how many there are", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			wants(t, l.Claim(t.Context(), []int{7}, false), engine.ErrRefused, "no port 7", "2 ports")
		})
	})
}

func TestAddress(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		cases := map[string]struct {
			a      engine.Addressing
			want   engine.MAC
			method string
		}{
			"IPv4 is resolved by ARP": {addressing("198.18.0.2/24", "198.18.0.1", ""),
				"02:00:00:00:00:20", "set_l3"},
			"IPv6 is resolved by neighbour discovery": {addressing("2001:2::2/64", "2001:2::1", ""),
				"02:00:00:00:00:20", "set_l2"},
			"a given MAC is believed": {addressing("198.18.0.2/24", "198.18.0.99",
				"02:00:00:00:00:77"), "02:00:00:00:00:77", "set_l3"},
			"a MAC without its address still gets us ARP": {addressing("198.18.0.2/24", "", "02:00:00:00:00:78"),
				"02:00:00:00:00:78", "set_l3"},
			"a MAC alone is for layer 2": {addressing("", "", "02:00:00:00:00:79"),
				"02:00:00:00:00:79", "set_l2"},
			"nothing at all leaves what the server had set": {engine.Addressing{}, "02:00:00:00:00:79",
				"get_port_status"},
		}
		for _, name := range []string{
			"IPv4 is resolved by ARP", "IPv6 is resolved by neighbour discovery", "a given MAC is believed",
			"a MAC without its address still gets us ARP", "a MAC alone is for layer 2",
			"nothing at all leaves what the server had set",
		} {
			c := cases[name]
			l.ForgetCalls()
			got, err := l.Address(t.Context(), 0, c.a)
			if err != nil || got != c.want {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			calls := l.Calls("set_l2", "set_l3", "get_port_status")
			if lastMethod := calls[len(calls)-1].Method; lastMethod != c.method {
				t.Errorf("%s: ended with %s", name, lastMethod)
			}
		}
		_, err := l.Address(t.Context(), 0, addressing("198.18.0.2/24", "198.18.0.99", ""))
		wants(t, err, engine.ErrUnresolved, "port 0", "198.18.0.99", "is the device up")
		_, err = l.Address(t.Context(), 0, addressing("198.18.0.2/24", "2001:2::1", ""))
		wants(t, err, engine.ErrRefused, "same family")
		_, err = l.Address(t.Context(), 0, engine.Addressing{NextHopMAC: "no MAC"})
		wants(t, err, engine.ErrRefused, `"no MAC"`)
	})
}

func TestBothFamiliesOfOneDevice(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0}, false))
		a := addressing("198.18.0.2/24", "198.18.0.1", "")
		six := addressing("2001:2::2/64", "2001:2::1", "")
		a.Local, a.NextHop = append(a.Local, six.Local...), append(a.NextHop, six.NextHop...)
		if mac, err := l.Address(t.Context(), 0, a); err != nil || mac != "02:00:00:00:00:20" {
			t.Errorf("got %q, %v", mac, err)
		}
	})
}

func TestCaptureAndInject(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		k, err := l.Capture(t.Context(), []int{0, 1})
		noError(t, err)
		frame := make([]byte, 60)
		copy(frame, "\x02\x00\x00\x00\x00\x20\x02\x00\x00\x00\x00\x10\x08\x00\x45")
		frame[22] = 64
		noError(t, l.Inject(t.Context(), 0, [][]byte{frame}))
		frames, err := k.Fetch(t.Context())
		noError(t, err)
		if len(frames) != 1 || frames[0].Port != 1 || frames[0].Bytes[22] != 63 {
			t.Errorf("captured %+v", frames)
		}
		noError(t, k.Close(t.Context()))
		if serviceCalls := l.Calls("service"); !strings.Contains(string(serviceCalls[len(serviceCalls)-1].Params),
			`"enabled":false`) {
			t.Error("service mode was left on")
		}
	})
}

func TestACaptureOfAClientThatWasLost(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		_, err := l.Capture(t.Context(), []int{0, 1})
		noError(t, err)
		successor, err := stl.Dial(t.Context(), l.Server.Address(), stl.Options{Dial: l.Dial})
		noError(t, err)
		defer func() { _ = successor.Close() }()
		noError(t, successor.Claim(t.Context(), []int{0, 1}, true))
		k, err := successor.Capture(t.Context(), []int{0, 1})
		noError(t, err)
		noError(t, k.Close(t.Context()))
		noError(t, successor.Release(t.Context()))
	})
}

func TestACaptureCutShortLeavesServiceMode(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		ctx, cancel := context.WithCancel(t.Context())
		l.ForgetCalls()
		l.Script("service", func(c trextest.Call) (any, error) {
			if ctx.Err() == nil {
				cancel()
				_, _ = l.generator.Answer(c)
				return nil, trextest.ErrStall
			}
			return l.generator.Answer(c)
		})
		if _, err := l.Capture(ctx, []int{0, 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		calls := l.Calls("service")
		if lastCall := calls[len(calls)-1]; lastCall.Port() != 0 || !strings.Contains(string(lastCall.Params),
			`"enabled":false`) {
			t.Errorf("service mode was left on: the last of %d orders is %s", len(calls), lastCall.Params)
		}
	})
}

func TestDialSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		prepare func(*trextest.Server)
		kind    error
		words   []string
	}{
		"nobody there": {func(s *trextest.Server) { s.Die() }, engine.ErrLost, []string{"no answer from",
			"is the generator running there"}},
		"another API": {func(s *trextest.Server) {
			s.Script("api_sync_v2", refusal("Version mismatch: your client version is too new"))
		}, engine.ErrIncompatible, []string{"STL 5.1", "too new"}},
		"stateful mode": {func(s *trextest.Server) {
			s.Script("get_version", func(trextest.Call) (any, error) { return map[string]string{"mode": "ASTF"}, nil })
		}, engine.ErrIncompatible, []string{`"ASTF"`, "--astf"}},
		"it hangs up": {func(s *trextest.Server) { s.Script("get_version", fail(trextest.ErrHangUp)) },
			engine.ErrLost, []string{"closed the connection"}},
		"it never talks": {func(s *trextest.Server) { s.Script("get_supported_cmds", fail(trextest.ErrStall)) },
			engine.ErrLost, []string{"nothing within"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
			c.prepare(s)
			_, err := stl.Dial(t.Context(), s.Address(), stl.Options{Timeout: 300 * time.Millisecond})
			wants(t, err, c.kind, append(c.words, s.Address())...)
		})
	}
}

func TestCancelledCallsAreNoFault(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		ctx, cancel := context.WithCancel(t.Context())
		l.Script("get_system_info", fail(trextest.ErrStall))
		go func() { time.Sleep(time.Second); cancel() }()
		_, err := l.Describe(ctx)
		wants(t, err, context.Canceled)
		if errors.Is(err, engine.ErrLost) {
			t.Errorf("the server is blamed: %v", err)
		}
	})
}
