package transit_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

func TestBucketsFollowEachOtherWithoutAGap(t *testing.T) {
	next := time.Duration(0)
	for i := range transit.Buckets {
		shortest, longest := transit.Bounds(i)
		if shortest != next || longest < shortest {
			t.Fatalf("bucket %d is %v to %v, want it to begin at %v", i, shortest, longest, next)
		}
		if transit.Index(shortest) != i || transit.Index(longest) != i {
			t.Fatalf("bucket %d is %v to %v, and these times are in %d and %d", i, shortest, longest, transit.Index(shortest), transit.Index(longest))
		}
		next = longest + 1
	}
}

func TestBucketsAreAtMostOnePercentWide(t *testing.T) {
	for i := transit.Index(100); i < transit.Beyond; i++ {
		shortest, longest := transit.Bounds(i)
		if width := longest - shortest + 1; 100*width > shortest {
			t.Fatalf("bucket %d begins at %v and is %v wide", i, shortest, width)
		}
	}
}

func TestEdgesOfTheBuckets(t *testing.T) {
	for name, c := range map[string]struct {
		time time.Duration
		want int
	}{
		"clocks that disagree":       {-5 * time.Microsecond, 0},
		"no time at all":             {0, 0},
		"the last of the fine ones":  {255, 255},
		"the first of two":           {256, 256},
		"ten seconds are told apart": {10 * time.Second, 26*128 + 149},
		"the longest time":           {transit.Limit - 1, transit.Beyond - 1},
		"beyond":                     {transit.Limit, transit.Beyond},
		"as long as can be":          {1<<63 - 1, transit.Beyond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := transit.Index(c.time); got != c.want {
				t.Errorf("%v is in bucket %d, want %d", c.time, got, c.want)
			}
		})
	}
}

func FuzzATimeIsWithinItsBucket(f *testing.F) {
	for _, d := range []int64{-1, 0, 99, 100, 255, 256, 1e6, 1e10, 1 << 34, 1<<63 - 1} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, ns int64) {
		d := time.Duration(ns)
		i := transit.Index(d)
		if i < 0 || i >= transit.Buckets {
			t.Fatalf("%v is in bucket %d of %d", d, i, transit.Buckets)
		}
		if shortest, longest := transit.Bounds(i); max(d, 0) < shortest || max(d, 0) > longest {
			t.Errorf("%v is in bucket %d, which is %v to %v", d, i, shortest, longest)
		}
	})
}
