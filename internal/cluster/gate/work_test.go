package gate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/render"
)

// followed is the router's LoadTest with trains after its answer.
const followed = router + `  traffic: {profile: FixedSize, frameSize: 64}
  procedure: {type: Search, trains: {count: 200}}
`

// A generator that is too weak to find the limit of either image leaves a gate undecided. Trains show that a frame takes
// longer, or that it doesn't, which passes nothing.
func TestAGateOfBoundsFailsByTheWorkForAFrame(t *testing.T) {
	for name, c := range map[string]struct {
		nanoseconds    float64
		maxWork        string
		code           int
		answer, failed string
	}{
		"half a microsecond more": {1440, "3%", report.ExitFailed,
			"router-imix imix works 0.500 ± 0.009 µs longer on a frame, which no-slower forbids; its limit is undecided. " +
				"Find what changed.", `<failure type="MoreWorkPerFrame" message="the work for a frame changed by +0.500 ± 0.009 µs, and the limit is undecided: `},
		"equal builds": {940, "3%", report.ExitNotMeasured, "do not decide no-slower", `<error type="WorkPerFrameKept"`},
		"not asked":    {1440, "", report.ExitNotMeasured, "do not decide no-slower", `<error type="Undecided"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := onlySubject(t, followed, Options{MaxRegression: "2%", MaxWorkRegression: c.maxWork, Runs: 5,
				BaselineImages: []Image{{"registry.lab/router", "registry.lab/router:1.4"}}})
			m := measured(t, s, steady(100_000))
			for _, run := range m.Runs {
				nanoseconds := c.nanoseconds
				if strings.Contains(run.Test, baselineValue) {
					nanoseconds = 940
				}
				run.Figures.LowerBound = true
				bounded(run.Evidence, nanoseconds)
			}
			g := Judge([]MeasuredSuite{m}, "test")
			var junit strings.Builder
			document := render.OfGate(g)
			if err := render.Write(&junit, "junit", document, render.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if g.ExitCode != c.code || !strings.Contains(junit.String(), c.answer) || !strings.Contains(junit.String(), c.failed) {
				t.Errorf("exit code %d, want %d, %q and %q:\n%s", g.ExitCode, c.code, c.answer, c.failed, junit.String())
			}
		})
	}
}

// bounded makes a run one of a weak generator, beside which trains showed about so many nanoseconds a frame.
func bounded(r *report.Report, nanoseconds float64) {
	r.Answer.Reason, r.Answer.Saturated = report.GeneratorLimited, false
	middle := nanoseconds * (1 + float64(r.Answer.Total.Received.PacketsPerSecond-100_050)/12_500) // spreads by 0.8 %
	number := func(v float64) report.Number { return report.Number(strconv.FormatFloat(v, 'f', 3, 64)) }
	for i := range r.Answer.Directions {
		r.Answer.Directions[i].Own = []report.OwnFigure{{Metric: procedure.TimePerFrame, Low: number(middle * 0.995),
			High: number(middle * 1.005)}}
	}
}

func TestAWitnessAsksNothingOfTrains(t *testing.T) {
	const ramp = `  traffic: {profile: FixedSize, frameSize: 64}
  procedure: {ramp: {targetRate: 300kpps}, trains: {count: 200}}
`
	subjects, err := prepared(t, router+ramp, Options{MaxRegression: "2%", MaxWorkRegression: "3%",
		BaselineImages: []Image{{"registry.lab/router", "registry.lab/router:1.4"}}, Witness: WitnessOverload})
	if err != nil || len(subjects) != 2 {
		t.Fatalf("%d subjects: %v", len(subjects), err)
	}
	if search, witness := subjects[0].Suite.Spec.Criteria[0], subjects[1].Suite.Spec.Criteria[0]; search.
		MaxWorkRegression != "3%" || witness.MaxWorkRegression != "" || witness.MaxRegression != "2%" {
		t.Errorf("the search is judged by %+v, and the witness by %+v", search, witness)
	}
}
