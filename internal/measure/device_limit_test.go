package measure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// The windows are those of TestQuality: 15 000 frames in 1.5 s are 10 000 packets/s, or 5.12 Mb/s at layer 2.
func TestLossThatAKnownLimitDoesNotCauseIsTheMachines(t *testing.T) {
	const burst = plan.Duration(20 * time.Millisecond)
	packets := func(n int64) *plan.Limit { return &plan.Limit{PacketsPerSecond: n, Burst: burst} }
	bits := func(n int64) *plan.Limit { return &plan.Limit{Layer2BitsPerSecond: n, Burst: 10 * burst} }
	lossy := counted{sent: 15000, returned: 14500}
	for name, test := range map[string]struct {
		counted
		limit *plan.Limit
		took  *report.Limiter
		want  report.Quality
		lost  int64
		says  string
	}{
		"a device whose limit nobody knows":                   {counted: lossy, want: report.Lossy},
		"a load above the limit":                              {counted: lossy, limit: packets(9_500), want: report.Lossy},
		"a load above the limit by a little":                  {counted: counted{sent: 15000, returned: 14970}, limit: packets(9_980), want: report.Lossy},
		"a load below the limit":                              {counted: lossy, limit: packets(10_500), want: report.Invalid, lost: 498, says: "limit of 10.50 kpps takes nothing of 10.00 kpps: the machine that forwards"},
		"a load at the limit":                                 {counted: lossy, limit: packets(10_000), want: report.Lossy},
		"a load so close to the limit that jitter reaches it": {counted: counted{sent: 15000, returned: 14970}, limit: packets(10_020), want: report.Lossy},
		"a load close to a limit in bits":                     {counted: lossy, limit: bits(5_130_000), want: report.Lossy},
		"a load that jitter doesn't carry to the limit":       {counted: lossy, limit: packets(10_060), want: report.Invalid, lost: 498, says: "held them up"},
		"a load below the limit, which was handed bunches":    {counted: lossy, limit: packets(10_500), took: &report.Limiter{Passed: 14500, Dropped: 500}, want: report.Invalid, lost: 498, says: "(the limit took 500, which came in bunches)"},
		"a load below the limit, which took none":             {counted: lossy, limit: packets(10_500), took: &report.Limiter{Passed: 14500}, want: report.Invalid, lost: 498, says: "(the limit took none)"},
		"a load below the limit that lost nothing":            {counted: counted{sent: 15000, returned: 15000}, limit: packets(10_500), want: report.Good},
		"a load above a limit in bits":                        {counted: lossy, limit: bits(5_000_000), want: report.Lossy},
		"a load below a limit in bits":                        {counted: lossy, limit: bits(5_200_000), want: report.Invalid, lost: 498, says: "limit of 5.20 Mb/s takes nothing of 5.12 Mb/s"},
		"a bucket that even sending may overflow":             {counted: lossy, limit: &plan.Limit{PacketsPerSecond: 10_500, Burst: plan.Duration(time.Millisecond)}, want: report.Lossy},
		"a bucket of few frames":                              {counted: lossy, limit: &plan.Limit{Layer2BitsPerSecond: 5_200_000, Burst: burst / 2}, want: report.Lossy},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := test.prepare()
			setup.Limit = test.limit
			if test.took != nil {
				span.Limited = []report.Limiter{*test.took}
			}
			w := judged(setup, span)
			d := w.Directions[0]
			if d.Quality != test.want || d.MachineLost != test.lost || !strings.Contains(d.Reason, test.says) {
				t.Errorf("%s, %d lost by the machine: %s; want %s, %d: …%s…", d.Quality, d.MachineLost, d.Reason, test.want, test.lost, test.says)
			}
			if w.LostToMachine() != (test.lost > 0) {
				t.Errorf("the window was lost to the machine: %v", w.LostToMachine())
			}
		})
	}
}

// TestPortsThatAreReadApartShowNoLoss: the sending port's counter is of the begin of a reading, the receiving
// port's of its end, or the other way round. At the window's edges both may be, and then twice as much is missing
// as passes within one reading.
func TestPortsThatAreReadApartShowNoLoss(t *testing.T) {
	const half = 5 * time.Millisecond // of what a reading takes: 100 frames pass in all of it
	for missing, want := range map[int64]report.Quality{200: report.Good, 203: report.Invalid, 215: report.Invalid, 220: report.Lossy} {
		w := counted{sent: 15000, returned: 15000 - missing, uncertainty: half}.window()
		if w.Quality != want || w.Directions[0].EdgeFrames != 202 {
			t.Errorf("%d missing: %s, edges %d: %s; want %s", missing, w.Quality, w.Directions[0].EdgeFrames, w.Reason, want)
		}
	}
}
