package main

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := median(c.of); got != c.want {
			t.Errorf("the median of %v is said to be %g", c.of, got)
		}
	}
}

// TestTurnsAreFair: over two rounds the entries' turns are equally early, so that a machine that becomes slower affects all equally.
func TestTurnsAreFair(t *testing.T) {
	const n = 7
	places := [n]int{}
	for round := range 2 {
		for place, who := range order(n, round) {
			places[who] += round*n + place
		}
	}
	for who, sum := range places {
		if sum != places[0] {
			t.Errorf("number %d has places that add up to %d, and number 0 to %d", who, sum, places[0])
		}
	}
}

func TestWhatWasCountedInATurn(t *testing.T) {
	begun := time.Now()
	before := counts{begun, 1000, 500, []machine.Processor{{Number: 0, Busy: time.Second, Stolen: time.Second}, {Number: 1}}, map[int]time.Duration{1: time.Second, 2: time.Second}}
	after := counts{begun.Add(2 * time.Second), 3000, 1500, []machine.Processor{{Number: 0, Busy: 3 * time.Second, Stolen: 1200 * time.Millisecond}, {Number: 1, Busy: time.Second}},
		map[int]time.Duration{1: 3 * time.Second, 7: 600 * time.Millisecond}}
	if got := between(before, after); got.offered != 1000 || got.returned != 500 || math.Abs(got.busy-1.3) > 1e-9 || math.Abs(got.neighbours-0.1) > 1e-9 || math.Abs(got.stolen-0.05) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

func TestPace(t *testing.T) {
	p := pace{intended: 1000, seconds: []second{{1000, false}, {1000.9, false}, {998, false}, {1020, true}}}
	worst, ours := p.worst()
	if p.countWithin(narrow) != 2 || p.countWithin(wide) != 3 || p.stolen() != 1 || math.Abs(worst-0.02) > 1e-9 || math.Abs(ours-0.002) > 1e-9 {
		t.Errorf("%d within 0.1 %%, %d within 1 %%, %d stolen, the worst off by %g, %g of those that weren't", p.countWithin(narrow), p.countWithin(wide), p.stolen(), worst, ours)
	}
}

func TestDescends(t *testing.T) {
	running := map[int]procfs.ProcStat{1: {PID: 1, PPID: 0}, 10: {PID: 10, PPID: 1}, 11: {PID: 11, PPID: 10}, 12: {PID: 12, PPID: 11}, 20: {PID: 20, PPID: 1}}
	for pid, want := range map[int]bool{10: true, 11: true, 12: true, 1: false, 20: false, 99: false} {
		if got := descends(running, pid, 10); got != want {
			t.Errorf("%d is said to be of 10: %v", pid, got)
		}
	}
}
