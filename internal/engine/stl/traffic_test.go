package stl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func TestAFaultOfSeveralPortsIsOneSentence(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.generator.SetLink(0, false)
		l.generator.SetLink(1, false)
		err := l.Start(t.Context(), bothPorts(kpps), time.Minute)
		wants(t, err, engine.ErrRefused, "port 0: Link state is DOWN", "port 1: Link state is DOWN")
		l.generator.Restart()
		released := l.Release(t.Context())
		wants(t, released, engine.ErrLost, "restarted")
		for _, e := range []error{err, released} {
			if strings.Contains(e.Error(), "\n") {
				t.Errorf("several lines: %q", e)
			}
		}
	})
}

func TestPortsStartTogether(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		instants := map[float64]int{}
		for _, c := range l.Calls("start_traffic") {
			var p struct {
				Instant float64 `json:"start_at_ts"`
			}
			noError(t, c.Decode(&p))
			instants[p.Instant]++
		}
		for instant, ports := range instants {
			if ports != 2 || instant < 1000.1 {
				t.Errorf("%d ports start at %v", ports, instant)
			}
		}
	})
}

// late refuses a port's order for a common start so often, as a server does that compiled the other port's
// streams for too long.
func (l simulatedServer) late(times int) {
	l.Script("start_traffic", func(c trextest.Call) (any, error) {
		var p struct {
			Port    int     `json:"port_id"`
			Instant float64 `json:"start_at_ts"`
		}
		if err := c.Decode(&p); err != nil || p.Port == 0 || times == 0 {
			return l.generator.Answer(c)
		}
		times--
		return nil, &wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method",
			Specific: fmt.Sprintf("start_at_ts %v is too soon", p.Instant)}
	})
}

func TestACommonStartThatComesTooLateIsRepeated(t *testing.T) {
	t.Run("further ahead, and told", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			earlier := l.read(t)
			l.late(2)
			began := time.Now()
			noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
			if took := time.Since(began); took != 900*time.Millisecond { // 1.2 s ahead without the usual lead
				t.Errorf("it took %v", took)
			}
			time.Sleep(1300 * time.Millisecond)
			later := l.read(t)
			for port := range 2 {
				if got := later.Ports[port].Sent.Sub(earlier.Ports[port].Sent).Packets; got != 1000 {
					t.Errorf("port %d sent %d in the first second at 1 kpps", port, got)
				}
			}
			remarks := l.Remarks()
			if len(remarks) != 2 || !strings.Contains(remarks[1], "longer than the 600ms until the common start") ||
				len(l.Remarks()) != 0 {
				t.Errorf("it says %q", remarks)
			}
		})
	})
	t.Run("and no more often than three times", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.late(100)
			err := l.Start(t.Context(), bothPorts(kpps), time.Minute)
			wants(t, err, engine.ErrRefused, "start_traffic on port 1", "is too soon",
				"longer than the 2.4s until the common start", "free processors")
			if orders, sending := l.Calls("start_traffic"), l.generator.Sending(); len(orders) != 8 ||
				len(sending) != 0 {
				t.Errorf("%d orders were given, and ports %v send", len(orders), sending)
			}
			if time.Sleep(5 * time.Second); l.read(t).Ports[0].Sent.Packets != 0 {
				t.Error("a port sends that was stopped before its time")
			}
		})
	})
	t.Run("by the server's clock where its words tell nothing", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			busy := true
			l.Script("start_traffic", func(c trextest.Call) (any, error) {
				if busy && strings.Contains(string(c.Params), `"port_id":1`) {
					busy = false
					time.Sleep(400 * time.Millisecond)
					return nil, &wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method",
						Specific: "invalid time"}
				}
				return l.generator.Answer(c)
			})
			noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
			if len(l.Remarks()) != 1 || len(l.generator.Sending()) != 2 {
				t.Errorf("ports %v send", l.generator.Sending())
			}
		})
	})
	t.Run("and not where something else is wrong", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.generator.SetLink(1, false)
			wants(t, l.Start(t.Context(), bothPorts(kpps), time.Minute), engine.ErrRefused, "Link state is DOWN")
			if orders := l.Calls("start_traffic"); len(orders) != 2 || len(l.Remarks()) != 0 {
				t.Errorf("%d orders were given", len(orders))
			}
		})
	})
}

