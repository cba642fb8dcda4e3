package datapath

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
)

func TestThreadsThatProcessorsAllow(t *testing.T) {
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 2, 9: 8} {
		if got := maxLiveThreads(processors); got != want {
			t.Errorf("%d threads on %d processors, want %d", got, processors, want)
		}
	}
}

// TestTurns has a thread make frames of several ports, each of which always has a frame due. The kernel hands
// the frames back.
func TestTurns(t *testing.T) {
	always := Run{Streams: streams(continuous(1000, frame(60))), Factor: 1}
	a, b, c := hostileSender(t, always, 1), hostileSender(t, always, 1), hostileSender(t, always, 1)
	thread := a.parts[0].thread
	framesOf := func(runs int) (perPort [3]int) {
		for i, l := range []*liveRun{a, b, c} {
			perPort[i] = -countMadeFrames(l)
		}
		for range runs {
			_, err := thread.entry.Run(&ebpf.RunOptions{Data: make([]byte, 60)})
			noError(t, err)
		}
		for i, l := range []*liveRun{a, b, c} {
			perPort[i] += countMadeFrames(l)
		}
		return perPort
	}
	for _, step := range []struct {
		name   string
		change func()
		want   [3]int
	}{
		{"three ports send in turns", func() {}, [3]int{100, 100, 100}},
		{"one that has nothing due leaves its turns to the others", func() { b.start(Now() + time.Hour) },
			[3]int{150, 0, 150}},
		{"one that has stopped, too", func() {
			noError(t, errors.Join(liveThreads.leave(a.parts[0]), a.parts[0].close()))
			a.parts = nil
		}, [3]int{0, 0, 300}},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.change()
			got := framesOf(300)
			for i, want := range step.want {
				// one run is lost when the port whose turn it was has stopped
				if difference := got[i] - want; max(difference, -difference) > 1 {
					t.Fatalf("%d frames, want %d", got, step.want)
				}
			}
		})
	}
}

// countMadeFrames is how many frames a run's programs have counted.
func countMadeFrames(l *liveRun) (n int) {
	for _, part := range l.parts {
		for i := range l.tracks {
			n += int(atomic.LoadUint64(&part.memory.Streams[i].Packets))
		}
	}
	return n
}

// onlyPart is the part of a port's run on its only thread.
func onlyPart(p Port) *livePart { return p.(*port).live.Load().parts[0] }

func TestPortsThatShareAThread(t *testing.T) {
	for name, c := range map[string]struct {
		cpus    int
		options Options
		shared  bool
	}{
		"on two processors": {2, Options{}, true},
		"on three":          {3, Options{}, false},
		"on two, where a thread each is asked for": {2, Options{Cores: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := liveEnds(t, c.options, c.cpus)
			noError(t, a.Start(runTo(b, 1, continuous(1000, frame(60)))))
			noError(t, b.Start(runTo(a, 1, continuous(1000, frame(1514)))))
			if got := onlyPart(a).thread == onlyPart(b).thread; got != c.shared {
				t.Errorf("they share a thread: %v, want %v", got, c.shared)
			}
			noError(t, a.Stop())
			noError(t, b.Stop())
			if len(liveThreads.threads) != 0 {
				t.Errorf("%d threads are left", len(liveThreads.threads))
			}
		})
	}
}

// TestLivePortsOfOneThread: an order to one port changes no frame of the other.
func TestLivePortsOfOneThread(t *testing.T) {
	a, b := liveEnds(t, Options{}, 2)
	small, large := runTo(b, 2, continuous(1000, frame(60))),
		runTo(a, 3, continuous(1000, frame(1514)))
	noError(t, a.Start(small))
	carried(t, a)
	keepsLive(t, a, 2000, 2)
	noError(t, b.Start(large))
	carried(t, b)
	thread := onlyPart(a).thread
	if onlyPart(b).thread != thread {
		t.Fatal("they have threads of their own")
	}
	keepsLive(t, b, 3000, 3)
	keepsLive(t, a, 20_000, 20)
	keepsLive(t, b, 3000, 3)
	noError(t, a.Pause())
	sent := a.Counters().Sent
	keepsLive(t, b, 5000, 5)
	if got := a.Counters().Sent; got != sent {
		t.Errorf("%v sent in a pause", got.Sub(sent))
	}
	noError(t, a.Resume())
	keepsLive(t, a, 4000, 4)
	for range 2 {
		noError(t, a.Stop())
		if successor := atomic.LoadUint64(&onlyPart(b).memory.NextSlot); successor != 0 {
			t.Errorf("the thread still asks slot %d after the only port that sends", successor)
		}
		sent := a.Counters().Sent
		arrived(t, b, Counters{}, sent)
		keepsLive(t, b, 3000, 3)
		if got := a.Counters().Sent; got != sent {
			t.Errorf("%v sent after the stop", got.Sub(sent))
		}
		noError(t, a.Start(small))
		carried(t, a)
		keepsLive(t, a, 2000, 2)
	}
	if onlyPart(a).thread != thread || onlyPart(b).thread != thread {
		t.Error("the thread is another one than at first")
	}
	noError(t, a.Stop())
	noError(t, b.Stop())
	arrived(t, b, Counters{}, a.Counters().Sent)
	arrived(t, a, Counters{}, b.Counters().Sent)
	if len(liveThreads.threads) != 0 {
		t.Error("the thread goes on")
	}
}
