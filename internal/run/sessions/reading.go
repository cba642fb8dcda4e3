package sessions

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine"
)

// What an end may say in words, and how many counters of a network card it may have. A window's readings are
// kept until its end, so they have no more than the test asks for.
const (
	maxWords    = 4 << 10
	maxCounters = 64
)

// check refuses a reading with more in it than an end of a test of so many connections has.
func (r *Reading) check(connections int) error {
	words, streams := 0, 0
	if s := r.Sending; s != nil {
		words, streams = len(s.Broken), max(len(s.Datagrams), len(s.Each))
	}
	if s := r.Receiving; s != nil {
		words, streams = words+len(s.Broken), max(streams, len(s.Streams), len(s.Each))
	}
	if w := r.Waits; w != nil {
		words += len(w.Program)
	}
	if d := r.Drops; d != nil {
		words += len(d.Interface) + len(d.Unread)
		for name := range d.Counters {
			words += len(name)
		}
		if len(d.Counters) > maxCounters {
			return fmt.Errorf("%w: it tells %d counters of its interface, and an end of linerate's has %d at most",
				engine.ErrLost, len(d.Counters), maxCounters)
		}
	}
	switch {
	case streams > connections:
		return fmt.Errorf("%w: it tells of %d streams, and the test has %d connections", engine.ErrLost, streams,
			connections)
	case words > maxWords:
		return fmt.Errorf("%w: its reading has %d bytes of words, and an end of linerate's has %d at most",
			engine.ErrLost, words, maxWords)
	}
	return nil
}

// counters are readings without vital signs, which observers have by now.
func counters(readings []Reading) []Reading {
	trimmed := slices.Clone(readings)
	for i := range trimmed {
		trimmed[i].Vitals, trimmed[i].Signs, trimmed[i].Asked = nil, nil, nil
	}
	return trimmed
}
