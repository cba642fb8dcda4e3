package datapath

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sync/errgroup"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// TestFollowing checks how sequences are followed.
func TestFollowing(t *testing.T) {
	span := func(first, end uint32) (sequences []uint32) {
		for s := first; s != end; s++ {
			sequences = append(sequences, s)
		}
		return sequences
	}
	join := func(parts ...[]uint32) (joined []uint32) {
		for _, p := range parts {
			joined = append(joined, p...)
		}
		return joined
	}
	for name, c := range map[string]struct {
		sequences []uint32
		want      followed
	}{
		"in order":                   {span(0, 5000), followed{}},
		"a gap":                      {join(span(0, 10), span(13, 20)), followed{Lost: 3}},
		"the beginning is missing":   {span(7, 20), followed{Lost: 7}},
		"two change places":          {[]uint32{0, 2, 1, 3}, followed{Reordered: 1}},
		"one comes twice in a row":   {[]uint32{0, 1, 1, 2}, followed{Duplicates: 1}},
		"one comes again much later": {join(span(0, 900), span(100, 101)), followed{Duplicates: 1}},
		"a late one comes twice":     {[]uint32{0, 2, 1, 1, 3}, followed{Reordered: 1, Duplicates: 1}},
		"a lost one is not a duplicate": {join(span(0, 100), span(101, 900), span(100, 101)),
			followed{Reordered: 1}},
		"as late as can be known": {join(span(0, 63), span(64, 1024), span(63, 64)), followed{Reordered: 1}},
		"too late to know": {join(span(0, 63), span(64, 1025), span(63, 64)),
			followed{Lost: 1, Stale: 1}},
		"a gap longer than the window": {join(span(0, 10), span(5000, 5010), span(4999, 5000), span(5, 6)),
			followed{Lost: 4989, Reordered: 1, Stale: 1}},
		"the sender began anew, far ahead": {join(span(0, 10), span(200_000, 200_010)), followed{TooHigh: 1}},
		"the sender began anew, far behind": {join(span(0, 10), span(90_000, 90_010), span(180_000, 180_010),
			span(0, 10)), followed{Lost: 179_980, TooLow: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var f followed
			for _, s := range c.sequences {
				f.record(stamp{generation: 1, sequence: s}, 64, time.Microsecond)
			}
			got := followed{Lost: f.Lost, Duplicates: f.Duplicates, Reordered: f.Reordered, Stale: f.Stale,
				TooHigh: f.TooHigh, TooLow: f.TooLow}
			if got != c.want || f.Received != uint64(len(c.sequences)) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestFollowingIsExact loses, repeats and delays frames at random within the window, also across the end of the
// sequences' range. The counts must be exact.
func TestFollowingIsExact(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		arrivals, want := disturbed(r, 5000)
		var f followed
		first := uint32(seed)*100 - 3000 // before and after the end of the range
		f.Run, f.Next = runKnown|1, first
		for _, s := range arrivals {
			f.record(stamp{generation: 1, sequence: first + s}, 64, 0)
		}
		got := followed{Lost: f.Lost, Duplicates: f.Duplicates, Reordered: f.Reordered}
		if got != want || f.Stale+f.TooHigh+f.TooLow != 0 {
			t.Fatalf("seed %d: %+v, want %+v", seed, f, want)
		}
	}
}

// disturbed returns sequences from 0 on in the order in which they arrive. The last one arrives last, so that
// all missing ones are known.
func disturbed(r *rand.Rand, n uint32) (arrivals []uint32, want followed) {
	type due struct {
		position int
		sequence uint32
	}
	var delayed []due
	highest, started := uint32(0), false
	received := map[uint32]bool{}
	arrive := func(s uint32) {
		switch {
		case received[s]:
			want.Duplicates++
		case started && s < highest:
			want.Reordered++
		default:
			highest, started = s, true
		}
		received[s] = true
		arrivals = append(arrivals, s)
	}
	for s := range n {
		switch p := r.IntN(100); {
		case s == n-1:
		case p < 3:
			continue
		case p < 6:
			delayed = append(delayed, due{int(s) + 1 + r.IntN(900), s})
			continue
		case p < 9:
			delayed = append(delayed, due{int(s) + r.IntN(900), s})
		}
		for i := 0; i < len(delayed); i++ {
			if delayed[i].position <= int(s) || s == n-1 {
				if delayed[i].sequence+900 >= s {
					arrive(delayed[i].sequence)
				}
				delayed = append(delayed[:i], delayed[i+1:]...)
				i--
			}
		}
		arrive(s)
	}
	want.Lost = uint64(n) - uint64(len(received))
	return arrivals, want
}

// TestTheProgramFollowsAsGoDoes gives both the same frames of several streams, with sequences near and far,
// runs that begin, and times that no clock has.
func TestTheProgramFollowsAsGoDoes(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r, random := loaded(t, h, true), rand.New(rand.NewPCG(5, 6))
			model := map[uint32]*followed{}
			for i := range 30_000 {
				id := uint32(random.IntN(3)) * 511
				if model[id] == nil {
					model[id] = &followed{}
				}
				s := stamp{generation: byte(i / 10_000), id: uint16(id), sequence: nextSequence(random, model[id].Next),
					sent: Now() + time.Hour}
				f := stamped(s, markLatency)
				r.takes(t, f)
				model[id].record(s, wireLength(len(f)), 0) // sent in an hour, so the latency is 0
			}
			for id, want := range model {
				if got := followedOf(t, r, id); got != *want {
					t.Errorf("id %d:\n%+v, want\n%+v", id, got, *want)
				}
			}
			flows := map[uint32]uint64{}
			r.flows(func(id uint32, received units.Traffic) { flows[id] = uint64(received.Packets) })
			for id, want := range model {
				if flows[id] != want.Received {
					t.Errorf("flow %d received %d, want %d", id, flows[id], want.Received)
				}
			}
		})
	}
}

