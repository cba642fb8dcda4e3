//go:build full

package burstiness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// unit is a stream's rate at factor 1, in packets/s: factors are rates in kpps.
const unit = 1000

// liveSender sends live frames over a cable, at a rate in kpps, in batches of a given size (0: the default), to a recorder with room for a given number of frames.
func liveSender(t *testing.T, kpps float64, batch, room int) (*Recorder, datapath.Port) {
	t.Helper()
	request, err := machine.KeepAwake() // as linerate run does
	must(t, err)
	t.Cleanup(func() { must(t, request.Close()) })
	c := newCable(t)
	r := c.record(t, room) // with it the far end takes what XDP sends
	var port datapath.Port
	must(t, c.ns.Do(func() (err error) {
		port, err = datapath.Open(datapath.Options{Interface: "near", Path: datapath.PathLive, Batch: batch})
		return err
	}))
	t.Cleanup(func() { must(t, port.Close()) })
	must(t, port.Start(runOf(kpps)))
	if path := port.Info().Path; !strings.HasPrefix(path, "sends by live frames") {
		t.Fatal(path)
	}
	return r, port
}

// runOf sends so many kpps until it is stopped.
func runOf(kpps float64) datapath.Run {
	s := stream.Stream{Enabled: true, SelfStart: true, NextStreamID: -1}
	s.Mode.Type, s.Mode.Rate = "continuous", stream.Rate{Type: "pps", Value: unit}
	s.Packet.Binary = make([]byte, 60)
	return datapath.Run{Streams: []datapath.RunStream{{ID: 1, Stream: s}}, Factor: kpps}
}

// TestLiveFramesEnd: a stop takes milliseconds, no frame leaves after it, and then the sender costs nothing.
func TestLiveFramesEnd(t *testing.T) {
	const quick, idle = 20 * time.Millisecond, 500 * time.Millisecond
	_, port := liveSender(t, 100, 0, 1)
	slow := 0
	for n := range 10 {
		if n > 0 {
			must(t, port.Start(runOf(100)))
		}
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		must(t, port.Stop())
		took := time.Since(began)
		sent, busy := port.Counters().Sent, processTime(t)
		time.Sleep(idle)
		t.Logf("stopped within %v, and used %v of %v after that", took, processTime(t)-busy, idle)
		if took > quick {
			slow++
		}
		if after := port.Counters().Sent; after != sent {
			t.Errorf("%v left after the stop", after.Sub(sent))
		}
		if used := processTime(t) - busy; used > idle/20 {
			t.Errorf("a sender at rest used %v of %v", used, idle)
		}
	}
	if slow > 1 { // the host of a virtual machine may have had the processor once
		t.Errorf("%d of 10 stops took more than %v", slow, quick)
	}
}

// processTime is what this process has used.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var ts unix.Timespec
	must(t, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}

// TestLiveFramesComeEvenly: whatever held the sender up but the host of a virtual machine, a receiver that is 1 % faster than the load needs a queue of few frames, also once the rate has changed.
func TestLiveFramesComeEvenly(t *testing.T) {
	const most = 64
	for _, c := range []struct {
		began, kpps    float64
		batch, typical int
	}{{100, 100, 0, 16}, {700, 700, 0, 16}, {3000, 100, 0, 16}, {20, 700, 0, 16}, {100, 100, 1, 4}} {
		t.Run(fmt.Sprintf("%v kpps, begun with %v, batch %d", c.kpps, c.began, c.batch), func(t *testing.T) {
			r, port := liveSender(t, c.began, c.batch, 8<<20)
			must(t, port.SetFactor(c.kpps))
			time.Sleep(200 * time.Millisecond) // the queue of what had been sent before is empty then
			stop := WatchStolen(t.Context())
			r.Begin(monotonic())
			time.Sleep(4 * time.Second)
			arrivals := r.Arrivals()
			stolen, err := stop()
			must(t, err)
			v := Judge(arrivals, c.kpps*unit, stolen)
			t.Logf("%d frames in %d stretches of %v, and %d in which the host took something: queues of %d, %d and %d", v.Frames, v.Stretches, Stretch, v.Stolen, v.Half, v.Typical, v.Longest)
			if v.Stretches < 100 {
				t.Skip("the host took the processors for most of the time")
			}
			if v.Typical > c.typical || v.Longest > most {
				t.Errorf("a queue of %d frames in 99.9 %% of all stretches, and of %d in all: want %d and %d", v.Typical, v.Longest, c.typical, most)
			}
		})
	}
}

// TestLiveFramesKeepTheirRate: by the program's own counters seconds are within 0.1 %, but for a stall's and the one after it, and none is off by more than 1 %, but for those in which the host took a processor.
func TestLiveFramesKeepTheirRate(t *testing.T) {
	for _, kpps := range []float64{20, 100, 500} {
		t.Run(fmt.Sprintf("%v kpps", kpps), func(t *testing.T) {
			_, port := liveSender(t, kpps, 0, 1)
			const seconds = 10
			ours, near := 0, 0
			time.Sleep(100 * time.Millisecond) // what setting up the call had held up is made good for
			before, taken := port.Counters(), stolen(t)
			for range seconds {
				time.Sleep(time.Second)
				now, took := port.Counters(), stolen(t)
				off := float64(now.Sent.Packets-before.Sent.Packets)/(now.ReadAt-before.ReadAt).Seconds()/kpps/unit - 1
				t.Logf("%+.4f %%, %d given up, the host took %v", 100*off, now.Behind-before.Behind, took-taken)
				if took == taken {
					if ours++; max(off, -off) <= 0.001 {
						near++
					}
					if max(off, -off) > 0.01 {
						t.Errorf("a second was off by %+.2f %%", 100*off)
					}
				}
				before, taken = now, took
			}
			if near < ours-2 { // what a stall holds up is made good for in the next second
				t.Errorf("%d of %d seconds were within 0.1 %%", near, ours)
			}
		})
	}
}

// stolen is what the host took so far.
func stolen(t *testing.T) (sum time.Duration) {
	t.Helper()
	all, err := machine.AllProcessors()
	must(t, err)
	for _, p := range all {
		sum += p.Stolen
	}
	return sum
}
