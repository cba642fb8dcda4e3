package observe

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// of is so many readings of one level.
func of(level float64, times int) (all []float64) {
	for range times {
		all = append(all, level)
	}
	return all
}

func TestFromWhenOnALevelOnlyScatters(t *testing.T) {
	for name, c := range map[string]struct {
		levels []float64
		want   int
	}{
		"steady, four":              {of(200, 4), 0},
		"steady, five":              {of(200, 5), 0},
		"steady, ten":               {of(200, 10), 0},
		"scattering, five":          {[]float64{200, 260, 200, 260, 200}, 0},
		"up after the first":        {append(of(100, 1), of(150, 6)...), 1},
		"a jump in the last of 4":   {append(of(100, 3), 150), -1},
		"by a third of 4":           {append(of(100.1, 3), 133.4), -1},
		"a jump in the last of 5":   {append(of(100, 4), 150), -1},
		"a jump in the last of 6":   {append(of(100, 5), 150), -1},
		"a jump in the last of 10":  {append(of(100, 9), 150), -1},
		"twice as much in the last": {append(of(200, 9), 400), -1},
		"half as much in the last":  {append(of(200, 8), 100), -1},
		"a climb":                   {[]float64{100, 110, 120, 130, 140, 150, 160, 170, 180}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var readings []report.VitalSample
			for _, v := range c.levels {
				readings = append(readings, report.VitalSample{Value: v})
			}
			if got := settledFrom(readings); got != c.want {
				t.Errorf("from reading %d on, want %d: %g", got, c.want, c.levels)
			}
		})
	}
}
