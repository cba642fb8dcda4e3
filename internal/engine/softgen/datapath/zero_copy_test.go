package datapath

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringCard plays a network card behind a socket's rings. On each kick it begins this many frames of the transmit
// ring, and completes this many of the frames that it has begun.
type ringCard struct {
	transmitter       *xdpTransmitter
	begins, completes int
	errno             unix.Errno
	working, sent     []uint64
	instant           time.Duration
}

func newCard() *ringCard {
	descriptors, completions := new([xdpRingSize]unix.XDPDesc), new([completionRingSize]uint64)
	ringOf := func(entries unsafe.Pointer) ring {
		return ring{producer: new(uint32), consumer: new(uint32), entries: entries}
	}
	c := &ringCard{begins: 7, completes: 5}
	c.transmitter = &xdpTransmitter{iface: "card0", zero: true, ring: ringOf(unsafe.Pointer(descriptors)),
		pool: &xdpPool{completed: ringOf(unsafe.Pointer(completions))},
		kick: c.look, clock: func() time.Duration { return c.instant }}
	return c
}

func (c *ringCard) look() unix.Errno {
	c.instant += time.Millisecond
	t := c.transmitter
	descriptors, completions := (*[xdpRingSize]unix.XDPDesc)(t.ring.entries),
		(*[completionRingSize]uint64)(t.pool.completed.entries)
	for n := 0; n < c.begins && *t.ring.consumer != *t.ring.producer; n++ {
		c.working = append(c.working, descriptors[*t.ring.consumer%xdpRingSize].Addr)
		*t.ring.consumer++
	}
	for n := 0; n < c.completes && len(c.working) > 0; n++ {
		completions[*t.pool.completed.producer%completionRingSize] = c.working[0]
		*t.pool.completed.producer++
		c.sent, c.working = append(c.sent, c.working[0]), c.working[1:]
	}
	return c.errno
}

// batchOf is a batch of this many frames. Its second half repeats the first, as in a stream with a short period.
func batchOf(n int) (batch []piece) {
	for i := range n {
		batch = append(batch, piece{offset: uint64(64 * (i % max(n/2, 1))), length: 60})
	}
	return batch
}

func TestZeroCopyCountsCompletions(t *testing.T) {
	accepts := func(results []outcome) (n int) {
		for _, r := range results {
			if r == accepted {
				n++
			}
		}
		return n
	}
	t.Run("a batch is sent when the card has completed each frame", func(t *testing.T) {
		c := newCard()
		for round := range 40 { // the rings wrap around
			batch, results := batchOf(batchSize), make([]outcome, batchSize)
			initial := len(c.sent)
			if _, err := c.transmitter.send(batch, results); err != nil || accepts(results) != batchSize ||
				len(c.sent)-initial != batchSize || len(c.working) > 0 {
				t.Fatalf("round %d: %d frames counted, %d completed, %d under way: %v", round, accepts(results),
					len(c.sent)-initial, len(c.working), err)
			}
		}
	})
	t.Run("frames not begun when the interface goes down are refused", func(t *testing.T) {
		c := newCard()
		c.begins, c.errno = 10, unix.ENETDOWN
		results := make([]outcome, batchSize)
		if _, err := c.transmitter.send(batchOf(batchSize), results); err != nil || accepts(results) != 10 ||
			len(c.sent) != 10 {
			t.Errorf("%d frames counted, %d completed: %v", accepts(results), len(c.sent), err)
		}
		c.errno = 0
		if _, err := c.transmitter.send(batchOf(batchSize), results); err != nil || accepts(results) != batchSize ||
			len(c.sent) != 10+batchSize {
			t.Errorf("up again: %d frames counted, %d completed in all: %v", accepts(results), len(c.sent), err)
		}
	})
	t.Run("a card that completes nothing ends the run, and its frames don't count", func(t *testing.T) {
		c := newCard()
		c.completes = 0
		results := make([]outcome, batchSize)
		retries, err := c.transmitter.send(batchOf(batchSize), results)
		if err == nil || !strings.Contains(err.Error(), "card0: the card has not completed 64 of 64 frames") ||
			accepts(results) != 0 || retries == 0 || c.instant > 2*cardTimeout {
			t.Errorf("%d frames counted after %v and %d retries: %v", accepts(results), c.instant, retries, err)
		}
	})
	t.Run("an interface that is gone ends the run", func(t *testing.T) {
		c := newCard()
		c.errno = unix.ENXIO
		if _, err := c.transmitter.send(batchOf(batchSize), make([]outcome, batchSize)); err == nil {
			t.Error("it goes on")
		}
	})
	t.Run("frames are completed in any order", func(t *testing.T) {
		c := newCard()
		open, results := batchOf(6), []outcome{refused, refused, refused, refused, refused, refused}
		completions := (*[completionRingSize]uint64)(c.transmitter.pool.completed.entries)
		for _, address := range []uint64{128, 0, 7777, 0} {
			completions[*c.transmitter.pool.completed.producer] = address
			*c.transmitter.pool.completed.producer++
		}
		if n, want := c.transmitter.settle(open, results), []outcome{accepted, refused, accepted, accepted, refused,
			refused}; n != 3 || !slices.Equal(results, want) {
			t.Errorf("%d settled: %v, want %v", n, results, want)
		}
	})
}

func TestZeroCopyFallsBack(t *testing.T) {
	for want, o := range map[string]Options{
		"sends by AF_XDP (no zero copy: operation not supported), receives by eBPF":         {},
		"sends by AF_XDP (no zero copy: two threads would share a queue), receives by eBPF": {Cores: 2},
	} {
		o.Path = PathZeroCopy
		a, b := cable(t, o, Options{})
		if got := a.Info().Path; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
		noError(t, a.Start(runTo(b, 1, burst(500, 50_000, frame(60)))))
		finish(t, a)
		noError(t, a.Stop())
		eventually(t, "all arrive", func() bool { return b.Counters().Received.Packets == 500 })
	}
}