// nextSequence is mostly the next sequence, and now and then a disturbed one.
func nextSequence(r *rand.Rand, next uint32) uint32 {
	switch r.IntN(20) {
	case 0:
		return next + r.Uint32N(200)
	case 1, 2, 3:
		return next - 1 - r.Uint32N(100)
	case 4:
		return next - 1 - r.Uint32N(1200)
	case 5:
		return next + r.Uint32N(3000)
	case 6:
		if r.IntN(10) == 0 {
			return r.Uint32()
		}
	}
	return next
}

// stamped is a frame with a mark and a stamp.
func stamped(s stamp, mark uint16) []byte {
	f := frame(80)
	f[15] |= 1
	rewriteID(f, 14, mark)
	s.write(f, 14)
	return f
}

func followedOf(t *testing.T, r *kernelReceiver, id uint32) (f followed) {
	t.Helper()
	noError(t, r.maps.followed.LookupWithFlags(id, &f, ebpf.LookupLock))
	f.Lock.Val = 0
	return f
}

// TestProcessorsFollowAStreamTogether has threads give the program frames of one stream at once, alternately. A
// frame that a thread hasn't given yet looks lost until then, and no frame is counted twice or forgotten.
func TestProcessorsFollowAStreamTogether(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			r.reading.Go(r.read)
			r.takes(t, stamped(stamp{generation: 1, id: 4, sent: Now()}, markLatency))
			eventually(t, "the stream has buckets", func() bool { return r.stampFollower.transits()[4].Frames() == 1 })
			const threads, perThread = 4, 5000
			var group errgroup.Group
			for thread := range uint32(threads) {
				group.Go(func() error {
					for i := range uint32(perThread) {
						if _, _, err := r.program.Test(stamped(stamp{generation: 1, id: 4, sequence: 1 + i*threads +
							thread, sent: Now()}, markLatency)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			noError(t, group.Wait())
			f := followedOf(t, r, 4)
			if f.Received != 1+threads*perThread || f.Lost != f.Stale || f.Duplicates+f.TooHigh+f.TooLow != 0 ||
				f.Next != 1+threads*perThread {
				t.Errorf("%+v", f)
			}
			if got := r.stampFollower.transits()[4].Frames(); got != 1+threads*perThread {
				t.Errorf("%d frames in buckets", got)
			}
		})
	}
}

// TestTheProgramsTimes sends stamps of known age through the program. Each latency must be the age, to within
// the duration of the run itself.
func TestTheProgramsTimes(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			r.reading.Go(r.read)
			random := rand.New(rand.NewPCG(7, 8))
			var want, loose transit.Histogram
			for i := range 3000 {
				age := time.Duration(random.Uint64N(1 << (10 + random.UintN(26))))
				start := Now()
				r.takes(t, stamped(stamp{generation: 1, id: 9, sequence: uint32(i), sent: start - age}, markLatency))
				want.Record(age)
				loose.Record(age + Now() - start)
				if i == 0 {
					eventually(t, "the stream has buckets",
						func() bool { return r.stampFollower.transits()[9].Frames() == 1 })
				}
			}
			h := r.stampFollower.transits()[9]
			for _, share := range []transit.Share{1, 100_000, transit.P50, transit.P90, transit.P99, transit.Whole} {
				low, _ := want.Percentile(share)
				high, _ := loose.Percentile(share)
				if got, _ := h.Percentile(share); got < low || got > high {
					t.Errorf("%v: %v, want %v to %v", share, got, low, high)
				}
			}
			l := r.stampFollower.latency()[9]
			if l.Received != 3000 || h.Frames() != 3000 || l.Dropped+l.OutOfOrder+l.Duplicate+l.Stale != 0 ||
				l.Min > l.Average || l.Average > l.Max || l.Jitter == 0 {
				t.Errorf("%d in buckets, %+v", h.Frames(), l)
			}
			noError(t, r.stampFollower.forget(9))
			if l, h := r.stampFollower.latency(), r.stampFollower.transits(); len(l)+len(h) != 0 {
				t.Errorf("forgotten, and still %+v %+v", l, h)
			}
			r.takes(t, stamped(stamp{generation: 2, id: 9, sent: Now()}, markLatency))
			eventually(t, "it begins anew", func() bool { return r.stampFollower.latency()[9].Received == 1 })
		})
	}
}

