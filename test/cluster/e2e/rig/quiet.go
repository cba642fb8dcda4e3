package rig

import "time"

// Quiet is when the traffic ended after which the wires were quiet for so long, the first time since a moment:
// that moment itself where they were quiet from then on. False: they haven't been yet.
func (l *Listener) Quiet(start time.Time, span time.Duration) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	loud := start
	for _, t := range l.ticks {
		switch {
		case !t.Time.After(start):
		case t.Frames > murmur:
			loud = t.Time
		case t.Time.Sub(loud) >= span:
			return loud, true
		}
	}
	return time.Time{}, false
}
