package sessions

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
)

const ms = time.Millisecond

// playReadings is a run that reads a receiver of 10 Mb/s at these moments of the run, each told late by so much, in a step of this phase that ends at the last of them.
func (r *run) playReadings(phase report.Phase, late func(int) time.Duration, moments ...time.Duration) {
	r.samples.step = procedure.Step{Phase: phase}
	ends := r.Started.Add(moments[len(moments)-1])
	for i, at := range moments {
		asked := at + late(i)
		bytes := int64(asked/ms) * 1250
		r.latest = []Reading{{Sending: &measure.Sending{RetransmittedSegments: bytes / 125_000}}, {Receiving: &measure.Receiving{At: time.Hour + asked, Bytes: bytes}}}
		r.latestAt = r.Started.Add(at)
		r.sample(ends)
	}
}

func newSampled() *run {
	p := &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}, Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{}}}
	return &run{Journal: journal(p), places: []Place{{Link: "west"}, {Link: "east"}}}
}

func quarters(start, end time.Duration) (moments []time.Duration) {
	for moment := start + 250*ms; moment < end; moment += 250 * ms {
		moments = append(moments, moment)
	}
	return append(moments, end)
}

func TestSamplesAreASecondApartAndAtTheEndOfEachStep(t *testing.T) {
	r, prompt := newSampled(), func(int) time.Duration { return 0 }
	r.playReadings(report.WarmUp, prompt, quarters(0, 1250*ms)...)
	r.playReadings(report.Hold, prompt, quarters(1250*ms, 4*time.Second)...)
	r.playReadings(report.Hold, prompt, quarters(4*time.Second, 5*time.Second)...)
	want := []struct {
		phase  report.Phase
		offset time.Duration
	}{{report.WarmUp, 250 * ms}, {report.WarmUp, 1250 * ms}, {report.Hold, 2250 * ms}, {report.Hold, 3250 * ms}, {report.Hold, 4 * time.Second}, {report.Hold, 5 * time.Second}}
	if len(r.Report.Samples) != len(want) {
		t.Fatalf("%d samples, want %d: %+v", len(r.Report.Samples), len(want), r.Report.Samples)
	}
	for i, s := range r.Report.Samples {
		if s.At.Std() != want[i].offset || s.Phase != want[i].phase {
			t.Errorf("sample %d is at %s, %s; want %s, %s", i, s.At.Std(), s.Phase, want[i].offset, want[i].phase)
		}
		d := s.Directions[0].Sessions
		if bytes := int64(want[i].offset/ms) * 1250; d.ReceivedBytes != bytes || d.RetransmittedSegments != bytes/125_000 || d.ReceivedIn.Std() != want[i].offset-250*ms {
			t.Errorf("sample %d is %+v", i, d)
		}
	}
}

// An answer that comes late says how much was received by the time at which the end read it: the rate is what it was.
func TestAnswersThatComeLateChangeNoGoodput(t *testing.T) {
	r := newSampled()
	if r.samples.goodput() != nil {
		t.Error("there is a goodput before anything was read")
	}
	r.playReadings(report.Hold, func(i int) time.Duration { return time.Duration(i*7%5) * 30 * ms }, quarters(0, 20*time.Second)...)
	for i, s := range r.Report.Samples[1:] {
		got, ok := s.Directions[0].Sessions.GoodputSince(*r.Report.Samples[i].Directions[0].Sessions)
		if !ok || got != 10_000_000 {
			t.Errorf("at %s goodput is %d bit/s, want 10 Mb/s", s.At.Std(), got)
		}
	}
	if goodput := r.samples.goodput(); goodput == nil || *goodput != 10_000_000 {
		t.Errorf("the goodput of the moment is %v", goodput)
	}
}

func TestAStandstillIsAGoodputOfZeroAndACounterThatWentBackIsNone(t *testing.T) {
	r := newSampled()
	r.playReadings(report.Hold, func(i int) time.Duration { return 0 }, 250*ms)
	for _, at := range []time.Duration{500 * ms, 750 * ms} {
		r.latest = []Reading{r.latest[0], {Receiving: &measure.Receiving{At: time.Hour + at, Bytes: 312_500}}}
		r.latestAt = r.Started.Add(at)
		r.sample(r.Started.Add(time.Minute))
	}
	if goodput := r.samples.goodput(); goodput == nil || *goodput != 0 {
		t.Errorf("of a standstill the goodput is %v", goodput)
	}
	r.latest = []Reading{r.latest[0], {Receiving: &measure.Receiving{At: time.Hour + time.Second, Bytes: 100}}}
	r.sample(r.Started.Add(time.Minute))
	if goodput := r.samples.goodput(); goodput != nil {
		t.Errorf("of a counter that went back the goodput is %d", *goodput)
	}
}