func TestAStartThatFailsLeavesNothingRunning(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.generator.SetLink(1, false)
		err := l.Start(t.Context(), bothPorts(kpps), time.Minute)
		wants(t, err, engine.ErrRefused, "start_traffic on port 1", "Link state is DOWN", "check the cable")
		if sending := l.generator.Sending(); len(sending) != 0 {
			t.Errorf("ports %v send", sending)
		}
	})
}

func TestImpossibleLoadsAreRefused(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0}, false))
		load := []engine.PortLoad{{Port: 0, Rate: kpps}}
		wants(t, l.Start(t.Context(), load, time.Minute), engine.ErrRefused, "port 0 has no streams")
		wants(t, l.Update(t.Context(), load), engine.ErrRefused, "port 0 has no streams")
		noError(t, l.Load(t.Context(), 0, []stream.Stream{udp()}))
		wants(t, l.Start(t.Context(), []engine.PortLoad{{Port: 0}}, time.Minute), engine.ErrRefused,
			"stop the port instead")
		wants(t, l.Update(t.Context(), load), engine.ErrLost, "port 0 of memory:4501 doesn't send any more")
		wants(t, l.Load(t.Context(), 1, []stream.Stream{udp()}), engine.ErrTaken, "port 1")
		pinned := udp()
		pinned.CoreID = 3
		wants(t, l.Load(t.Context(), 0, []stream.Stream{pinned}), engine.ErrRefused, "core_id 3")
		percent := latency(7, 1)
		percent.Mode.Rate.Type = "percentage"
		wants(t, l.Load(t.Context(), 0, []stream.Stream{percent}), engine.ErrRefused, "packets per second")
	})
}

// order is the multiplier and force of a call.
type order struct {
	Mul struct {
		Type  string
		Value float64
	}
	Force bool
}

func ordersOf(t *testing.T, calls []trextest.Call) []order {
	t.Helper()
	orders := make([]order, len(calls))
	for i, c := range calls {
		noError(t, c.Decode(&orders[i]))
	}
	return orders
}

func TestLatencyStreamsAloneAreSentAtTheirOwnRate(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t, latency(7, 1000))
		load := []engine.PortLoad{{Port: 0, Rate: 5 * kpps}}
		noError(t, l.Start(t.Context(), load, time.Minute))
		noError(t, l.Update(t.Context(), load))
		if got := ordersOf(t, l.Calls("start_traffic")); got[0].Mul.Type != "raw" || got[0].Mul.Value != 1 {
			t.Errorf("started with %+v", got[0])
		}
		if updates := l.Calls("update_traffic"); len(updates) != 0 {
			t.Errorf("%d updates were sent", len(updates))
		}
	})
}

// TestABurstIsSentAtItsOwnRate also checks that a finite stream is scaled with the others if it is among other
// streams or begins a chain.
func TestABurstIsSentAtItsOwnRate(t *testing.T) {
	burst := udp()
	burst.Mode.Type, burst.Mode.TotalPackets = "single_burst", 9
	first, idle := burst, burst
	first.NextStreamID, idle.Enabled = 2, false
	for name, c := range map[string]struct {
		streams []stream.Stream
		kind    string
	}{
		"a burst":                       {[]stream.Stream{burst, burst}, "raw"},
		"a burst that is left out":      {[]stream.Stream{idle, udp()}, "pps"},
		"a burst beside what goes on":   {[]stream.Stream{burst, udp()}, "pps"},
		"a burst with what comes after": {[]stream.Stream{first, burst}, "pps"},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t, c.streams...)
				noError(t, l.Start(t.Context(), []engine.PortLoad{{Port: 0, Rate: 5 * kpps}}, time.Minute))
				if got := ordersOf(t, l.Calls("start_traffic")); got[0].Mul.Type != c.kind {
					t.Errorf("started with %+v, want %s", got[0], c.kind)
				}
			})
		})
	}
}

func TestLatencyStreamsInBitsCountTowardsTheRate(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		bits := latency(7, 512_000) // 1000 packets of 64 bytes
		bits.Mode.Rate.Type = "bps_L2"
		wire := latency(8, 672_000) // 1000 packets of 84 bytes
		wire.Mode.Rate.Type = "bps_L1"
		noError(t, l.Claim(t.Context(), []int{0}, false))
		noError(t, l.Load(t.Context(), 0, []stream.Stream{udp(), bits, wire}))
		l.Script("start_traffic", func(trextest.Call) (any, error) { return map[string]any{"multiplier": 1.0}, nil })
		noError(t, l.Start(t.Context(), []engine.PortLoad{{Port: 0, Rate: 5 * kpps}}, time.Minute))
		if got := ordersOf(t, l.Calls("start_traffic")); got[0].Mul.Value != 7000 {
			t.Errorf("started with %+v", got[0])
		}
	})
}

