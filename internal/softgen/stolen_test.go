package softgen

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/processors"
)

type stolenStats struct {
	Stolen *float64 `json:"stolen"`
	At     *float64 `json:"stolen_ts"`
}

func TestWhatAHostTookIsAskedForNowAndThen(t *testing.T) {
	taken, asked := 3*time.Second, 0
	r := newRig(t, func(c *Config) {
		c.Stolen = func() (time.Duration, error) { asked++; return taken, nil }
	})
	began := r.clock.Now().Seconds()
	for _, step := range []struct {
		passes          time.Duration
		taken           time.Duration
		stolen, staleBy float64
	}{
		{0, 3 * time.Second, 3, 0},
		{20 * time.Millisecond, 4 * time.Second, 3, 0.02},
		{470 * time.Millisecond, 4 * time.Second, 3, 0.49},
		{10 * time.Millisecond, 4 * time.Second, 4, 0},
	} {
		r.clock.Advance(step.passes)
		began += step.passes.Seconds()
		taken = step.taken
		got := must[stolenStats](t, r, "get_global_stats", object{})
		if got.Stolen == nil || *got.Stolen != step.stolen || got.At == nil || *got.At < began-step.staleBy-1e-6 || *got.At > began-step.staleBy+1e-6 {
			t.Errorf("after %v: %+v %+v", step.passes, got.Stolen, got.At)
		}
	}
	if asked != 2 {
		t.Errorf("the kernel was asked %d times", asked)
	}
}

func TestAKernelThatDoesNotSayWhatAHostTook(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Stolen = func() (time.Duration, error) { return 0, errors.New("no /proc") } })
	if got := must[stolenStats](t, r, "get_global_stats", object{}); got.Stolen != nil || got.At != nil {
		t.Errorf("%+v", got)
	}
}

func TestThisKernelSaysWhatItsHostTook(t *testing.T) {
	first, err := stolen()
	ok(t, err)
	again, err := stolen()
	ok(t, err)
	if first < 0 || again < first {
		t.Errorf("%v, then %v", first, again)
	}
}

type vitalStats struct {
	Processors [][]float64 `json:"processors"`
	At         *float64    `json:"processors_ts"`
}

func TestProcessorsAreAskedForNowAndThen(t *testing.T) {
	busy, asked := 3*time.Second, 0
	r := newRig(t, func(c *Config) {
		c.Processors = func() ([]processors.Processor, error) {
			asked++
			return []processors.Processor{{Number: 0}, {Number: 1, Busy: busy, SoftIRQ: time.Second, Stolen: 10 * time.Millisecond, Idle: time.Minute}}, nil
		}
	})
	for _, step := range []struct{ passes, busy, says time.Duration }{
		{0, 3 * time.Second, 3 * time.Second},
		{90 * time.Millisecond, 4 * time.Second, 3 * time.Second},
		{20 * time.Millisecond, 4 * time.Second, 4 * time.Second},
	} {
		r.clock.Advance(step.passes)
		busy = step.busy
		got := must[vitalStats](t, r, "get_global_stats", object{})
		if want := []float64{1, step.says.Seconds(), 1, 0.01, 60}; got.At == nil || len(got.Processors) != 2 || !slices.Equal(got.Processors[1], want) {
			t.Errorf("after %v: %v at %v, want %v", step.passes, got.Processors, got.At, want)
		}
	}
	if asked != 2 {
		t.Errorf("the kernel was asked %d times", asked)
	}
}
