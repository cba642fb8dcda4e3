package stl_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func (l simulatedServer) readError(t *testing.T) error {
	t.Helper()
	_, err := l.Read(t.Context(), []int{0, 1})
	return err
}

func TestReadingsNotice(t *testing.T) {
	t.Run("a thief, and go on to", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.read(t)
			l.generator.Steal(1, "thief")
			for range 3 {
				wants(t, l.readError(t), engine.ErrTaken, `port 1 of memory:4501 is owned by "thief"`)
			}
			noError(t, l.Claim(t.Context(), []int{0, 1}, true))
			l.read(t)
		})
	})
	t.Run("a thief whose event got lost", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.Script("get_async_events", func(trextest.Call) (any,
				error) {
				return map[string]any{"data": []any{}}, nil
			})
			l.read(t)
			l.generator.Steal(1, "thief")
			time.Sleep(time.Second)
			wants(t, l.readError(t), engine.ErrTaken, `"thief"`)
		})
	})
	t.Run("another session of our own name", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.generator.Steal(0, "linerate")
			wants(t, l.readError(t), engine.ErrTaken, `another session of "linerate"`)
		})
	})
	t.Run("a restarted server", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.generator.Restart()
			wants(t, l.readError(t), engine.ErrLost, "memory:4501 restarted")
		})
	})
	t.Run("counters that went backwards", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
			time.Sleep(time.Second)
			l.read(t)
			l.Script("get_port_stats", func(trextest.Call) (any, error) { return map[string]any{"opackets": 1}, nil })
			wants(t, l.readError(t), engine.ErrLost, "went backwards")
		})
	})
	t.Run("a server that dies", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.Die()
			wants(t, l.readError(t), engine.ErrLost, "memory:4501")
		})
	})
	t.Run("a server that says it stops", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.generator.AddEvent(100, map[string]any{"cause": "received a shutdown"})
			wants(t, l.readError(t), engine.ErrLost, "received a shutdown")
		})
	})
	t.Run("a port that failed", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			l.generator.AddEvent(7, map[string]any{"port_id": 1, "thread_id": 0})
			wants(t, l.readError(t), engine.ErrRefused, "port 1 reported an error")
		})
	})
}

func TestAServerThatReportsBehindNeverCatchesUpInABurst(t *testing.T) {
	for name, answer := range map[string]map[string]any{"TRex": {"opackets": 5}, "the software engine": {"opackets": 5,
		"behind": 0}} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t)
				l.Script("get_port_stats", func(trextest.Call) (any, error) { return answer, nil })
				r, err := l.Read(t.Context(), []int{0, 1})
				noError(t, err)
				if r.Ports[0].Paced != (len(answer) == 2) {
					t.Errorf("paced: %v", r.Ports[0].Paced)
				}
			})
		})
	}
}

func TestHowLongAPortsSendersWaitedIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		answer          map[string]any
		waited, waiting time.Duration
	}{
		"TRex doesn't say it": {map[string]any{"opackets": 5}, 0, 0},
		"the software engine does": {map[string]any{"opackets": 5, "behind": 0, "waited": 1.5, "waiting": 0.25},
			1500 * time.Millisecond, 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t)
				l.Script("get_port_stats", func(trextest.Call) (any, error) { return c.answer, nil })
				r, err := l.Read(t.Context(), []int{0, 1})
				noError(t, err)
				if p := r.Ports[0]; p.Waited != c.waited || p.Waiting != c.waiting {
					t.Errorf("waited %v, and for %v more", p.Waited, p.Waiting)
				}
			})
		})
	}
}

func TestStolenTimeIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		answer map[string]any
		want   engine.Stolen
	}{
		"TRex doesn't say it": {map[string]any{"m_cpu_util": 1.5}, engine.Stolen{}},
		"the software engine does, now and then": {map[string]any{"m_cpu_util": 1.5, "stolen": 2.25, "stolen_ts": 17.5},
			engine.Stolen{Time: 2250 * time.Millisecond, Instant: 17500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				l.ready(t)
				l.Script("get_global_stats", func(trextest.Call) (any, error) { return tt.answer, nil })
				r, err := l.Read(t.Context(), []int{0, 1})
				noError(t, err)
				if r.Stolen != tt.want {
					t.Errorf("%+v", r.Stolen)
				}
			})
		})
	}
}

