package softgen

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

type stolenStats struct {
	Stolen *float64 `json:"stolen"`
	ReadAt *float64 `json:"stolen_ts"`
}

// noProcessors is for tests with made-up stolen time.
func noProcessors() ([]machine.Processor, error) { return nil, nil }

func TestStolenTimeIsReadSeldom(t *testing.T) {
	stolenTime, asked := 3*time.Second, 0
	r := newRig(t, func(c *Config) {
		c.Processors, c.Stolen = noProcessors, func([]machine.Processor) (time.Duration,
			error) {
			asked++
			return stolenTime, nil
		}
	})
	began := r.clock.Now().Seconds()
	for _, step := range []struct {
		passes          time.Duration
		stolenTime      time.Duration
		stolen, staleBy float64
	}{
		{0, 3 * time.Second, 3, 0},
		{20 * time.Millisecond, 4 * time.Second, 3, 0.02},
		{470 * time.Millisecond, 4 * time.Second, 3, 0.49},
		{10 * time.Millisecond, 4 * time.Second, 4, 0},
	} {
		r.clock.Advance(step.passes)
		began += step.passes.Seconds()
		stolenTime = step.stolenTime
		got := succeed[stolenStats](t, r, "get_global_stats", object{})
		if got.Stolen == nil || *got.Stolen != step.stolen || got.ReadAt == nil ||
			*got.ReadAt < began-step.staleBy-1e-6 || *got.ReadAt > began-step.staleBy+1e-6 {
			t.Errorf("after %v: %+v %+v", step.passes, got.Stolen, got.ReadAt)
		}
	}
	if asked != 2 {
		t.Errorf("the kernel was asked %d times", asked)
	}
}

func TestAKernelWithoutStolenTime(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"nothing of processors": func(c *Config) {
			c.Processors = func() ([]machine.Processor, error) { return nil, errors.New("no /proc") }
		},
		"nothing of whose they are": func(c *Config) {
			c.Stolen = func([]machine.Processor) (time.Duration, error) { return 0, errors.New("no affinity") }
		},
	} {
		if got := succeed[stolenStats](t, newRig(t, change), "get_global_stats", object{}); got.Stolen != nil ||
			got.ReadAt != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestThisKernelReportsStolenTime(t *testing.T) {
	read := func() time.Duration {
		processors, err := machine.AllProcessors()
		ok(t, err)
		stolenTime, err := stolen(processors)
		ok(t, err)
		return stolenTime
	}
	first, second := read(), read()
	if first < 0 || second < first {
		t.Errorf("%v, then %v", first, second)
	}
}

type vitalStats struct {
	Processors [][]float64 `json:"processors"`
	ReadAt     *float64    `json:"processors_ts"`
}

func TestProcessorsAreReadSeldom(t *testing.T) {
	busy, asked := 3*time.Second, 0
	r := newRig(t, func(c *Config) {
		c.Processors = func() ([]machine.Processor, error) {
			asked++
			return []machine.Processor{{Number: 0}, {Number: 1, Busy: busy, SoftIRQ: time.Second,
				Stolen: 10 * time.Millisecond, Idle: time.Minute}}, nil
		}
	})
	if got := succeed[vitalStats](t, r, "get_global_stats", object{}); got.Processors != nil || got.ReadAt != nil {
		t.Errorf("nobody asked for them, and they are %v", got.Processors)
	}
	r.clock.Advance(vitalsEvery) // the vitals are read again, with the stolen time
	for _, step := range []struct{ passes, busy, want time.Duration }{
		{0, 3 * time.Second, 3 * time.Second},
		{90 * time.Millisecond, 4 * time.Second, 3 * time.Second},
		{20 * time.Millisecond, 4 * time.Second, 4 * time.Second},
	} {
		r.clock.Advance(step.passes)
		busy = step.busy
		got := succeed[vitalStats](t, r, "get_global_stats", object{"processors": true})
		if want := []float64{1, step.want.Seconds(), 1, 0.01, 60}; got.ReadAt == nil || len(got.Processors) != 2 ||
			!slices.Equal(got.Processors[1], want) {
			t.Errorf("after %v: %v at %v, want %v", step.passes, got.Processors, got.ReadAt, want)
		}
	}
	if asked != 3 {
		t.Errorf("the kernel was asked %d times", asked)
	}
}

// TestOneReadingServesStolenTimeAndProcessors: the reading behind an observer's table also serves the stolen time.
func TestOneReadingServesStolenTimeAndProcessors(t *testing.T) {
	for name, c := range map[string]struct {
		asks object
		want int // in 2 s, with a request each 20 ms
	}{
		"where nobody wants the table": {object{}, 4},
		"where an observer does":       {object{"processors": true}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			r := newRig(t, func(cfg *Config) {
				cfg.Processors = func() ([]machine.Processor, error) {
					asked++
					return []machine.Processor{{Number: 0, Stolen: time.Duration(asked) * time.Second}}, nil
				}
			})
			for range 100 {
				got := succeed[stolenStats](t, r, "get_global_stats", c.asks)
				if got.Stolen == nil || *got.Stolen <= 0 {
					t.Fatalf("the host took %v", got.Stolen)
				}
				r.clock.Advance(20 * time.Millisecond)
			}
			if asked != c.want {
				t.Errorf("the kernel was asked %d times, want %d", asked, c.want)
			}
		})
	}
}

func TestTheParameterProcessorsIsABoolean(t *testing.T) {
	newRig(t).refuses(t, "get_global_stats", object{"processors": "yes"}, wire.CodeParams,
		"'processors' is 'string', expecting 'boolean'")
}

// TestVitalSignsAreReportedOnRequest checks signs and their clock. Unrequested signs must not be read.
func TestVitalSignsAreReportedOnRequest(t *testing.T) {
	links := 0
	r := newRig(t, func(cfg *Config) {
		cfg.Signs = &machine.SignsReader{Links: func() ([]signs.Value, error) {
			links++
			return []signs.Value{{Series: "sent", Part: "west", Number: 7}}, nil
		}}
	})
	type reading struct {
		Signs []signs.Reading `json:"signs"`
	}
	if got := succeed[reading](t, r, "get_global_stats", object{}); got.Signs != nil || links != 0 {
		t.Errorf("nobody asked for %+v", got)
	}
	got := succeed[reading](t, r, "get_global_stats", object{"signs": []string{signs.Interfaces, signs.Load}}).Signs
	if len(got) != 2 || got[0].At != r.clock.Now() || len(got[0].Values) != 1 || got[0].Values[0].Number != 7 ||
		got[1].Type != signs.Load {
		t.Errorf("%+v, want the interfaces as they are now, and the load", got)
	}
	newRig(t).refuses(t, "get_global_stats", object{"signs": true}, wire.CodeParams,
		"'signs' is 'boolean', expecting 'array of strings'")
}
