package measure_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A window of 1.5 s in slices of 100 µs, in each of which a thread has a processor or waits for one.
const (
	slice  = 100 * time.Microsecond
	slices = int(1500 * time.Millisecond / slice)
)

// waits says of each slice whether a thread waits in it.
type waits []bool

func (w waits) length() (sum time.Duration) {
	for _, waiting := range w {
		if waiting {
			sum += slice
		}
	}
	return sum
}

// drawWaits are waits at random moments, of up to 50 ms each, and of so much of the window altogether, or more
// where some of them are one.
func drawWaits(rnd *rand.Rand, share float64) waits {
	w := make(waits, slices)
	for left := int(share * float64(slices)); left > 0; {
		long := min(left, 1+rnd.IntN(500))
		begin := rnd.IntN(slices - long + 1)
		for i := range long {
			w[begin+i] = true
		}
		left -= long
	}
	return w
}

// apart are these waits, but for the slices in which the other thread waits, too.
func (w waits) apart(from waits) waits {
	out := make(waits, slices)
	for i := range w {
		out[i] = w[i] && !from[i]
	}
	return out
}

// sender sends perSlice frames a slice, or is to send them, unless it waits.
type sender struct {
	perSlice int64
	// flood: it sends as fast as it can, and what it couldn't send it never sends. Else it makes good for at most
	// 25 ms, a 256th faster than asked, and after a wait atOnce slices' worth leaves at once.
	flood  bool
	atOnce int64
}

// sends is how many frames leave in each slice.
func (s sender) sends(w waits) (out []int64, all int64) {
	out = make([]int64, slices)
	owed := int64(0)
	for i := range out {
		switch {
		case w[i]:
			owed = min(owed+s.perSlice, 250*s.perSlice)
			continue
		case s.flood:
			out[i] = s.perSlice
		default:
			late := min(owed, s.perSlice/256)
			if i > 0 && w[i-1] {
				late = min(owed, max(late, s.atOnce*s.perSlice))
			}
			out[i], owed = s.perSlice+late, owed-late
		}
		all += out[i]
	}
	return out, all
}

// lost is how many frames a device loses that carries so many a slice, has a queue for so many, and carries nothing
// while it waits.
func lost(came []int64, w waits, carries, queue int64) (frames int64) {
	queued := int64(0)
	for i, n := range came {
		queued += n
		frames, queued = frames+max(0, queued-queue), min(queued, queue)
		if !w[i] {
			queued -= min(queued, carries)
		}
	}
	return frames
}

// load is what a port sent in a window, was asked for, and for how long it waited.
type load struct {
	sent   int64
	asked  int64 // packets per second
	waited time.Duration
}

// bunched is a direction whose ports sent so, while the device waited.
func bunched(device time.Duration, ports ...load) report.Direction {
	setup, span := counted{}.prepare()
	setup.Directions[0].Pairs = nil
	for n, l := range ports {
		out, in := 2*n, 2*n+1
		setup.Directions[0].Pairs = append(setup.Directions[0].Pairs, measure.Pair{Send: out, Receive: in})
		span.Intended[0] += units.PacketRate(l.asked) * units.PacketPerSecond
		for i, r := range span.Readings[0] {
			part := func(of int64) int64 { return of * int64(i) / int64(len(span.Readings[0])-1) }
			traffic := units.Traffic{Packets: part(l.sent), Bytes: 64 * part(l.sent)}
			r.Ports[out] = engine.PortCounters{LinkUp: true, Paced: true, Sent: traffic, Waited: time.Hour + time.Duration(part(int64(l.waited)))}
			r.Ports[in] = engine.PortCounters{LinkUp: true, Received: traffic}
		}
	}
	span.Intended[0] -= 10 * kpps // of counted
	span.Disturbance = &report.Disturbance{Over: plan.Duration(1600 * time.Millisecond), Waited: plan.Duration(device)}
	return judged(setup, span).Directions[0]
}