// TestAMarkedFrameIsFollowedByAStampOfItsOwn tells a flow's own stamps from bytes that look like one.
func TestAMarkedFrameIsFollowedByAStampOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		stamp stamp
		want  uint64
	}{
		"its own stamp":              {stamp{generation: 1, id: 5, sent: Now()}, 1},
		"another's id":               {stamp{generation: 1, id: 6, sent: Now()}, 0},
		"a time to come":             {stamp{generation: 1, id: 5, sent: Now() + time.Hour}, 0},
		"longer ago than buckets go": {stamp{generation: 1, id: 5, sent: Now() - transit.Limit}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, xdpHook(), true)
			r.takes(t, stamped(c.stamp, markBase+5))
			if got := followedOf(t, r, 5).Received; got != c.want {
				t.Errorf("%d followed, want %d", got, c.want)
			}
			r.flows(func(id uint32, received units.Traffic) {
				if id != 5 || received.Packets != 1 {
					t.Errorf("flow %d received %+v", id, received)
				}
			})
		})
	}
	t.Run("a marked frame without a stamp isn't followed", func(t *testing.T) {
		r := loaded(t, xdpHook(), true)
		f := stamped(stamp{id: 5, sent: Now()}, markBase+5)
		binary.LittleEndian.PutUint32(f[len(f)-stampSize:], 0)
		r.takes(t, f)
		if got := followedOf(t, r, 5).Received; got != 0 {
			t.Errorf("%d followed", got)
		}
	})
}

// TestStampsWithoutRoomInTheRingAreCounted sends more stamps of a stream without buckets than the ring has room
// for, while nobody reads the ring. The number of frames outside the buckets must be exact.
func TestStampsWithoutRoomInTheRingAreCounted(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			const frames = 50_000
			_, err := r.program.Run(&ebpf.RunOptions{Data: stamped(stamp{generation: 1, id: 4, sent: Now()},
				markLatency), Repeat: frames})
			noError(t, err)
			r.reading.Go(r.read)
			f := followedOf(t, r, 4)
			if f.Received != frames || f.Uncounted == 0 {
				t.Fatalf("%+v", f)
			}
			eventually(t, "all others are in buckets",
				func() bool { return r.stampFollower.transits()[4].Frames() == frames-f.Uncounted })
			if l := r.stampFollower.latency()[4]; l.Uncounted != int64(f.Uncounted) {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestMergedStampsAreNoLoss sends a buffer of five stamped frames, and the sixth frame alone.
func TestMergedStampsAreNoLoss(t *testing.T) {
	a, b := cable(t, Options{}, Options{Follow: true})
	noError(t, b.SetPromiscuous(true))
	const size = 100
	whole := frameUDP(5 * size)
	whole[15] |= 1
	rewriteID(whole, 14, markLatency)
	for i := range 5 {
		stamp{generation: 1, id: 3, sequence: uint32(i), sent: Now()}.write(whole[:42+(i+1)*size], 14)
	}
	handOn(t, "west", gsoUDP, size, 42, whole)
	noError(t, a.Inject([][]byte{stamped(stamp{generation: 1, id: 3, sequence: 5, sent: Now()}, markLatency)}, 0))
	eventually(t, "the sixth is followed", func() bool { return b.Latency()[3].Received == 1 })
	if l := b.Latency()[3]; l.Merged != 5 || l.Dropped != 0 {
		t.Errorf("%+v", l)
	}
	if got := b.Flows()[3].Received.Packets; got != 6 {
		t.Errorf("flow 3 received %d", got)
	}
}

// TestStampedFramesAreFollowedInTheKernel plays a latency stream over a cable.
func TestStampedFramesAreFollowedInTheKernel(t *testing.T) {
	for name, o := range map[string]Options{"at traffic control": {Follow: true},
		"at XDP": {Follow: true, Receive: ReceiveXDP}} {
		t.Run(name, func(t *testing.T) {
			a, b := cable(t, Options{}, o)
			s := addressed(burst(20_000, 50_000, frame(100)))
			s.FlowStats = stream.Flow{Enabled: true, StreamID: 12, RuleType: "latency"}
			noError(t, a.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(b)}))
			finish(t, a)
			eventually(t, "all are followed", func() bool { return b.Latency()[12].Received == 20_000 })
			l, h := b.Latency()[12], b.Transits()[12]
			if h.Frames() != 20_000 || l.Dropped+l.OutOfOrder+l.Duplicate != 0 || l.Min <= 0 || l.Max < l.Min {
				t.Errorf("%+v; %v", l, h.Read(0))
			}
			if got := b.Flows()[12].Received.Packets; got != 20_000 {
				t.Errorf("flow 12 received %d", got)
			}
			b.ForgetFlows([]uint32{12})
			if l, f := b.Latency(), b.Flows(); len(l) != 0 || f[12].Received.Packets != 0 {
				t.Errorf("forgotten, and still %+v, %+v", l, f)
			}
		})
	}
}
