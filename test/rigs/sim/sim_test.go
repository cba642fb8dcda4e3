package sim_test

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

const kpps = 1000 * units.PacketPerSecond

// started is one generator whose port 0 sends at a rate through a device, in a bubble.
func started(t *testing.T, d sim.Device, g sim.Generator, rate units.PacketRate) *sim.Engine {
	t.Helper()
	w := sim.New(sim.Config{Now: time.Now, Links: []sim.Link{{Name: "west"}, {Name: "east"}},
		Generators: []sim.Generator{g},
		Directions: []sim.Direction{{From: 0, To: 1, Mix: units.Traffic{Packets: 1, Bytes: 100}, Device: d}}})
	e := w.Generator(0)
	for _, err := range []error{e.Claim(t.Context(), []int{0, 1}, false),
		e.Load(t.Context(), 0, make([]stream.Stream, 1)),
		e.Start(t.Context(), []engine.PortLoad{{Port: 0, Rate: rate}}, time.Minute)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func read(t *testing.T, e *sim.Engine) (sent, received, dropped int64) {
	t.Helper()
	r, err := e.Read(t.Context(), []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return r.Ports[0].Sent.Packets, r.Ports[1].Received.Packets, r.Ports[1].ReceiveErrors
}

func TestDevices(t *testing.T) {
	tests := map[string]struct {
		device         sim.Device
		generator      sim.Generator
		rate           units.PacketRate
		sent, received int64 // after ten seconds
		dropped        int64
	}{
		"forwards all":       {sim.Device{}, sim.Generator{}, 5 * kpps, 50_000, 50_000, 0},
		"forwards its limit": {sim.Device{Limit: 2 * kpps}, sim.Generator{}, 5 * kpps, 50_000, 20_000, 0},
		"forwards its limit and a burst": {sim.Device{Limit: 2 * kpps, Burst: time.Second}, sim.Generator{}, 5 * kpps,
			50_000, 22_000, 0},
		"holds what is under the limit": {sim.Device{Limit: 2 * kpps, Burst: time.Second}, sim.Generator{}, 2 * kpps,
			20_000, 20_000, 0},
		"loses a share": {sim.Device{Loss: units.One / 4}, sim.Generator{}, 4 * kpps, 40_000, 30_000,
			0},
		"takes its time": {sim.Device{Delay: time.Second}, sim.Generator{}, 1 * kpps, 10_000, 9_000, 0},
		"has a curve": {sim.Device{Capacity: func(o float64) float64 { return math.Sqrt(o) * 10 }},
			sim.Generator{}, 1600 * units.PacketPerSecond, 16_000, 4_000, 0},
		"was in trouble for two seconds": {sim.Device{Trouble: sim.Trouble{Begin: time.Second, End: 3 * time.Second,
			Loss: units.One / 2}}, sim.Generator{}, 1 * kpps, 10_000, 9_000, 0},
		"a throttled generator": {sim.Device{}, sim.Generator{MaxRate: 3 * kpps}, 5 * kpps, 30_000, 30_000, 0},
		"drops at the receiver": {sim.Device{}, sim.Generator{ReceiveDrops: units.One / 10}, 5 * kpps, 50_000,
			45_000, 5_000},
		"drops only above a rate": {sim.Device{}, sim.Generator{ReceiveDrops: units.One / 10,
			ReceiveDropsFrom: 6 * kpps}, 5 * kpps, 50_000, 50_000, 0},
		"starts late": {sim.Device{}, sim.Generator{StartTakes: time.Second}, 1 * kpps, 9_000, 9_000,
			0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := started(t, test.device, test.generator, test.rate)
				time.Sleep(10 * time.Second)
				sent, received, dropped := read(t, e)
				if within1(sent, test.sent) && within1(received, test.received) && within1(dropped, test.dropped) {
					return
				}
				t.Errorf("sent %d, received %d, dropped %d; want %d, %d, %d", sent, received, dropped, test.sent,
					test.received, test.dropped)
			})
		})
	}
}

func within1(got, want int64) bool { return got-want <= 1 && want-got <= 1 }

func TestTrafficStopsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := started(t, sim.Device{}, sim.Generator{}, kpps)
		time.Sleep(2 * time.Minute)
		if sent, _, _ := read(t, e); sent != 60_000 || e.Running() {
			t.Errorf("sent %d, running %v; want a minute's frames", sent, e.Running())
		}
		if err := e.Update(t.Context(), []engine.PortLoad{{Port: 0, Rate: kpps}}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("update of a port that has stopped: %v", err)
		}
	})
}

func TestAGeneratorStandsStillAndCatchesUp(t *testing.T) {
	stall := sim.Standstill{Offset: time.Second, Duration: 300 * time.Millisecond, Faster: 4}
	for name, mute := range map[string]bool{"and answers": false, "and is mute": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := started(t, sim.Device{Limit: 2 * kpps, Burst: 50 * time.Millisecond},
					sim.Generator{Stalls: []sim.Standstill{stall}, Mute: mute}, kpps)
				began := time.Now()
				time.Sleep(1100 * time.Millisecond)
				sent, _, _ := read(t, e)
				if took := time.Since(began); !within1(sent, 1000) || mute != (took == 1300*time.Millisecond) {
					t.Errorf("sent %d when it answers, after %s", sent, took)
				}
				time.Sleep(2*time.Second - time.Since(began))
				// it caught up for 100 ms at 4 kpps, of which the device took 2 kpps and a saved-up burst of 100 frames
				if sent, received, _ := read(t, e); !within1(sent, 2000) || !within1(received, 1900) {
					t.Errorf("sent %d, received %d", sent, received)
				}
			})
		})
	}
}

func TestARateChangesWithoutAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := started(t, sim.Device{}, sim.Generator{}, kpps)
		time.Sleep(time.Second)
		if err := e.Update(t.Context(), []engine.PortLoad{{Port: 0, Rate: 3 * kpps}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if sent, received, _ := read(t, e); sent != 4000 || received != 4000 {
			t.Errorf("sent %d, received %d", sent, received)
		}
	})
}

func TestItIsStrict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := started(t, sim.Device{}, sim.Generator{}, kpps)
		load := []engine.PortLoad{{Port: 0, Rate: kpps}}
		for what, err := range map[string]error{
			"start without a duration": e.Start(t.Context(), load, 0),
			"start twice":              e.Start(t.Context(), load, time.Second),
			"start without streams":    e.Start(t.Context(), []engine.PortLoad{{Port: 1, Rate: kpps}}, time.Second),
			"load while transmitting":  e.Load(t.Context(), 0, nil),
			"inject into traffic":      e.Inject(t.Context(), 0, nil),
			"load an unclaimed port":   e.Load(t.Context(), 7, nil),
		} {
			if !errors.Is(err, engine.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
