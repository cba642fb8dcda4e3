package rig

import "time"

// Quiet is when the traffic ended after which the wires were quiet for so long, the first time since a moment: that moment itself where
// they were quiet from then on. False: they haven't been yet.
func (l *Listener) Quiet(since time.Time, span time.Duration) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	loud := since
	for _, t := range l.ticks {
		switch {
		case !t.At.After(since):
		case t.Frames > murmur:
			loud = t.At
		case t.At.Sub(loud) >= span:
			return loud, true
		}
	}
	return time.Time{}, false
}
