package impaired

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// TestItCountsEachFrame knows beforehand which frames are chosen, to the frame. Each port has its own impairment. The
// counts hold on a busy machine, too.
func TestItCountsEachFrame(t *testing.T) {
	for _, c := range []struct {
		name string
		i    Impairment
		want func(n int64) Counts
		// inKernel says that the kernel can do it, too.
		inKernel bool
	}{
		{"nothing", Impairment{}, func(n int64) Counts { return Counts{Departed: n} }, true},
		{"one in 100 is lost", Impairment{LoseOneIn: 100},
			func(n int64) Counts { return Counts{Chosen: n / 100, Departed: n - n/100} }, true},
		{"one in 50 leaves twice", Impairment{DuplicateOneIn: 50},
			func(n int64) Counts { return Counts{Doubled: n / 50, Departed: n + n/50} }, true},
		{"one in 30 leaves behind the next", Impairment{ReorderOneIn: 30},
			func(n int64) Counts { return Counts{Departed: n} }, false},
		{"each stays for 30 ms", Impairment{Delay: 30 * time.Millisecond},
			func(n int64) Counts { return Counts{Departed: n} }, false},
		{"some of all", Impairment{LoseOneIn: 10, DuplicateOneIn: 9, ReorderOneIn: 8, Delay: time.Millisecond},
			func(n int64) Counts {
				remaining := n - n/10
				return Counts{Chosen: n / 10, Doubled: remaining / 9, Departed: remaining + remaining/9}
			}, false},
	} {
		t.Run(c.name, func(t *testing.T) { newRig(t, c.i).countsEach(t, c.want) })
		if c.inKernel {
			t.Run(c.name+", in the kernel", func(t *testing.T) {
				newRigOf(t, Spec{Ports: [2]Impairment{c.i},
					InKernel: true}).countsEach(t, c.want)
			})
		}
	}
}

// countsEach sends both ways, and compares the counts, and the frames that came out, with what must become of frames
// that enter the first port. All other frames are forwarded.
func (r *rig) countsEach(t *testing.T, want func(n int64) Counts) {
	t.Helper()
	sent := r.sendBoth(t, 200*time.Millisecond)
	counts, wants := r.counts(t), [2]Counts{want(sent[0]), {Departed: sent[1]}}
	wants[0].Came, wants[1].Came = sent[0], sent[1]
	if counts != wants {
		t.Errorf("counted %+v, want %+v", counts, wants)
	}
	for port := range 2 {
		if arrived := int64(len(r.hear(t, port))); arrived != wants[1-port].Departed {
			t.Errorf("port %d: %d frames came out, want %d", port, arrived, wants[1-port].Departed)
		}
	}
}

// sendBoth sends 10 000 frames/s into both ports at once, and returns how many.
func (r *rig) sendBoth(t *testing.T, d time.Duration) (sent [2]int64) {
	t.Helper()
	var senders sync.WaitGroup
	for port := range sent {
		senders.Go(func() { sent[port] = r.send(t, port, 10_000, d) })
	}
	senders.Wait()
	return sent
}

// TestALimitForEachDirection loses what is above each port's limit, whenever the machine lets the device run.
func TestALimitForEachDirection(t *testing.T) {
	const saves, queue = 20 * time.Millisecond, 50 * time.Millisecond
	for name, s := range map[string]Spec{
		"a process": {Ports: [2]Impairment{{Limit: 4_000, Saves: saves}, {Limit: 2_000, Queue: queue}}},
		"the kernel": {Ports: [2]Impairment{{Limit: 4_000, Saves: saves}, {Limit: 2_000, Saves: saves}},
			InKernel: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigOf(t, s)
			sent := r.sendBoth(t, time.Second/2)
			for port, c := range r.counts(t) {
				arrivals := r.hear(t, 1-port)
				if c.Came != sent[port] || c.Departed != int64(len(arrivals)) || c.Departed != c.Came-c.Overload ||
					c.Overload == 0 || c.Departed == 0 {
					t.Fatalf("port %d counted %+v; %d were sent and %d came out", port, c, sent[port], len(arrivals))
				}
				// The device saw the frames at their own times, from the first that was sent to the last.
				took := max(time.Second/2, arrivals[len(arrivals)-1].sent-arrivals[0].sent+time.Millisecond)
				if limit := float64(s.Ports[port].Limit)*(took+max(saves, queue)).Seconds() +
					1; float64(c.Departed) > 1.01*limit {
					t.Errorf("port %d: %d frames came out in %v, and its limit is %d", port, c.Departed, took,
						s.Ports[port].Limit)
				}
			}
		})
	}
}

