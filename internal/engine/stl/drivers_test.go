package stl_test

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func (l simulatedServer) readEdge(t *testing.T) engine.PortCounters {
	t.Helper()
	r, err := l.ReadEdge(t.Context(), []int{0, 1})
	noError(t, err)
	return r.Ports[1]
}

// script has every port answer these extended statistics, and this in get_port_stats.
func (l simulatedServer) script(stats map[string]int64, ports map[string]any) {
	var names []string
	for name := range stats {
		names = append(names, name)
	}
	slices.Sort(names)
	l.Script("get_port_xstats_names", func(trextest.Call) (any,
		error) {
		return map[string]any{"xstats_names": names}, nil
	})
	l.Script("get_port_xstats_values", func(trextest.Call) (any, error) {
		values := []int64{}
		for _, name := range names {
			values = append(values, stats[name])
		}
		return map[string]any{"xstats_values": values}, nil
	})
	l.Script("get_port_stats", func(trextest.Call) (any, error) { return ports, nil })
}

func driven(driver string) func([]trextest.Port) {
	return func(ports []trextest.Port) {
		for i := range ports {
			ports[i].Driver = driver
		}
	}
}

func TestBrokenFramesAreNotTheGeneratorsDrops(t *testing.T) {
	for name, change := range map[string]func([]trextest.Port){"on a card": driven("net_ice"),
		"on an interface of the kernel's": virtual} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t)
				l.read(t)
				l.generator.AddReceiveErrors(1, 42)
				l.generator.AddDamaged(1, 7)
				if p := l.readEdge(t); p.ReceiveErrors != 42 || p.Damaged != 7 {
					t.Errorf("at an edge: %d dropped, %d damaged", p.ReceiveErrors, p.Damaged)
				}
				l.generator.AddDamaged(1, 3)
				if p := l.read(t).Ports[1]; p.ReceiveErrors != 42 || p.Damaged != 7 {
					t.Errorf("between edges, what the last one said: %d dropped, %d damaged", p.ReceiveErrors,
						p.Damaged)
				}
				if p := l.read(t).Ports[1]; p.ReceiveErrors != 42 || p.Damaged != 10 {
					t.Errorf("and soon after some went astray, anew: %d dropped, %d damaged", p.ReceiveErrors,
						p.Damaged)
				}
			}, change)
		})
	}
}

func TestUnsplitReceiveErrorsCountAsTheGenerators(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.script(map[string]int64{"rx_good_packets": 5}, map[string]any{"ierrors": 49})
		l.ready(t)
		if p := l.readEdge(t); p.ReceiveErrors != 49 || p.Damaged != 0 {
			t.Errorf("%d dropped, %d damaged", p.ReceiveErrors, p.Damaged)
		}
	})
}

func TestAnEdgeWithoutExtendedStatisticsFails(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.Script("get_port_xstats_values", refusal("not now"))
		_, err := l.ReadEdge(t.Context(), []int{0, 1})
		wants(t, err, engine.ErrRefused, "did not report its ports' extended statistics")
	})
}

// Values that don't belong to the names one by one say nothing, and are no counters of zero.
func TestAnEdgeWithMissingValuesFails(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.generator.AddReceiveErrors(1, 42)
		l.readEdge(t)
		l.Script("get_port_xstats_values", func(trextest.Call) (any,
			error) {
			return map[string]any{"xstats_values": []int64{1, 2}}, nil
		})
		_, err := l.ReadEdge(t.Context(), []int{0, 1})
		wants(t, err, engine.ErrRefused, "did not report its ports' extended statistics")
		if p := l.read(t).Ports[1]; p.ReceiveErrors != 42 {
			t.Errorf("%d dropped after an answer that says nothing of it", p.ReceiveErrors)
		}
	})
}