// TestProcessorsAreRequestedOnlyIfWanted also checks that only a server that reports its processors is asked for
// them. TRex gets the requests that TRex's own client sends.
func TestProcessorsAreRequestedOnlyIfWanted(t *testing.T) {
	for name, tt := range map[string]struct {
		machines int // processors that the server says its machine has; 0: it says nothing, as TRex
		wanted   bool
		asks     bool
	}{
		"by an observer, of the software engine": {2, true, true},
		"by an observer, of TRex":                {0, true, false},
		"by nobody":                              {2, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				var asks bool
				memory := []signs.Reading{{Type: signs.Memory, At: time.Hour,
					Values: []signs.Value{{Series: "used", Number: 1e9}}}}
				table := l.generator.Answer
				l.Script("get_system_info", func(c trextest.Call) (any, error) {
					answer, err := table(c)
					if info, ok := answer.(map[string]any); ok && tt.machines > 0 {
						info["processors"] = tt.machines
					}
					return answer, err
				})
				l.Script("get_global_stats", func(c trextest.Call) (any, error) {
					var p struct {
						Processors bool
						Signs      []string
					}
					noError(t, c.Decode(&p))
					if asks = p.Processors; asks != slices.Equal(p.Signs, []string{signs.Memory}) {
						t.Errorf("asked for processors %t, for signs %q", asks, p.Signs)
					}
					if !asks {
						return map[string]any{}, nil
					}
					return map[string]any{"processors": [][]float64{{1, 7, 2, 0.5, 90}}, "processors_ts": 17.5,
						"signs": memory}, nil
				})
				e, err := stl.Dial(t.Context(), l.Server.Address(), stl.Options{Dial: l.Dial, Processors: tt.wanted,
					Signs: func() []string { return map[bool][]string{true: {signs.Memory}}[tt.wanted] }})
				noError(t, err)
				t.Cleanup(func() { _ = e.Close() })
				noError(t, e.Claim(t.Context(), []int{0, 1}, false))
				r, err := e.Read(t.Context(), []int{0, 1})
				noError(t, err)
				want, wantSigns := engine.Processors{}, []signs.Reading(nil)
				if tt.asks {
					wantSigns = memory
					want = engine.Processors{Instant: 17500 * time.Millisecond,
						List: []engine.Processor{{Number: 1, Busy: 7 * time.Second, SoftIRQ: 2 * time.Second,
							Stolen: 500 * time.Millisecond, Idle: 90 * time.Second}}}
				}
				if wanted := len(r.RequestedSigns) > 0; wanted != tt.wanted {
					t.Errorf("the reading says that %q were asked for", r.RequestedSigns)
				}
				if asks != tt.asks || !reflect.DeepEqual(r.Processors, want) || !reflect.DeepEqual(r.Signs, wantSigns) {
					t.Errorf("asked: %v, read %+v, want %v and %+v", asks, r.Processors, tt.asks, want)
				}
			})
		})
	}
}

func TestABrokenConnectionIsHealed(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		hungUp := false
		l.Script("get_global_stats", func(c trextest.Call) (any, error) {
			if !hungUp {
				hungUp = true
				return nil, trextest.ErrHangUp
			}
			return l.generator.Answer(c)
		})
		l.read(t)
		if !hungUp {
			t.Error("the connection never broke")
		}
	})
}

func TestAReadingCutShortDecidesNothing(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.Script("get_global_stats", fail(trextest.ErrStall))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		_, err := l.Read(ctx, []int{0, 1})
		wants(t, err, context.DeadlineExceeded)
		if errors.Is(err, engine.ErrLost) || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		l.Script("get_global_stats", nil)
		l.read(t)
	})
}

func TestASilentServerIsLostAfterTheClientsTimeout(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.Script("get_global_stats", fail(trextest.ErrStall))
		wants(t, l.readError(t), engine.ErrLost, "nothing within 40s")
	})
}

func TestLinks(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		if p := l.read(t).Ports[1]; !p.LinkUp || p.LinkFlaps != 0 {
			t.Errorf("at first %+v", p)
		}
		l.generator.SetLink(1, false)
		if p := l.read(t).Ports[1]; p.LinkUp || p.LinkFlaps != 1 {
			t.Errorf("after the link went down %+v", p)
		}
		l.generator.SetLink(1, true)
		time.Sleep(time.Second)
		r := l.read(t)
		if p := r.Ports[1]; !p.LinkUp || p.LinkFlaps != 2 {
			t.Errorf("after it came back %+v", p)
		}
		if p := r.Ports[0]; p.LinkFlaps != 0 {
			t.Errorf("the other port %+v", p)
		}
	})
}

