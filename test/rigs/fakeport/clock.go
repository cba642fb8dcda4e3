package fakeport

import (
	"slices"
	"sync"
	"time"
)

// Clock is the ports' clock. The zero of Now has no meaning.
type Clock interface {
	Now() time.Duration
	// AfterFunc calls fn once, d from now, unless cancelled before.
	AfterFunc(d time.Duration, fn func()) (cancel func())
}

// System is the system's clock, or the bubble's in a testing/synctest bubble.
func System() Clock { return &system{start: time.Now()} }

type system struct{ start time.Time }

func (s *system) Now() time.Duration { return time.Since(s.start) }

func (s *system) AfterFunc(d time.Duration, fn func()) (cancel func()) {
	timer := time.AfterFunc(d, fn)
	return func() { timer.Stop() }
}

// Manual is a clock that stands still until it is set forward.
type Manual struct {
	mu     sync.Mutex
	clock  time.Duration
	alarms []*alarm
}

type alarm struct {
	due time.Duration
	fn  func()
}

// NewManual makes a clock that stands at start.
func NewManual(start time.Duration) *Manual { return &Manual{clock: start} }

// Now implements Clock.
func (m *Manual) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

// AfterFunc implements Clock. fn runs in the goroutine that calls Advance.
func (m *Manual) AfterFunc(d time.Duration, fn func()) (cancel func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := &alarm{due: m.clock + d, fn: fn}
	m.alarms = append(m.alarms, set)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.alarms = slices.DeleteFunc(m.alarms, func(a *alarm) bool { return a == set })
	}
}

// Advance sets the clock forward by d and calls what falls due on the way, each at its time.
func (m *Manual) Advance(d time.Duration) {
	end := m.Now() + d
	for {
		fn := m.due(end)
		if fn == nil {
			return
		}
		fn()
	}
}

// due moves the clock to the next alarm before end and returns its function, or moves it to end and returns nil.
func (m *Manual) due(end time.Duration) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := -1
	for i, a := range m.alarms {
		if a.due <= end && (next < 0 || a.due < m.alarms[next].due) {
			next = i
		}
	}
	if next < 0 {
		m.clock = max(m.clock, end)
		return nil
	}
	a := m.alarms[next]
	m.alarms = slices.Delete(m.alarms, next, next+1)
	m.clock = max(m.clock, a.due)
	return a.fn
}
