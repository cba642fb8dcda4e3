package observe

import "github.com/linerate-dev/linerate/internal/report"

// limiter is what a Reference's limit does with the frames of each direction. It is asked with the generators, within a bound of its own.
type limiter struct{}

func (limiter) read(s Setup, m Moment) (values []value, missing string) {
	if len(m.Limited) != len(s.Directions) {
		return nil, "the Reference's limit did not answer"
	}
	for i, d := range s.Directions {
		of := d.From + "→" + d.To
		values = append(values,
			value{name: "passed", of: of, unit: "packets", kind: report.Counter, at: m.At, number: float64(m.Limited[i].Passed)},
			value{name: "dropped", of: of, unit: "packets", kind: report.Counter, at: m.At, number: float64(m.Limited[i].Dropped)})
	}
	return values, ""
}
