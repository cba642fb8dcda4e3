package main

import (
	"slices"
	"sync"
	"time"
)

// ledger keeps when something was first so of each object. It is safe for concurrent use.
type ledger struct {
	mutex sync.Mutex
	times map[string]time.Time
}

func newLedger() *ledger { return &ledger{times: map[string]time.Time{}} }

// note says whether it is new.
func (l *ledger) note(name string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, ok := l.times[name]; ok {
		return false
	}
	l.times[name] = time.Now()
	return true
}

func (l *ledger) size() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.times)
}

// durationsSince is how long each took since it is in the other, the shortest first, and when the last was noted.
func (l *ledger) durationsSince(starts *ledger) (latest time.Time, took []time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	starts.mutex.Lock()
	defer starts.mutex.Unlock()
	for name, noted := range l.times {
		took = append(took, noted.Sub(starts.times[name]))
		if noted.After(latest) {
			latest = noted
		}
	}
	slices.Sort(took)
	return latest, took
}

// quantile is of sorted times; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
