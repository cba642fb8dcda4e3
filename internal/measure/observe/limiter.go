package observe

import (
	"cmp"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// limiter is what a Reference's limit does with the frames of each direction. On one machine the limit is asked
// with the generators, within a bound of its own. Elsewhere the limit's pod reports it.
type limiter struct{}

func (limiter) read(s Setup, _ string, m Moment) (values []value, missing string) {
	doubt := (m.Answered - m.Asked) / 2
	limited, clock, behind, reason := m.Limited, m.Asked+doubt, time.Duration(0), ""
	if m.Device != nil {
		doubt = 0 // the pod says when it read them
		limited, clock, behind, reason = m.Device.Limited, m.Device.At, m.deviceBehind,
			cmp.Or(m.Device.Missing, m.Device.NoLimited)
	}
	if reason != "" || len(limited) != len(s.Directions) {
		return nil, cmp.Or(reason, "the Reference's limit did not answer")
	}
	for i, d := range s.Directions {
		part := d.Name()
		passed, dropped := packets("passed", part, clock, behind, limited[i].Passed), packets("dropped", part, clock,
			behind, limited[i].Dropped)
		passed.doubt, dropped.doubt = doubt, doubt
		values = append(values, passed, dropped)
	}
	return values, ""
}

// packets is a counter of packets.
func packets(name, part string, clock, behind time.Duration, n int64) value {
	return value{name: name, part: part, unit: "packets", kind: report.Counter, instant: clock + behind, clock: clock,
		number: float64(n)}
}
