package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestWhatObserversSawInSeveralWindows(t *testing.T) {
	const second = plan.Duration(time.Second)
	busy := func(mean float64, over plan.Duration) report.Observed {
		return report.Observed{Observer: "cpu", Series: "busy", Subject: "processor 0", Unit: "s/s", Mean: new(mean), Over: over}
	}
	coarse := func(mean, unsure float64) report.Observed {
		o := busy(mean, second)
		o.Unsure = unsure
		return o
	}
	speed := func(mean, least, most float64) report.Observed {
		return report.Observed{Observer: "fan", Series: "speed", Subject: "front", Unit: "rpm", Mean: new(mean), Min: new(least), Max: new(most), Over: second}
	}
	gone := report.Observed{Observer: "cpu", Series: "busy", Subject: "processor 0", Unit: "s/s", Missing: "the counter went back"}
	silent := report.Observed{Observer: "cpu", Missing: "nothing was read"}
	for name, c := range map[string]struct {
		windows [][]report.Observed
		want    string
	}{
		"nobody looked on":                      {[][]report.Observed{nil, nil}, ""},
		"a rate is weighted by time":            {[][]report.Observed{{busy(0.5, second)}, {busy(0.9, 3*second)}}, "cpu busy of processor 0: 0.8 s/s, 0.5 to 0.9, over 4s"},
		"a rate of nothing is zero":             {[][]report.Observed{{busy(0, second)}, {busy(0, second)}}, "cpu busy of processor 0: 0 s/s, 0 to 0, over 2s"},
		"a gauge has its least and most":        {[][]report.Observed{{speed(4000, 3900, 4200)}, {speed(4100, 3800, 4150)}}, "fan speed of front: 4050 rpm, 3800 to 4200, over 2s"},
		"as sure as the least sure of them":     {[][]report.Observed{{coarse(0.5, 0.01)}, {coarse(0.9, 0.005)}}, "cpu busy of processor 0: 0.7 s/s, 0.5 to 0.9, over 2s, unsure by 0.01"},
		"missing in one":                        {[][]report.Observed{{busy(0.5, second)}, {gone}}, "cpu busy of processor 0 is missing: in window 2 the counter went back"},
		"missing in both, the first reason":     {[][]report.Observed{{gone}, {silent}}, "cpu busy of processor 0 is missing: in window 1 the counter went back"},
		"not there yet in one":                  {[][]report.Observed{{silent}, {busy(0.5, second)}}, "cpu busy of processor 0 is missing: in window 1 nothing was read"},
		"given up in one":                       {[][]report.Observed{{busy(0.5, second)}, nil}, "cpu busy of processor 0 is missing: in window 2 it was not read"},
		"an observer that never read anything":  {[][]report.Observed{{silent}, {silent}}, "cpu  of  is missing: in window 1 nothing was read"},
		"a value that isn't there is no figure": {[][]report.Observed{{busy(0.5, second)}, {{Observer: "cpu", Series: "busy", Subject: "processor 0"}}}, "cpu busy of processor 0 is missing: in window 2 it was not read"},
	} {
		t.Run(name, func(t *testing.T) {
			var windows []report.Window
			for i, seen := range c.windows {
				windows = append(windows, report.Window{Number: i + 1, Start: plan.Duration(i) * second, Duration: second, Observed: seen})
			}
			var got []string
			for _, o := range Combine(windows).Observed {
				said := fmt.Sprintf("%s %s of %s", o.Observer, o.Series, o.Subject)
				if o.Missing != "" {
					if o.Mean != nil || o.Min != nil || o.Max != nil || o.Over != 0 {
						t.Errorf("missing, and has a value: %+v", o)
					}
					got = append(got, said+" is missing: "+o.Missing)
					continue
				}
				said = fmt.Sprintf("%s: %.6g %s, %g to %g, over %s", said, *o.Mean, o.Unit, *o.Min, *o.Max, o.Over.Std())
				if o.Unsure > 0 {
					said += fmt.Sprintf(", unsure by %g", o.Unsure)
				}
				got = append(got, said)
			}
			if said := strings.Join(got, "\n"); said != c.want {
				t.Errorf("%s\nwant\n%s", said, c.want)
			}
		})
	}
}
