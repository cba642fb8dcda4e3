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

// sampled are the samples of a run from west to east, and the latest reading of its receiver.
type sampled struct {
	*samples
	receiver measure.Receiving
}

func newSampled() *sampled {
	p := &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{}}}
	j := journal(p)
	return &sampled{samples: &samples{journal: j,
		meter: &meter{journal: j, remotes: &remotes{places: []Place{{Link: "west"}, {Link: "east"}}}}}}
}

// read adds a reading that the driver took at a moment of the run.
func (s *sampled) read(moment, stepEnd time.Duration, retransmitted int64) {
	readings := []Reading{{Sending: &measure.Sending{RetransmittedSegments: retransmitted}}, {Receiving: &s.receiver}}
	s.add(readings, s.journal.Started.Add(moment), s.journal.Started.Add(stepEnd))
}

// playReadings reads a receiver of 10 Mb/s at these moments of the run, each answered late by so much, in a
// step of this phase that ends at the last moment.
func (s *sampled) playReadings(phase report.Phase, late func(int) time.Duration, moments ...time.Duration) {
	s.step = procedure.Step{Phase: phase}
	for i, moment := range moments {
		asked := moment + late(i)
		bytes := int64(asked/ms) * 1250
		s.receiver = measure.Receiving{At: time.Hour + asked, Bytes: bytes}
		s.read(moment, moments[len(moments)-1], bytes/125_000)
	}
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
	}{{report.WarmUp, 250 * ms}, {report.WarmUp, 1250 * ms}, {report.Hold, 2250 * ms}, {report.Hold, 3250 * ms},
		{report.Hold, 4 * time.Second}, {report.Hold, 5 * time.Second}}
	if len(r.journal.Report.Samples) != len(want) {
		t.Fatalf("%d samples, want %d: %+v", len(r.journal.Report.Samples), len(want), r.journal.Report.Samples)
	}
	for i, s := range r.journal.Report.Samples {
		if s.Time.Std() != want[i].offset || s.Phase != want[i].phase {
			t.Errorf("sample %d is at %s, %s; want %s, %s", i, s.Time.Std(), s.Phase, want[i].offset, want[i].phase)
		}
		d := s.Directions[0].Sessions
		if bytes := int64(want[i].offset/ms) * 1250; d.ReceivedBytes != bytes ||
			d.RetransmittedSegments != bytes/125_000 || d.ReceivedIn.Std() != want[i].offset-250*ms {
			t.Errorf("sample %d is %+v", i, d)
		}
	}
}

// An answer that comes late says how much was received by the time at which the end read it, so the rate is the same.
func TestAnswersThatComeLateChangeNoGoodput(t *testing.T) {
	r := newSampled()
	if r.goodput() != nil {
		t.Error("there is a goodput before anything was read")
	}
	r.playReadings(report.Hold, func(i int) time.Duration { return time.Duration(i*7%5) * 30 * ms },
		quarters(0, 20*time.Second)...)
	for i, s := range r.journal.Report.Samples[1:] {
		got, ok := s.Directions[0].Sessions.GoodputSince(*r.journal.Report.Samples[i].Directions[0].Sessions)
		if !ok || got != 10_000_000 {
			t.Errorf("at %s goodput is %d bit/s, want 10 Mb/s", s.Time.Std(), got)
		}
	}
	if goodput := r.goodput(); goodput == nil || *goodput != 10_000_000 {
		t.Errorf("the goodput of the moment is %v", goodput)
	}
}

func TestAStandstillIsAGoodputOfZeroAndACounterThatWentBackIsNone(t *testing.T) {
	r := newSampled()
	r.playReadings(report.Hold, func(i int) time.Duration { return 0 }, 250*ms)
	for _, moment := range []time.Duration{500 * ms, 750 * ms} {
		r.receiver.At = time.Hour + moment
		r.read(moment, time.Minute, 0)
	}
	if goodput := r.goodput(); goodput == nil || *goodput != 0 {
		t.Errorf("of a standstill the goodput is %v", goodput)
	}
	r.receiver = measure.Receiving{At: time.Hour + time.Second, Bytes: 100}
	r.read(time.Second, time.Minute, 0)
	if goodput := r.goodput(); goodput != nil {
		t.Errorf("of a counter that went back the goodput is %d", *goodput)
	}
}
