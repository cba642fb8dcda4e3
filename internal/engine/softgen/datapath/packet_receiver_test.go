package datapath

import (
	"testing"
	"time"
)

// stuck is a sink that takes a frame and returns when it is released.
type stuck struct{ free chan struct{} }

func (s stuck) frame(time.Duration, []byte)         { <-s.free }
func (s stuck) stamped(time.Duration, stamp, int64) {}

func TestReceiveRing(t *testing.T) {
	t.Run("frames without room in the ring are missed, and not received", func(t *testing.T) {
		a, b := cable(t, Options{Plain: true}, Options{Plain: true})
		s := stuck{make(chan struct{})}
		r, err := openPacketReceiver("east", b.(*port).index, 2*ringBlock, s)
		noError(t, err)
		defer func() { noError(t, r.close()) }()
		noError(t, r.selectFrames(frameSelection{promiscuous: true, passAll: true}))
		noError(t, a.Start(runTo(b, 1, burst(5000, 100_000, frame(60)))))
		finish(t, a)
		close(s.free)
		eventually(t, "all frames accounted for", func() bool {
			reading := r.mark()()
			return reading.received.Packets+reading.missed == 5000 && reading.missed > 1000
		})
	})
	t.Run("frames that aren't read in time are missed, once and for good", func(t *testing.T) {
		a, b := cable(t, Options{Plain: true}, Options{Plain: true})
		s := stuck{make(chan struct{})}
		r, err := openPacketReceiver("east", b.(*port).index, 0, s)
		noError(t, err)
		defer func() { noError(t, r.close()) }()
		noError(t, r.selectFrames(frameSelection{promiscuous: true, passAll: true}))
		noError(t, a.Start(runTo(b, 1, burst(50, 100_000, frame(60)))))
		finish(t, a)
		eventually(t, "all frames missed", func() bool {
			reading := r.mark()()
			return reading.received.Packets == 0 && reading.missed == 50
		})
		close(s.free)
		noError(t, a.Start(runTo(b, 1, burst(30, 100_000, frame(60)))))
		finish(t, a)
		eventually(t, "the next frames accounted for", func() bool {
			reading := r.mark()()
			return reading.received.Packets+reading.missed == 80 && reading.missed >= 50
		})
	})
}
