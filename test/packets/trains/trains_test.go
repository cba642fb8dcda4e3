package trains

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/calm"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

const trainFrames = 192

// TestServiceTime draws how long a device works on each frame, which only the device knows. What trains say that a
// frame takes more than it does in a device with almost no work is the time drawn.
func TestServiceTime(t *testing.T) {
	r := newRig(t)
	device := newWorkingDevice(t, r)
	r.open(t, datapath.Options{Receive: datapath.ReceiveXDP})
	watch, err := calm.Begin(t.Context())
	must(t, err)
	const shortest, longest, little = 500.0, 50_000.0, 100 * time.Nanosecond // shortest and longest in ns
	for range tier.Times(2, 20) {
		drawn := time.Duration(shortest * math.Exp(rand.Float64()*math.Log(longest/shortest)))
		begun := time.Now()
		base, full := time.Hour, time.Hour // of the calmest round: beside other work all but the device's own work is slower
		for range tier.Times(12, 40) {
			base = min(base, tenth(spacingsAt(t, r, device, little)))
			full = min(full, tenth(spacingsAt(t, r, device, drawn)))
		}
		got := full - base + little
		var faults []string
		if off, allowed := (got - drawn).Abs(), allowedError(drawn); off > allowed {
			faults = append(faults, fmt.Sprintf("%v off, and %v is allowed", off, allowed))
		}
		lost := watch.Since(begun)
		outcome := lost.Outcome(faults)
		t.Logf("%s: %v of work measured as %v; with %v a frame takes %v; %s", outcome, drawn, got, little, base, lost)
		if outcome == calm.Wrong {
			t.Errorf("%v of work measured as %v: %v", drawn, got, faults)
		}
	}
}

// allowedError is 2 % or 20 ns where the machine is calm. On a machine with other work a frame with almost no work
// takes 370 ns in one round and 460 in another, and the calmest round of a device may still be a slow one.
func allowedError(service time.Duration) time.Duration {
	if tier.Full {
		return max(service/50, 20*time.Nanosecond)
	}
	return max(service/10, 250*time.Nanosecond)
}

// spacingsAt has the device work for a time on each frame, and returns the spacings of trains. A train of a slow device
// is shorter, so that the machine's other work comes between some trains and not into each.
func spacingsAt(t *testing.T, r *rig, device *workingDevice, service time.Duration) []time.Duration {
	t.Helper()
	device.work(t, service)
	frames := pollFrames + min(max(int(300*time.Microsecond/service), 16), trainFrames-pollFrames)
	trains := r.send(t, 16, frames, 200*time.Microsecond+time.Duration(frames)*service, "east")
	for i, train := range trains {
		if train.Sending <= 0 || train.Sending > time.Second {
			t.Errorf("train %d took %v to leave", i, train.Sending)
		}
	}
	return spacings(t, trains, frames)
}

// TestRouter sends trains through the kernel's router. They enter faster than it works.
func TestRouter(t *testing.T) {
	r := newRig(t)
	netnstest.RunIn(t, r.device, func() error {
		for name, address := range map[string]string{"d0": "198.18.0.1/24", "d1": "198.19.0.1/24"} {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if err := netif.AddAddress(l, netip.MustParsePrefix(address)); err != nil {
				return err
			}
			if err := netif.ForwardIPv4(l); err != nil {
				return err
			}
			far := map[string]net.HardwareAddr{"d0": r.macs["west"], "d1": r.macs["east"]}[name]
			host := map[string]netip.Addr{"d0": source, "d1": destination}[name]
			if err := netif.SetNeighbour(l, host, far); err != nil {
				return err
			}
		}
		return nil
	})
	r.open(t, datapath.Options{})
	trains := r.send(t, 200, trainFrames, 300*time.Microsecond, "d0")
	list := spacings(t, trains, trainFrames)
	var sendings []time.Duration
	for _, train := range trains {
		sendings = append(sendings, train.Sending/(trainFrames-1))
		for i, arrival := range train.Arrivals {
			if len(train.Arrivals) == trainFrames && arrival.Frame != i {
				t.Fatalf("frame %d arrived as number %d", arrival.Frame, i)
			}
		}
	}
	frame, sending := tenth(list), tenth(sendings)
	t.Logf("a frame takes the router %v, and the sender %v", frame, sending)
	if frame < 2*sending {
		t.Error("trains enter more slowly than at twice the router's rate")
	}
}

// TestLossAndOrder: frames that a device loses are missing, and others show the order in which they left.
func TestLossAndOrder(t *testing.T) {
	r := newRig(t)
	device, err := impaired.Start(r.device, impaired.Spec{Interfaces: [2]string{"d0", "d1"},
		Ports: [2]impaired.Impairment{{LoseOneIn: 48, ReorderOneIn: 10}}})
	must(t, err)
	t.Cleanup(func() { must(t, device.Close()) })
	r.open(t, datapath.Options{})
	const trains = 5
	arrived, late := 0, 0
	for number, train := range r.send(t, trains, trainFrames, 10*time.Millisecond, "east") {
		seen := map[int]bool{}
		highest := -1
		for _, arrival := range train.Arrivals {
			if seen[arrival.Frame] {
				t.Errorf("train %d: frame %d arrived twice", number, arrival.Frame)
			}
			if seen[arrival.Frame] = true; arrival.Frame < highest {
				late++
			}
			highest = max(highest, arrival.Frame)
		}
		for i := range trainFrames {
			if lost := (number*trainFrames+i+1)%48 == 0; seen[i] == lost {
				t.Errorf("train %d: frame %d arrived: %v, and the device lost it: %v", number, i, seen[i], lost)
			}
		}
		arrived += len(train.Arrivals)
	}
	counts, err := device.Counts()
	must(t, err)
	if counts[0].Departed != int64(arrived) || counts[0].Lost() != int64(trains*trainFrames-arrived) {
		t.Errorf("%d frames arrived; the device says %+v", arrived, counts[0])
	}
	if want := (trains*trainFrames - trains*4) / 10; late < want-3 || late > want+3 {
		t.Errorf("%d frames were late, want about %d", late, want)
	}
}

// The interface of engines and the software engine bound an order of trains alike.
func TestOrdersOfTrainsHaveOneBound(t *testing.T) {
	if engine.MaxTrainFrames != datapath.MaxTrainFrames {
		t.Errorf("engines send %d frames at most, and the software engine %d", engine.MaxTrainFrames,
			datapath.MaxTrainFrames)
	}
}
