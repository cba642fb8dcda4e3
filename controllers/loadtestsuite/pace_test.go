package loadtestsuite

import (
	"testing"
	"time"
)

var opened = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// paced makes tests of equal duration for a while, and returns how many are under way after each second, and
// how many were created.
func paced(takes time.Duration, parallelism int, long time.Duration) (underWay []int, created int) {
	p, ends := pace{}, []time.Time(nil)
	for now := opened; now.Before(opened.Add(long)); now = now.Add(10 * time.Millisecond) {
		for len(ends) > 0 && !ends[0].After(now) {
			ends = ends[1:]
		}
		n, _ := p.mayMake(len(ends), now)
		for range min(n, parallelism-len(ends)) {
			ends = append(ends, now.Add(takes))
			p.recordMade(len(ends), now)
			created++
		}
		if now.Sub(opened)%time.Second == 0 {
			underWay = append(underWay, len(ends))
		}
	}
	return underWay, created
}

func TestASuiteGetsUnderWayByAndBy(t *testing.T) {
	underWay, _ := paced(time.Hour, 40, time.Minute)
	for second, n := range underWay {
		want := min(40, growAtOnce+2*second)
		if second > 0 && (n > want || n < want-2) {
			t.Errorf("%d tests are under way after %d s, want %d", n, second, want)
		}
	}
}

func TestWhereATestEndsTheNextOneIsMadeAtOnce(t *testing.T) {
	underWay, created := paced(10*time.Second, 50, 10*time.Minute)
	if final := underWay[len(underWay)-1]; final < 49 {
		t.Errorf("%d tests are under way in the end, want 50", final)
	}
	if ideal := 50 * 60; created < ideal*96/100 {
		t.Errorf("%d were made, and %d would have been if all had been under way at once", created, ideal)
	}
}

// A restarted operator finds tests under way, and may have as many at once as there are.
func TestWhatIsUnderWayAlreadyMayBeReplacedAtOnce(t *testing.T) {
	p := pace{}
	p.mayMake(30, opened)
	if n, earliest := p.mayMake(28, opened); n != maxMade {
		t.Errorf("%d may be made, or from %s", n, earliest)
	}
	p.recordMade(29, opened)
	p.recordMade(30, opened)
	if n, earliest := p.mayMake(30, opened.Add(madeWithin)); n != 1 {
		t.Errorf("%d more than ever before may be made, or from %s", n, earliest)
	}
	p.recordMade(31, opened.Add(madeWithin))
	if n, earliest := p.mayMake(31, opened.Add(2*madeWithin)); n != 0 ||
		!earliest.Equal(opened.Add(madeWithin+growEvery)) {
		t.Errorf("%d more may be made, or from %s", n, earliest)
	}
}
