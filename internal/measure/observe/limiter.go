package observe

import (
	"cmp"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// limiter is what a Reference's limit does with the frames of each direction. On one machine it is asked with the generators, within a bound of its own; elsewhere its pod
// tells of it.
type limiter struct{}

func (limiter) read(s Setup, _ string, m Moment) (values []value, missing string) {
	within := (m.Answered - m.Asked) / 2
	limited, clock, behind, why := m.Limited, m.Asked+within, time.Duration(0), ""
	if m.Device != nil {
		within = 0 // it says itself when it read them
		limited, clock, behind, why = m.Device.Limited, m.Device.At, m.deviceBehind, cmp.Or(m.Device.Missing, m.Device.NoLimited)
	}
	if why != "" || len(limited) != len(s.Directions) {
		return nil, cmp.Or(why, "the Reference's limit did not answer")
	}
	for i, d := range s.Directions {
		of := d.Name()
		passed, dropped := packets("passed", of, clock, behind, limited[i].Passed), packets("dropped", of, clock, behind, limited[i].Dropped)
		passed.within, dropped.within = within, within
		values = append(values, passed, dropped)
	}
	return values, ""
}

// packets is a counter of them.
func packets(name, of string, clock, behind time.Duration, n int64) value {
	return value{name: name, of: of, unit: "packets", kind: report.Counter, at: clock + behind, clock: clock, number: float64(n)}
}