func TestRatesAboveTheLine(t *testing.T) {
	excessive := bothPorts(15_000 * kpps) // 10.08 Gb/s at layer 1
	t.Run("are refused on physical ports", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			wants(t, l.Start(t.Context(), excessive, time.Minute), engine.ErrRefused, "exceeds port line rate",
				"lower the rate")
			for _, o := range ordersOf(t, l.Calls("start_traffic")) {
				if o.Force {
					t.Error("a physical port was forced")
				}
			}
		})
	})
	t.Run("are forced on virtual ones, whose speed means nothing", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			forcible := func(c trextest.Call) (any, error) {
				var o order
				if err := c.Decode(&o); err != nil || o.Force {
					return map[string]any{"multiplier": 1.0}, err
				}
				return l.generator.Answer(c)
			}
			l.Script("start_traffic", forcible)
			l.Script("update_traffic", forcible)
			noError(t, l.Start(t.Context(), excessive, time.Minute))
			noError(t, l.Update(t.Context(), excessive))
			orders := ordersOf(t, l.Calls("start_traffic", "update_traffic"))
			if len(orders) != 6 || orders[1].Force || !orders[2].Force || !orders[5].Force {
				t.Errorf("orders %+v", orders)
			}
		}, virtual)
	})
}

func TestStopHealsABrokenConnection(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		broken := false
		l.Script("stop_traffic", func(c trextest.Call) (any, error) {
			if !broken {
				broken = true
				return nil, trextest.ErrHangUp
			}
			return l.generator.Answer(c)
		})
		noError(t, l.Stop(t.Context(), []int{0, 1}))
		if sending := l.generator.Sending(); len(sending) != 0 {
			t.Errorf("ports %v send", sending)
		}
	})
}

func TestValidateIsAskedOnlyWhereItIsKnown(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0}, false))
		l.Script("validate", refusal("*** error: instruction id '1' offset 999 is too big"))
		err := l.Load(t.Context(), 0, []stream.Stream{udp()})
		wants(t, err, engine.ErrRefused, "offset 999")
	})
}

func TestTheRateIsExact(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		noError(t, l.Start(t.Context(), []engine.PortLoad{{Port: 0, Rate: 12_345_678 * units.PacketPerSecond / 1000}},
			time.Minute))
		if body := string(l.Calls("start_traffic")[0].Params); !strings.Contains(body, `"value":12345.678`) {
			t.Errorf("started with %s", body)
		}
	})
}

// A port that is to send nothing is stopped while the other one goes on, and started again later, as no server
// accepts a rate of zero.
func TestAPortIsSilentWhileAnotherSends(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		time.Sleep(time.Second)
		wants(t, l.Update(t.Context(), []engine.PortLoad{{Port: 1}}), engine.ErrRefused, "stop the port instead")
		noError(t, l.Stop(t.Context(), []int{1}))
		noError(t, l.Update(t.Context(), bothPorts(2 * kpps)[:1]))
		var sent [3][2]int64
		for i := range sent {
			r := l.read(t)
			sent[i] = [2]int64{r.Ports[0].Sent.Packets, r.Ports[1].Sent.Packets}
			time.Sleep(time.Second)
			if i == 1 {
				noError(t, l.Start(t.Context(), []engine.PortLoad{{Port: 1, Rate: 3 * kpps}}, 10*time.Second))
				time.Sleep(time.Second)
			}
		}
		if first, second := sent[1][0]-sent[0][0], sent[1][1]-sent[0][1]; first != 2000 || second != 0 {
			t.Errorf("in a second port 0 sent %d of 2000, and port 1, which is stopped, %d", first, second)
		}
		if first, second := sent[2][0]-sent[1][0], sent[2][1]-sent[1][1]; first != 4000 || second != 3000 {
			t.Errorf("in two seconds port 0 sent %d of 4000, and port 1, which was started for the second, %d of 3000",
				first, second)
		}
	})
}