// TestPropertyNoMoreFramesMeetADeviceThatWaits: whenever the senders of a direction wait and whenever the device
// does, no more frames come while the device waits than are told, nor does it lose more for that, however fast it
// is and however long its queue, as long as that holds what may leave at once.
func TestPropertyNoMoreFramesMeetADeviceThatWaits(t *testing.T) {
	tooLow, sharp := 0, 0
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		device := drawWaits(rnd, rnd.Float64()*rnd.Float64())
		sending, relation := drawWaits(rnd, rnd.Float64()*rnd.Float64()), rnd.IntN(6)
		switch relation {
		case 0:
			device = sending
		case 1, 2:
			device = device.apart(sending)
		}
		came, all, perSlice, atOnce := make([]int64, slices), int64(0), int64(0), int64(0)
		var ports, even []load
		for range 1 + rnd.IntN(3) {
			s := sender{perSlice: 256 * (1 + rnd.Int64N(4)), flood: rnd.IntN(2) == 0}
			l := load{asked: s.perSlice * int64(time.Second/slice), waited: sending.length()}
			switch {
			case s.flood:
				l.asked *= 20
			case rnd.IntN(2) == 0:
				s.atOnce = 3
			}
			var out []int64
			out, l.sent = s.sends(sending)
			for i, n := range out {
				came[i] += n
			}
			all, perSlice, atOnce = all+l.sent, perSlice+s.perSlice, max(atOnce, s.atOnce)
			ports, even = append(ports, l), append(even, load{sent: l.sent, asked: l.asked})
			if rnd.IntN(2) == 0 {
				sending = drawWaits(rnd, rnd.Float64()*rnd.Float64())
			}
		}
		met := int64(0)
		for i, n := range came {
			if device[i] {
				met += n
			}
		}
		bound, evenly := bunched(device.length(), ports...).DisturbedFrames, bunched(device.length(), even...).DisturbedFrames
		if bound > all || bound < evenly {
			t.Fatalf("seed %d: at most %d of %d frames met it, and %d of even senders", seed, bound, all, evenly)
		}
		if bound == 0 { // what any device has to hold
			continue
		}
		if atOnce == 0 && met > bound {
			t.Errorf("seed %d: %d of %d frames met a device that waited %s, but at most %d are told, of %+v", seed, met, all, device.length(), bound, ports)
		}
		carries, queue := 1+rnd.Int64N(3*perSlice), (2+atOnce)*perSlice+rnd.Int64N(1000*perSlice)
		if cost := lost(came, device, carries, queue) - lost(came, make(waits, slices), carries, queue); cost > bound {
			t.Errorf("seed %d: a device that carries %d a slice, with a queue of %d, lost %d of %d frames for waiting %s, but at most %d are told, of %+v", seed, carries, queue, cost, all, device.length(), bound, ports)
		}
		if met > evenly {
			tooLow++
		}
		if met*100 >= bound*99 {
			sharp++
		}
	}
	if tooLow < 100 || sharp < 100 {
		t.Errorf("more frames met the device than of even senders in %d cases, and nearly as many as are told in %d: little is shown", tooLow, sharp)
	}
}

// Of a sender that never waited the bound is what its frames are in the time that the device waited.
func TestPropertyAnEvenSendersFramesAreSharedOut(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 32))
		all, device := rnd.Int64N(1_000_000_000), time.Duration(rnd.Int64N(int64(2*time.Second)))
		want := int64(0)
		if device > 2*time.Millisecond {
			const window = int64(1500 * time.Millisecond)
			want = (all*min(int64(device), window) + window - 1) / window
		}
		if d := bunched(device, load{sent: all, asked: 10_000_000}); d.DisturbedFrames != want || d.SendersWaited != 0 {
			t.Errorf("of %d frames %d, with a sender that waited %s; want %d", all, d.DisturbedFrames, d.SendersWaited.Std(), want)
		}
	}
}

