package datapath

import (
	"testing"
	"time"
)

// stuck is a sink that takes a frame and doesn't come back until it is let go.
type stuck struct{ free chan struct{} }

func (s stuck) frame(time.Duration, []byte)         { <-s.free }
func (s stuck) stamped(time.Duration, stamp, int64) {}

func TestReceiveRing(t *testing.T) {
	t.Run("what a full ring has no room for is missed, and not received", func(t *testing.T) {
		a, b := cable(t, Options{Plain: true}, Options{Plain: true})
		s := stuck{make(chan struct{})}
		r, err := openPacketReceiver("east", b.(*port).index, 2*ringBlock, s)
		must(t, err)
		defer func() { must(t, r.close()) }()
		must(t, r.look(wanted{promiscuous: true, all: true}))
		must(t, a.Start(Run{Streams: streams(addressed(burst(5000, 100_000, frame(60)))), Factor: 1, NextHop: macOf(b)}))
		finish(t, a)
		close(s.free)
		eventually(t, "all frames accounted for", func() bool {
			now := r.mark()()
			return now.received.Packets+now.missed == 5000 && now.missed > 1000
		})
	})
	t.Run("what nobody has looked at in time is missed, once and for good", func(t *testing.T) {
		a, b := cable(t, Options{Plain: true}, Options{Plain: true})
		s := stuck{make(chan struct{})}
		r, err := openPacketReceiver("east", b.(*port).index, 0, s)
		must(t, err)
		defer func() { must(t, r.close()) }()
		must(t, r.look(wanted{promiscuous: true, all: true}))
		must(t, a.Start(Run{Streams: streams(addressed(burst(50, 100_000, frame(60)))), Factor: 1, NextHop: macOf(b)}))
		finish(t, a)
		eventually(t, "all frames missed", func() bool {
			now := r.mark()()
			return now.received.Packets == 0 && now.missed == 50
		})
		close(s.free)
		must(t, a.Start(Run{Streams: streams(addressed(burst(30, 100_000, frame(60)))), Factor: 1, NextHop: macOf(b)}))
		finish(t, a)
		eventually(t, "the next frames accounted for", func() bool {
			now := r.mark()()
			return now.received.Packets+now.missed == 80 && now.missed >= 50
		})
	})
}