func TestEachFrameIsLate(t *testing.T) {
	const delay = 50 * time.Millisecond
	r := newRig(t, Impairment{Delay: delay})
	sent := r.send(t, 0, 5_000, 200*time.Millisecond)
	r.counts(t)
	arrivals := r.hear(t, 1)
	for n, h := range arrivals {
		if late := h.received - h.sent; late < delay || h.number != int64(n) {
			t.Fatalf("frame %d came out as the one of number %d, %v after it was sent, want %v at least and in order",
				h.number, n, late, delay)
		}
	}
	if int64(len(arrivals)) != sent {
		t.Errorf("%d of %d frames came out", len(arrivals), sent)
	}
}

// TestItRecordsEachFrame finds each frame that left in the record, with no less than its delay and no more than the
// tester saw.
func TestItRecordsEachFrame(t *testing.T) {
	const delay = 20 * time.Millisecond
	r := newRigOf(t, Spec{Ports: [2]Impairment{{Delay: delay, DuplicateOneIn: 10}}, Records: true})
	sent := r.sendBoth(t, 200*time.Millisecond)
	r.counts(t)
	residences, err := r.device.Residences()
	noError(t, err)
	for port, want := range []int64{sent[0] + sent[0]/10, sent[1]} {
		longest := time.Duration(0)
		for _, h := range r.hear(t, 1-port) {
			longest = max(longest, h.received-h.sent)
		}
		histogram := residences[port][frameBytes+units.FCSBytes]
		for bucket, frames := range histogram.All() {
			low, high := transit.Bounds(bucket)
			if low > longest || port == 0 && high < delay {
				t.Errorf("port %d: %d frames stayed inside for %v to %v, want %v at least, and %v at most", port,
					frames, low, high, delay, longest)
			}
		}
		if got := int64(histogram.Frames()); got != want {
			t.Errorf("port %d: %d frames are in the record, and %d left", port, got, want)
		}
	}
}

func TestOrderOnTheWire(t *testing.T) {
	r := newRig(t, Impairment{ReorderOneIn: 10})
	r.send(t, 0, 5_000, 200*time.Millisecond)
	r.counts(t)
	latest, late := map[byte]int64{}, map[byte]int64{}
	frames := map[byte]int64{}
	for _, h := range r.hear(t, 1) {
		frames[h.flow]++
		if earlier, ok := latest[h.flow]; ok && h.number < earlier {
			late[h.flow]++
		}
		latest[h.flow] = max(latest[h.flow], h.number)
	}
	for f := range byte(4) {
		// Each flow begins to count elsewhere, and a flow's last frame may wait for a next one in vain.
		if n := late[f]; n > (frames[f]+9)/10 || n < (frames[f]-1)/10 || n == 0 {
			t.Errorf("flow %d: %d of %d frames came out behind a later one, want one in 10", f, n, frames[f])
		}
	}
}

// TestWorkTakesAProcessor has a device whose processor is its limit. It forwards no more than that, and drops what
// finds no room.
func TestWorkTakesAProcessor(t *testing.T) {
	const work, room = 500 * time.Microsecond, 16
	r := newRig(t, Impairment{Work: work, Room: room})
	begin := time.Now()
	sent := r.send(t, 0, 10_000, 300*time.Millisecond)
	c := r.counts(t)[0]
	if limit := int64(time.Since(begin)/work) + 1; c.Came != sent || c.Departed != sent-c.NoRoom ||
		c.Departed > limit || c.NoRoom == 0 || c.Departed < room {
		t.Errorf("of %d frames: %+v, want %d to %d to leave", sent, c, room, limit)
	}
}

func TestAnImpossibleDeviceIsRefused(t *testing.T) {
	netnstest.Root(t)
	ns := space(t)
	for says, s := range map[string]Spec{
		"the impaired device: port nowhere": {Interfaces: [2]string{"nowhere", "lo"}},
		"in the kernel loses or doubles": {Interfaces: [2]string{"lo", "lo"},
			Ports: [2]Impairment{{}, {Delay: 1}}, InKernel: true},
		"keeps no record": {Interfaces: [2]string{"lo", "lo"}, InKernel: true,
			Records: true},
		"impaired device: a device that loses every frame": {Interfaces: [2]string{"lo", "lo"},
			Ports: [2]Impairment{{LoseOneIn: 1}}},
	} {
		if d, err := Start(ns, s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, %v; want %q", s, d, err, says)
		}
	}
}

// TestWhichWaitsAreSeen finds only a device whose waits cost frames in the namespace of its interfaces.
func TestWhichWaitsAreSeen(t *testing.T) {
	ours, err := os.Readlink("/proc/self/ns/net")
	noError(t, err)
	for name, c := range map[string]struct {
		i           Impairment
		inNamespace bool
	}{
		"a limit": {Impairment{Limit: 1_000}, false},
		"work":    {Impairment{Work: time.Millisecond}, true},
	} {
		r := newRig(t, c.i)
		deviceNamespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", r.device.command.Process.Pid))
		noError(t, err)
		if inside := deviceNamespace != ours; inside != c.inNamespace {
			t.Errorf("%s: the process is in %s and this one in %s", name, deviceNamespace, ours)
		}
	}
}