func TestWhatDriversCount(t *testing.T) {
	type counts struct{ missed, damaged, dropped, pauses, pausesSent int64 }
	generic := func(extra map[string]int64) map[string]int64 {
		stats := map[string]int64{"rx_good_packets": 100, "rx_missed_errors": 5, "rx_mbuf_allocation_errors": 2,
			"rx_errors": 11, "tx_errors": 3}
		for name, value := range extra {
			stats[name] = value
		}
		return stats
	}
	tests := map[string]struct {
		driver string
		stats  map[string]int64
		ports  map[string]any
		want   counts
		drops  engine.Visibility
		pause  engine.Visibility
	}{
		"i40e, with priorities": {"net_i40e",
			generic(map[string]int64{"rx_xoff_packets": 4, "rx_priority2_xoff_packets": 1,
				"rx_priority2_xon_to_xoff_packets": 50, "tx_priority2_xoff_packets": 9}),
			map[string]any{"ierrors": 18, "oerrors": 3}, counts{7, 11, 0, 5, 9}, engine.Counted, engine.Counted},
		"ice": {"net_ice", generic(map[string]int64{"rx_xoff_packets": 4, "priority_xoff_rx_tc3": 2,
			"priority_xoff_tx_tc3": 8, "priority_xon_2_xoff_tc3": 60}),
			map[string]any{"ierrors": 18}, counts{7, 11, 0, 6, 8}, engine.Counted, engine.Counted},
		"bnxt": {"net_bnxt", generic(map[string]int64{"rx_pause_frames": 4, "rx_pfc_ena_frames_pri0": 1,
			"pfc_pri0_rx_duration_us": 900, "tx_pause_frames": 2}),
			map[string]any{"ierrors": 18, "oerrors": 3}, counts{7, 11, 3, 5, 2}, engine.Counted, engine.Counted},
		"a virtual function of ice or i40e knows no pause frames": {"net_iavf",
			generic(map[string]int64{"rx_dropped_packets": 5}),
			map[string]any{"ierrors": 18, "oerrors": 3}, counts{7, 11, 3, -1, -1}, engine.Counted,
			engine.VisibilityUnknown},
		"igb, whose ierrors TRex reads without what was missed, but with pause frames": {"net_e1000_igb",
			generic(map[string]int64{"rx_xoff_packets": 4}),
			map[string]any{"ierrors": 15}, counts{7, 11, 0, 4, -1}, engine.Counted, engine.Counted},
		"ixgbe, whose ierrors have only damaged frames, and which isn't asked for more": {"net_ixgbe",
			generic(map[string]int64{"rx_flow_control_xoff_packets": 4}),
			map[string]any{"ierrors": 11}, counts{0, 11, 0, -1, -1}, engine.Hidden, engine.VisibilityUnknown},
		"a virtual function of ixgbe counts none": {"net_ixgbe_vf", map[string]int64{"rx_good_packets": 100,
			"rx_missed_errors": 0, "rx_mbuf_allocation_errors": 0, "rx_errors": 0},
			map[string]any{}, counts{0, 0, 0, -1, -1}, engine.Hidden, engine.VisibilityUnknown},
		"mlx5, whose ierrors TRex adds up twice": {"net_mlx5",
			generic(map[string]int64{"rx_out_of_buffer": 5, "rx_phy_discard_packets": 20, "rx_phy_crc_errors": 6,
				"rx_phy_in_range_len_errors": 1, "rx_phy_symbol_errors": 9000, "tx_phy_discard_packets": 4,
				"tx_phy_errors": 2}),
			map[string]any{"ierrors": 9019, "oerrors": 2}, counts{27, 7, 6, -1, -1}, engine.Counted,
			engine.VisibilityUnknown},
		"ena, which drops after it took them": {"net_ena", generic(map[string]int64{"tx_drops": 8}),
			map[string]any{"ierrors": 18, "oerrors": 3}, counts{7, 11, 11, -1, -1}, engine.Counted,
			engine.VisibilityUnknown},
		"vmxnet3": {"net_vmxnet3", generic(nil), map[string]any{"ierrors": 18,
			"oerrors": 3}, counts{7, 11, 0, -1, -1}, engine.Counted, engine.VisibilityUnknown},
		"virtio": {"net_virtio", generic(nil), map[string]any{"ierrors": 18},
			counts{7, 11, 0, -1, -1}, engine.Hidden, engine.VisibilityUnknown},
		"one that nobody looked into": {"net_new", generic(nil), map[string]any{"ierrors": 18, "oerrors": 3},
			counts{7, 11, 3, -1, -1}, engine.VisibilityUnknown, engine.VisibilityUnknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.script(tt.stats, tt.ports)
				l.ready(t)
				p := l.readEdge(t)
				if got := (counts{p.ReceiveErrors, p.Damaged, p.SendDrops, p.PauseFrames,
					p.PauseFramesSent}); got != tt.want {
					t.Errorf("counted %+v, want %+v", got, tt.want)
				}
				d, err := l.Describe(t.Context())
				noError(t, err)
				if port := d.Ports[1]; port.ReceiveDrops != tt.drops || port.PauseFrames != tt.pause {
					t.Errorf("receive drops are %s, pause frames %s; want %s and %s", port.ReceiveDrops,
						port.PauseFrames, tt.drops, tt.pause)
				}
			}, driven(tt.driver))
		})
	}
}

