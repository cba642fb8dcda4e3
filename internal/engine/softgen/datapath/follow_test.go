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

// TestFollowing says what following makes of sequences.
func TestFollowing(t *testing.T) {
	span := func(from, to uint32) (all []uint32) {
		for s := from; s != to; s++ {
			all = append(all, s)
		}
		return all
	}
	join := func(parts ...[]uint32) (all []uint32) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for name, c := range map[string]struct {
		sequences []uint32
		want      followed
	}{
		"in order":                          {span(0, 5000), followed{}},
		"a gap":                             {join(span(0, 10), span(13, 20)), followed{Lost: 3}},
		"the beginning is missing":          {span(7, 20), followed{Lost: 7}},
		"two change places":                 {[]uint32{0, 2, 1, 3}, followed{Reordered: 1}},
		"one comes twice in a row":          {[]uint32{0, 1, 1, 2}, followed{Duplicates: 1}},
		"one comes again much later":        {join(span(0, 900), span(100, 101)), followed{Duplicates: 1}},
		"a late one comes twice":            {[]uint32{0, 2, 1, 1, 3}, followed{Reordered: 1, Duplicates: 1}},
		"a lost one is not a duplicate":     {join(span(0, 100), span(101, 900), span(100, 101)), followed{Reordered: 1}},
		"as late as can be known":           {join(span(0, 63), span(64, 1024), span(63, 64)), followed{Reordered: 1}},
		"too late to know":                  {join(span(0, 63), span(64, 1025), span(63, 64)), followed{Lost: 1, Stale: 1}},
		"a gap longer than the window":      {join(span(0, 10), span(5000, 5010), span(4999, 5000), span(5, 6)), followed{Lost: 4989, Reordered: 1, Stale: 1}},
		"the sender began anew, far ahead":  {join(span(0, 10), span(200_000, 200_010)), followed{TooHigh: 1}},
		"the sender began anew, far behind": {join(span(0, 10), span(90_000, 90_010), span(180_000, 180_010), span(0, 10)), followed{Lost: 179_980, TooLow: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var f followed
			for _, s := range c.sequences {
				f.record(stamp{generation: 1, sequence: s}, 64, time.Microsecond)
			}
			got := followed{Lost: f.Lost, Duplicates: f.Duplicates, Reordered: f.Reordered, Stale: f.Stale, TooHigh: f.TooHigh, TooLow: f.TooLow}
			if got != c.want || f.Received != uint64(len(c.sequences)) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestFollowingIsExact loses, repeats and delays frames at random, within the window: what became of each is known to the frame, across the end of the sequences' range, too.
func TestFollowingIsExact(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		arrivals, want := disturbed(r, 5000)
		var f followed
		first := uint32(seed)*100 - 3000 // before the end of the range, and behind it
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

// disturbed are sequences from 0 on in the order in which they arrive. The last one arrives last, so that all that are missing are known to be.
func disturbed(r *rand.Rand, n uint32) (arrivals []uint32, want followed) {
	type due struct {
		at       int
		sequence uint32
	}
	var held []due
	highest, any := uint32(0), false
	seen := map[uint32]bool{}
	arrive := func(s uint32) {
		switch {
		case seen[s]:
			want.Duplicates++
		case any && s < highest:
			want.Reordered++
		default:
			highest, any = s, true
		}
		seen[s] = true
		arrivals = append(arrivals, s)
	}
	for s := range n {
		switch p := r.IntN(100); {
		case s == n-1:
		case p < 3:
			continue
		case p < 6:
			held = append(held, due{int(s) + 1 + r.IntN(900), s})
			continue
		case p < 9:
			held = append(held, due{int(s) + r.IntN(900), s})
		}
		for i := 0; i < len(held); i++ {
			if held[i].at <= int(s) || s == n-1 {
				if held[i].sequence+900 >= s {
					arrive(held[i].sequence)
				}
				held = append(held[:i], held[i+1:]...)
				i--
			}
		}
		arrive(s)
	}
	want.Lost = uint64(n) - uint64(len(seen))
	return arrivals, want
}

// TestTheProgramFollowsAsGoDoes gives both the same frames of several streams, with sequences near and far, runs that begin, and times that no clock has.
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
				s := stamp{generation: byte(i / 10_000), id: uint16(id), sequence: nextSequence(random, model[id].Next), at: Now() + time.Hour}
				f := stamped(s, markLatency)
				r.takes(t, f)
				model[id].record(s, wireLength(len(f)), 0) // sent in an hour: it took no time
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

// nextSequence is the next one mostly, and now and then one that something has happened to.
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
	must(t, r.maps.followed.LookupWithFlags(id, &f, ebpf.LookupLock))
	f.Lock.Val = 0
	return f
}

// TestProcessorsFollowAStreamTogether has threads give the program frames of one stream at once, every other one each: what one hasn't given yet looks lost until it does, and nothing is counted twice or forgotten.
func TestProcessorsFollowAStreamTogether(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			r.done.Go(r.read)
			r.takes(t, stamped(stamp{generation: 1, id: 4, at: Now()}, markLatency))
			eventually(t, "the stream has buckets", func() bool { return r.stamps.transits()[4].Frames() == 1 })
			const threads, each = 4, 5000
			var group errgroup.Group
			for thread := range uint32(threads) {
				group.Go(func() error {
					for i := range uint32(each) {
						if _, _, err := r.program.Test(stamped(stamp{generation: 1, id: 4, sequence: 1 + i*threads + thread, at: Now()}, markLatency)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			must(t, group.Wait())
			f := followedOf(t, r, 4)
			if f.Received != 1+threads*each || f.Lost != f.Stale || f.Duplicates+f.TooHigh+f.TooLow != 0 || f.Next != 1+threads*each {
				t.Errorf("%+v", f)
			}
			if got := r.stamps.transits()[4].Frames(); got != 1+threads*each {
				t.Errorf("%d frames in buckets", got)
			}
		})
	}
}

// TestTheProgramsTimes sends stamps of known age through the program: each is as old as it is, give or take how long the run itself takes.
func TestTheProgramsTimes(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			r.done.Go(r.read)
			random := rand.New(rand.NewPCG(7, 8))
			var want, loose transit.Histogram
			for i := range 3000 {
				age := time.Duration(random.Uint64N(1 << (10 + random.UintN(26))))
				before := Now()
				r.takes(t, stamped(stamp{generation: 1, id: 9, sequence: uint32(i), at: before - age}, markLatency))
				want.Record(age)
				loose.Record(age + Now() - before)
				if i == 0 {
					eventually(t, "the stream has buckets", func() bool { return r.stamps.transits()[9].Frames() == 1 })
				}
			}
			h := r.stamps.transits()[9]
			for _, share := range []transit.Share{1, 100_000, transit.P50, transit.P90, transit.P99, transit.Whole} {
				low, _ := want.Percentile(share)
				high, _ := loose.Percentile(share)
				if got, _ := h.Percentile(share); got < low || got > high {
					t.Errorf("%v: %v, want %v to %v", share, got, low, high)
				}
			}
			l := r.stamps.latency()[9]
			if l.Received != 3000 || h.Frames() != 3000 || l.Dropped+l.OutOfOrder+l.Duplicate+l.Stale != 0 || l.Min > l.Average || l.Average > l.Max || l.Jitter == 0 {
				t.Errorf("%d in buckets, %+v", h.Frames(), l)
			}
			must(t, r.stamps.forget(9))
			if l, h := r.stamps.latency(), r.stamps.transits(); len(l)+len(h) != 0 {
				t.Errorf("forgotten, and still %+v %+v", l, h)
			}
			r.takes(t, stamped(stamp{generation: 2, id: 9, at: Now()}, markLatency))
			eventually(t, "it begins anew", func() bool { return r.stamps.latency()[9].Received == 1 })
		})
	}
}

// TestAMarkedFrameIsFollowedByAStampOfItsOwn holds apart stamps and what looks like one.
func TestAMarkedFrameIsFollowedByAStampOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		stamp stamp
		want  uint64
	}{
		"its own stamp":              {stamp{generation: 1, id: 5, at: Now()}, 1},
		"another's id":               {stamp{generation: 1, id: 6, at: Now()}, 0},
		"a time to come":             {stamp{generation: 1, id: 5, at: Now() + time.Hour}, 0},
		"longer ago than buckets go": {stamp{generation: 1, id: 5, at: Now() - transit.Limit}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, expressPath(), true)
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
	t.Run("no stamp at all", func(t *testing.T) {
		r := loaded(t, expressPath(), true)
		f := stamped(stamp{id: 5, at: Now()}, markBase+5)
		binary.LittleEndian.PutUint32(f[len(f)-stampSize:], 0)
		r.takes(t, f)
		if got := followedOf(t, r, 5).Received; got != 0 {
			t.Errorf("%d followed", got)
		}
	})
}

// TestStampsWithoutRoomInTheRingAreCounted sends more stamps of a stream that has no buckets than the ring has room for, while nobody reads it: what is in no bucket in the end is known to the frame.
func TestStampsWithoutRoomInTheRingAreCounted(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r := loaded(t, h, true)
			const frames = 50_000
			_, err := r.program.Run(&ebpf.RunOptions{Data: stamped(stamp{generation: 1, id: 4, at: Now()}, markLatency), Repeat: frames})
			must(t, err)
			r.done.Go(r.read)
			f := followedOf(t, r, 4)
			if f.Received != frames || f.Uncounted == 0 {
				t.Fatalf("%+v", f)
			}
			eventually(t, "all others are in buckets", func() bool { return r.stamps.transits()[4].Frames() == frames-f.Uncounted })
			if l := r.stamps.latency()[4]; l.Uncounted != int64(f.Uncounted) {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestMergedStampsAreNoLoss hands on a buffer of five stamped frames, and the sixth by itself.
func TestMergedStampsAreNoLoss(t *testing.T) {
	a, b := cable(t, Options{}, Options{Follow: true})
	must(t, b.SetPromiscuous(true))
	const size = 100
	whole := frameUDP(5 * size)
	whole[15] |= 1
	rewriteID(whole, 14, markLatency)
	for i := range 5 {
		stamp{generation: 1, id: 3, sequence: uint32(i), at: Now()}.write(whole[:42+(i+1)*size], 14)
	}
	handOn(t, "west", gsoUDP, size, 42, whole)
	must(t, a.Inject([][]byte{stamped(stamp{generation: 1, id: 3, sequence: 5, at: Now()}, markLatency)}, 0))
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
	for name, o := range map[string]Options{"at traffic control": {Follow: true}, "at XDP": {Follow: true, Receive: ReceiveXDP}} {
		t.Run(name, func(t *testing.T) {
			a, b := cable(t, Options{}, o)
			s := addressed(burst(20_000, 50_000, frame(100)))
			s.FlowStats = stream.Flow{Enabled: true, StreamID: 12, RuleType: "latency"}
			must(t, a.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(b)}))
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
