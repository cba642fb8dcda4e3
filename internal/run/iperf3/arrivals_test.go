package iperf3

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// datagram is one of a test with this number, sent at a moment.
func datagram(number uint64, sent time.Time) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(sent.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(sent.Nanosecond()/1000))
	return binary.BigEndian.AppendUint64(b, number)
}

func TestEachDatagramIsCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		came                                                       []uint64
		distinct, missing, reordered, duplicates, tooLate, foreign int64
	}{
		"nothing came":                {},
		"all came":                    {came: []uint64{1, 2, 3, 4}, distinct: 4},
		"the first is lost":           {came: []uint64{2, 3}, distinct: 2, missing: 1},
		"two in the middle are lost":  {came: []uint64{1, 4}, distinct: 2, missing: 2},
		"one is late":                 {came: []uint64{1, 3, 2, 4}, distinct: 4, reordered: 1},
		"one came twice":              {came: []uint64{1, 2, 2, 3}, distinct: 3, duplicates: 1},
		"one came twice, and one not": {came: []uint64{1, 3, 3}, distinct: 2, missing: 1, duplicates: 1},
		"a late one came twice":       {came: []uint64{1, 3, 2, 2}, distinct: 3, reordered: 1, duplicates: 1},
		"as late as is remembered":    {came: []uint64{2, memory, 1}, distinct: 3, missing: memory - 3, reordered: 1},
		"later than that":             {came: []uint64{2, memory + 1, 1}, distinct: 2, missing: memory - 1, tooLate: 1},
		"a gap that is longer than the memory": {came: []uint64{5, 5 + memory, 5 + memory}, distinct: 2, missing: 3 +
			memory, duplicates: 1},
		"the number 0":           {came: []uint64{0, 1}, distinct: 1, foreign: 1},
		"a number that can't be": {came: []uint64{1, 1 << 63, 2}, distinct: 2, foreign: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var a arrivals
			for _, n := range c.came {
				a.add(datagram(n, time.Now()), Test{}, time.Now(), false)
			}
			if a.distinct != c.distinct || a.missing() != c.missing || a.reordered != c.reordered ||
				a.duplicates != c.duplicates || a.tooLate != c.tooLate || a.foreign != c.foreign {
				t.Errorf("%d distinct, %d missing, %d reordered, %d duplicates, %d too late, %d foreign: want %+v",
					a.distinct, a.missing(), a.reordered, a.duplicates, a.tooLate, a.foreign, c)
			}
		})
	}
}

// Datagrams are lost, doubled and out of order, within the memory.
func TestLossIsWhatDidNotCome(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var a arrivals
		var came []uint64
		lost, doubled := int64(0), int64(0)
		for n := uint64(1); n <= 5000; n++ {
			switch random.IntN(10) {
			case 0:
				lost++
			case 1:
				came = append(came, n, n)
				doubled++
			default:
				came = append(came, n)
			}
		}
		for position := range came {
			partner := min(len(came)-1, position+random.IntN(40))
			came[position], came[partner] = came[partner], came[position]
		}
		came = append(came, 5001) // so that no gap is at the end
		for _, n := range came {
			a.count(n)
		}
		if a.missing() != lost || a.duplicates != doubled || a.distinct != 5001-lost {
			t.Fatalf("%d missing, %d duplicates, %d distinct: %d were lost, %d doubled", a.missing(), a.duplicates,
				a.distinct, lost, doubled)
		}
	}
}

// A counter of 32 bits begins again after an hour of a million a second.
func TestShortNumbersWrapAround(t *testing.T) {
	for name, c := range map[string]struct {
		reference uint64
		low       uint32
		want      uint64
	}{
		"the first":            {0, 1, 1},
		"the next":             {7, 8, 8},
		"a late one":           {7, 5, 5},
		"over the end":         {1<<32 - 1, 2, 1<<32 + 2},
		"late, before the end": {1<<32 + 2, 0xffff_ffff, 1<<32 - 1},
		"in the third round":   {2<<32 + 9, 10, 2<<32 + 10},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unwrap(c.reference, c.low); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// The clocks of the two sides may differ by anything, and lost datagrams change nothing.
func TestJitterIsOfDelaysAlone(t *testing.T) {
	steady, unsteady := arrivals{}, arrivals{}
	began := time.Unix(1_000_000, 0)
	for n := range uint64(1000) {
		sent := began.Add(time.Duration(n) * time.Millisecond)
		came := sent.Add(-time.Hour)
		steady.add(datagram(n+1, sent), Test{}, came, false)
		unsteady.add(datagram(n+1, sent), Test{}, came.Add(time.Duration(n%2)*160*time.Microsecond), false)
	}
	if steady.jitter != 0 {
		t.Errorf("the jitter of equal delays is %g ns", steady.jitter)
	}
	if unsteady.jitter < 159_999 || unsteady.jitter > 160_000 {
		t.Errorf("the jitter of delays that alternate by 160 µs is %g ns", unsteady.jitter)
	}
}

func FuzzArrivals(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), false)
	f.Add(datagram(1, time.Now()), false)
	f.Add(datagram(1<<63, time.Now()), true)
	f.Fuzz(func(t *testing.T, b []byte, short bool) {
		var a arrivals
		for range 3 {
			a.add(b, Test{short: short}, time.Now(), false)
			a.add(datagram(a.highest+2, time.Now()), Test{}, time.Now(), false)
		}
		if a.missing() < 0 || a.distinct < 3 || a.distinct+a.duplicates+a.tooLate+a.foreign != 6 {
			t.Errorf("%d distinct, %d missing, %d duplicates, %d too late, %d foreign of 6", a.distinct, a.missing(),
				a.duplicates, a.tooLate, a.foreign)
		}
	})
}