func TestTheServersOwnCountOfLinkChanges(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		changes := 40
		l.Script("get_port_stats", func(trextest.Call) (any,
			error) {
			return map[string]any{"link_flaps": changes}, nil
		})
		if got := l.read(t).Ports[0].LinkFlaps; got != 0 {
			t.Errorf("changes from before the claim count: %d", got)
		}
		changes += 2
		if p := l.read(t).Ports[0]; p.LinkFlaps != 2 || !p.LinkUp {
			t.Errorf("a link that went and came back between two readings: %+v", p)
		}
	})
}

func TestPauseFrames(t *testing.T) {
	t.Run("are those received", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			if got := l.read(t).Ports[0].PauseFrames; got != 3 {
				t.Errorf("got %d", got)
			}
		})
	})
	t.Run("are unknown where the driver doesn't count them", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.ready(t)
			if got := l.read(t).Ports[0].PauseFrames; got != -1 {
				t.Errorf("got %d", got)
			}
		}, virtual)
	})
}

func TestReceiveErrorsAreKeptApart(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.generator.AddReceiveErrors(1, 42)
		if p := l.read(t).Ports[1]; p.ReceiveErrors != 42 || p.Received.Packets != 0 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestTheTimeOfAReading(t *testing.T) {
	stats := func(ts ...any) trextest.AnswerFunc {
		return func(c trextest.Call) (any, error) {
			time.Sleep(4 * time.Millisecond)
			answer := map[string]any{"opackets": 1}
			if len(ts) > 0 {
				answer["ts"] = ts[c.Port()]
			}
			return answer, nil
		}
	}
	t.Run("is the middle between just before and just after the counters", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_port_stats", stats())
			l.Script("ping", func(trextest.Call) (any, error) { return map[string]any{"ts": 1.5}, nil })
			if r := l.read(t); r.Instant != 1500*time.Millisecond || r.Uncertainty != 0 {
				t.Errorf("at %v ± %v", r.Instant, r.Uncertainty)
			}
			l.Script("ping", nil)
			if r := l.read(t); r.Uncertainty != 4*time.Millisecond {
				t.Errorf("at %v ± %v", r.Instant, r.Uncertainty)
			}
		})
	})
	t.Run("is what the counters say, if they do", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_port_stats", stats(77.25, 77.25))
			if r := l.read(t); r.Instant != 77250*time.Millisecond || r.Uncertainty != 0 {
				t.Errorf("at %v ± %v", r.Instant, r.Uncertainty)
			}
		})
	})
	t.Run("is as uncertain as the counters say", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_port_stats", func(c trextest.Call) (any, error) {
				return map[string]any{"ts": 77.25 + float64(c.Port()), "ts_width": 0.125 + 0.25*float64(c.Port())}, nil
			})
			if r := l.read(t); r.Instant != 77875*time.Millisecond || r.Uncertainty != 750*time.Millisecond {
				t.Errorf("at %v ± %v", r.Instant, r.Uncertainty)
			}
		})
	})
	t.Run("is their middle, if they differ", func(t *testing.T) {
		onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_port_stats", stats(77.5, 77.25))
			if r := l.read(t); r.Instant != 77375*time.Millisecond || r.Uncertainty != 125*time.Millisecond {
				t.Errorf("at %v ± %v", r.Instant, r.Uncertainty)
			}
		})
	})
}

func TestReadingsAreNotLateWhileAStartBlocks(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.ready(t)
		l.Script("start_traffic", func(trextest.Call) (any, error) {
			time.Sleep(3 * time.Second)
			return map[string]any{"multiplier": 1.0}, nil
		})
		var starting sync.WaitGroup
		starting.Go(func() {
			if err := l.Start(t.Context(), bothPorts(kpps)[:1], time.Minute); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		began := time.Now()
		l.read(t)
		if took := time.Since(began); took != 0 {
			t.Errorf("the reading took %v", took)
		}
		starting.Wait()
	})
}

func TestReadingsDuringOtherCalls(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for ctx.Err() == nil {
					if _, err := l.Read(ctx, []int{0, 1}); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		for range 3 {
			l.ready(t)
			noError(t, l.Start(ctx, bothPorts(kpps), time.Minute))
			time.Sleep(time.Second)
			noError(t, l.Update(ctx, bothPorts(2*kpps)))
			noError(t, l.Stop(ctx, []int{0, 1}))
			noError(t, l.Release(ctx))
		}
		cancel()
		readers.Wait()
	})
}
