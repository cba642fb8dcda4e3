package frames_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// backToBack sends bursts at 20 kpps, twice the limit of the scene's device, which holds 700 frames.
func backToBack(options ...func(*plan.BackToBack)) option {
	return func(s *scenario) {
		b := plan.BackToBack{Rate: unitstest.Rate("20kpps"), WarmupDuration: seconds(1), TrialDuration: seconds(5),
			MaxBurstDuration: seconds(2), Resolution: units.One / 100, Repetitions: 5}
		for _, o := range options {
			o(&b)
		}
		s.plan.Procedure = plan.Procedure{Type: plan.TypeBackToBack, BackToBack: &b}
		onDevice(func(d *sim.Device) { d.Burst = 70 * time.Millisecond })(s)
	}
}

func TestBurstsShowWhatADeviceHolds(t *testing.T) {
	for name, c := range map[string]struct {
		scene             *scenario
		longest, capacity float64
		offered           float64
		squeezed          float64 // seconds by which bursts may be shorter than anybody tells
	}{
		"":                      {scene(backToBack()), 1400, 700, 20_000, 0},
		"behind two generators": {scene(backToBack(), replicas(2)), 1400, 700, 20_000, 0},
		"that delays what it forwards": {scene(backToBack(),
			onDevice(func(d *sim.Device) { d.Delay = 300 * time.Millisecond })), 1400, 700, 20_000, 0},
		"behind a generator that is slower": {scene(backToBack(),
			onGenerator(func(g *sim.Generator) { g.MaxRate = 14 * kpps })), 2450, 700, 14_000, 0},
		"whose bursts nobody times": {scene(backToBack(),
			onGenerator(func(g *sim.Generator) { g.UntimedBursts = true })), 1400, 700, 20_000, 0.002},
		"of a throughput that is known": {scene(backToBack(func(b *plan.BackToBack) {
			b.Throughput = unitstest.Rate("10kpps")
		})), 1400, 700, 20_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.scene.run(t)
			if r.Ending != report.Completed || r.Answer.Reason != report.BurstsMeasured || !r.Answer.Confirmed {
				t.Fatalf("%s: %s, %+v", r.Ending, r.Message, r.Answer)
			}
			want := map[report.Metric]float64{procedure.BackToBackFrames: c.longest, procedure.BufferFrames: c.capacity,
				procedure.BufferMicroseconds: c.capacity / c.offered * 1e6}
			for _, f := range figures.Of(r) {
				truth, ofBursts := want[f.Metric]
				if !ofBursts || f.Direction == report.AllDirections {
					continue
				}
				if slack := 2 + truth*0.005; f.Low.Float() > truth+slack || f.High.Float() < truth-slack ||
					f.High.Float()-f.Low.Float() > truth*(0.02+c.squeezed*10_140/c.capacity)+3 {
					t.Errorf("%s of %s: %s to %s, want %.0f", f.Metric, f.Direction, f.Low, f.High, truth)
				}
				delete(want, f.Metric)
			}
			if len(want) > 0 {
				t.Errorf("no figure of %v: %+v", want, r.Answer)
			}
			if d := r.Answer.Directions[0]; !isNear(float64(d.Offered.PacketsPerSecond), c.offered, 2) ||
				math.Abs(float64(d.Received.PacketsPerSecond)-10_140) > 100 {
				t.Errorf("of %d offered %d came back", d.Offered.PacketsPerSecond, d.Received.PacketsPerSecond)
			}
		})
	}
}

// A generator that is slower than the device fills no buffer, and nothing is claimed of it.
func TestBurstsOfASlowGeneratorAreInvalid(t *testing.T) {
	r := scene(backToBack(), onGenerator(func(g *sim.Generator) { g.MaxRate = 8 * kpps })).run(t)
	if r.Answer.Reason != report.GeneratorLimited || !strings.Contains(r.Answer.EvidenceText(), "no answer") {
		t.Errorf("%+v", r.Answer)
	}
	for _, f := range figures.Of(r) {
		if metric, _ := figures.MetricOf(f.Metric); metric.Own && (f.Low != "" || f.Missing == "") {
			t.Errorf("%+v", f)
		}
	}
}

// A burst of another length than was asked for isn't judged.
func TestABurstThatIsCutShortIsInvalid(t *testing.T) {
	r := scene(backToBack(func(b *plan.BackToBack) { b.Repetitions = 1 }),
		onGenerator(func(g *sim.Generator) { g.Cuts = 1 })).run(t)
	if window := r.Windows[len(r.Windows)-1]; window.Quality != report.Invalid ||
		!strings.Contains(window.Reason, "of a burst of") {
		t.Errorf("%s: %s", window.Quality, window.Reason)
	}
	if !strings.Contains(r.Answer.EvidenceText(), "1 search could not be finished") {
		t.Errorf("%s", r.Answer.EvidenceText())
	}
}
