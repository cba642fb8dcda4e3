package main

import (
	"slices"
	"sync"
	"time"
)

// ledger keeps when something was first so of each object. It is safe for concurrent use.
type ledger struct {
	mutex sync.Mutex
	at    map[string]time.Time
}

func newLedger() *ledger { return &ledger{at: map[string]time.Time{}} }

// note says whether it is new.
func (l *ledger) note(name string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, known := l.at[name]; known {
		return false
	}
	l.at[name] = time.Now()
	return true
}

func (l *ledger) size() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.at)
}

// since is how long each took since it is in the other, the shortest first, and when the last was noted.
func (l *ledger) since(begun *ledger) (last time.Time, took []time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	begun.mutex.Lock()
	defer begun.mutex.Unlock()
	for name, at := range l.at {
		took = append(took, at.Sub(begun.at[name]))
		if at.After(last) {
			last = at
		}
	}
	slices.Sort(took)
	return last, took
}

// quantile is of sorted times; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