// In a window of 1.5 s the threads that carry frames waited 300 ms, and 15 000 frames were sent: by a sender that
// waited for a third of it in what remained.
func TestWhatADisturbanceMayHaveCostOfABunchedLoad(t *testing.T) {
	const itself = ", and what sends waited 500ms, so that its frames left in the time that remained: up to 4518 frames may have been lost for that"
	for name, c := range map[string]struct {
		asked     units.PacketRate
		paced     bool
		waited    time.Duration // the sender
		device    time.Duration
		lost      int64
		quality   report.Quality
		disturbed int64
		says      string
	}{
		"all that was lost came while they waited":               {200 * kpps, true, 500 * ms, 300 * ms, 4400, report.Invalid, 4518, itself},
		"more was lost than came meanwhile":                      {200 * kpps, true, 500 * ms, 300 * ms, 4600, report.Lossy, 4518, "4600 of 15000 frames did not come back"},
		"the sender caught up, as slowly as it always does":      {10 * kpps, true, 500 * ms, 300 * ms, 3100, report.Lossy, 3013, "3100 of 15000"},
		"the sender never waited":                                {200 * kpps, true, 0, 300 * ms, 3100, report.Lossy, 3000, "3100 of 15000"},
		"the sender waited for a moment":                         {200 * kpps, true, ms, 300 * ms, 3010, report.Invalid, 3015, "had for 48 %: up to 3015 frames"},
		"the sender waited all the time":                         {200 * kpps, true, 1500 * ms, 300 * ms, 15_000, report.Invalid, 15_000, "what sends waited 1.5s"},
		"the sender waited while the device never did":           {200 * kpps, true, 1400 * ms, 0, 100, report.Lossy, 0, "100 of 15000"},
		"more frames than any device has to hold":                {200 * kpps, true, 500 * ms, 1900 * time.Microsecond, 40, report.Invalid, 29, "up to 29 frames"},
		"what is in bursts is found by them, and not by a bound": {200 * kpps, false, 500 * ms, 300 * ms, 3100, report.Lossy, 3000, "3100 of 15000"},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := counted{sent: 15_000, returned: 15_000 - c.lost, intended: c.asked, change: func(readings []engine.Reading) {
				edit(readings, 0, func(p *engine.PortCounters) { p.Paced, p.Waited, p.Waiting = c.paced, time.Hour, ms/10 })
				edit(readings[2:], 0, func(p *engine.PortCounters) { p.Waited += max(0, c.waited-ms/10) })
				if c.waited == 0 {
					edit(readings[2:], 0, func(p *engine.PortCounters) { p.Waiting = 0 })
				}
			}}.prepare()
			span.Disturbance = &report.Disturbance{Over: plan.Duration(1600 * ms), Waited: plan.Duration(c.device),
				Waits:  []report.Wait{{Thread: "napi/east-12", ID: 12, Processor: 1, Waited: plan.Duration(c.device)}},
				Others: []report.Other{{Process: "sh", PID: 4711, Processor: 1, Ran: plan.Duration(770 * ms)}}}
			w := judged(setup, span)
			d := w.Directions[0]
			if d.Quality != c.quality || !strings.Contains(d.Reason, c.says) || d.DisturbedFrames != c.disturbed {
				t.Errorf("%s: %d frames, %s\nwant %s: %d, %s", d.Quality, d.DisturbedFrames, d.Reason, c.quality, c.disturbed, c.says)
			}
			if wanted := c.paced && (c.disturbed > 0 || d.UnderOffered()); (d.SendersWaited.Std() == c.waited) != (wanted || c.waited == 0) {
				t.Errorf("the sender waited %s, and %s stays", c.waited, d.SendersWaited.Std())
			}
			for i, again := range []report.Window{setup.Recount(w, span.Intended, measure.Goal{MaxLossRatio: perMille}), setup.Recount(w, nil, measure.Goal{MaxLossRatio: perMille})} {
				if got := again.Directions[0]; got.DisturbedFrames != c.disturbed || got.SendersWaited != d.SendersWaited || got.Quality != c.quality {
					t.Errorf("recounted, %d: %+v", i, got)
				}
			}
			w.Evidence = nil
			if got := setup.Recount(w, nil, measure.Goal{MaxLossRatio: perMille}).Directions[0]; got.DisturbedFrames != c.disturbed {
				t.Errorf("recounted without evidence: %+v", got)
			}
		})
	}
}