func TestTheSoftwareEnginesCountersSplitDrops(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.Script("get_system_info", func(trextest.Call) (any, error) {
			port := func(i int) map[string]any {
				return map[string]any{"index": i, "driver": "virtio_net", "receive_drops": "hidden",
					"pause_frames": "none", "is_prom_supported": true}
			}
			return map[string]any{"ports": []any{port(0), port(1)}}, nil
		})
		l.Script("get_port_stats", func(trextest.Call) (any, error) {
			return map[string]any{"ierrors": 5, "damaged": 3, "oerrors": 8, "send_drops": 2, "behind": 0}, nil
		})
		l.Script("get_port_xstats_names", refusal("it was not to be asked"))
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		d, err := l.Describe(t.Context())
		noError(t, err)
		if p := d.Ports[1]; p.ReceiveDrops != engine.Hidden || p.PauseFrames != engine.Impossible {
			t.Errorf("%+v", p)
		}
		if p := l.readEdge(t); p.ReceiveErrors != 5 || p.Damaged != 3 || p.SendErrors != 8 || p.SendDrops != 2 {
			t.Errorf("%+v", p)
		}
	})
}

func TestAnEdgeAsksForNoMoreThanItNeeds(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		asked := 0
		l.read(t)
		l.Script("get_port_xstats_values", func(trextest.Call) (any, error) {
			asked++
			return map[string]any{"xstats_values": make([]int, 12)}, nil
		})
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			l.read(t)
		}
		if l.readEdge(t); asked != 2 {
			t.Errorf("five readings and an edge asked for %d ports' extended statistics", asked)
		}
	})
}

// On some cards reading clears the registers of which TRex makes a port's counters, and DPDK its extended
// statistics. A run that asked for both saw 3 of 100 frames of its device go missing.
func TestNoFrameIsLostToRegistersThatForgetWhatWasRead(t *testing.T) {
	for _, driver := range []string{"net_e1000_igb", "net_ixgbe", "net_ice"} {
		t.Run(driver, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t)
				earlier := l.read(t)
				noError(t, l.Start(t.Context(), bothPorts(kpps), 10*time.Second))
				for range 20 {
					time.Sleep(100 * time.Millisecond)
					l.read(t)
					time.Sleep(100 * time.Millisecond)
					l.readEdge(t)
				}
				time.Sleep(10 * time.Second)
				later := l.read(t)
				for port := range 2 {
					sent, returned := later.Ports[port].Sent.Sub(earlier.Ports[port].Sent),
						later.Ports[1-port].Received.Sub(earlier.Ports[1-port].Received)
					if sent != returned || sent.Packets < 10_000 || sent.Bytes != 64*sent.Packets {
						t.Errorf("port %d sent %+v, and %+v came back", port, sent, returned)
					}
				}
			}, driven(driver))
		})
	}
}

func TestAReadingWithoutAShareOfThePortsFramesFails(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.read(t)
		l.Script("get_port_xstats_values", func(trextest.Call) (any,
			error) {
			return map[string]any{"xstats_values": []int64{1, 2}}, nil
		})
		wants(t, l.readError(t), engine.ErrRefused, "did not report its ports' extended statistics")
	}, driven("net_e1000_igb"))
}
