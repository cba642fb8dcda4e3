package observe_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// host is a machine whose thread napi/dut-1 waits half of all time, for sh; each answer takes a while.
type host struct {
	began  time.Time
	takes  time.Duration
	broken error
}

func (h *host) read(ctx context.Context) (machine.Reading, error) {
	select {
	case <-time.After(h.takes):
	case <-ctx.Done():
		return machine.Reading{}, context.Cause(ctx)
	}
	at := time.Since(h.began)
	return machine.Reading{At: at, Processors: []machine.Processor{{Number: 1, Busy: at}},
		Threads:   []machine.Thread{{ID: 12, Name: "napi/dut-1", Role: machine.Carries, Processor: 1, Waited: at / 2}},
		Processes: []machine.Process{{PID: 4711, Name: "sh", Processor: 1, Ran: at / 2}}}, h.broken
}

func TestWhatDisturbedIsOfTheTimeAroundAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{began: time.Now(), takes: 10 * time.Millisecond}
		m := observe.FollowDisturbance(h.read, nil)
		if err := m.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		edge := time.Now().Add(2 * time.Second)
		m.ReadBefore(t.Context(), edge)
		if late := time.Since(edge); late > 0 {
			t.Errorf("the window's first edge was held up for %s", late)
		}
		time.Sleep(time.Until(edge) + time.Second/2)
		if so := m.SoFar(t.Context()); so.Over.Std() < time.Second/2 || so.Over.Std() > time.Second/2+2*observe.Lead {
			t.Errorf("half a second into the window it is of %s", so.Over.Std())
		}
		time.Sleep(time.Until(edge) + time.Second)
		d := m.ReadAfter(t.Context())
		if over := d.Over.Std(); over < time.Second || over > time.Second+2*observe.Lead || d.Waited.Std() != over/2 {
			t.Errorf("waited %s of %s, want half of a second and a little", d.Waited.Std(), over)
		}
		time.Sleep(time.Second)
		if d := m.ReadAfter(t.Context()); d.Over.Std() != time.Second+h.takes {
			t.Errorf("the next window, without a reading before it, is of %s; want it from the last reading on", d.Over.Std())
		}
	})
}

func TestAMachineThatDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*host)
		missing string
	}{
		"in time":      {func(h *host) { h.takes = time.Minute }, "deadline exceeded"},
		"for a reason": {func(h *host) { h.broken = errors.New("no /proc") }, "no /proc"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{began: time.Now(), takes: 10 * time.Millisecond}
				m := observe.FollowDisturbance(h.read, nil)
				if err := m.Begin(t.Context()); err != nil {
					t.Fatal(err)
				}
				c.change(h)
				began := time.Now()
				if d := m.ReadAfter(t.Context()); d == nil || !strings.Contains(d.Missing, c.missing) || time.Since(began) > 2*time.Second {
					t.Errorf("after %s: %+v, want it missing for %q within a second", time.Since(began), d, c.missing)
				}
			})
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := observe.FollowDisturbance((&host{began: time.Now()}).read, nil)
	if d := m.ReadAfter(ended); d != nil {
		t.Errorf("of a run that has ended it says %+v", d)
	}
}

func TestWhereNobodyCanTellNothingIsTold(t *testing.T) {
	for name, read := range map[string]func(context.Context) (machine.Reading, error){
		"nobody looks":                  nil,
		"a kernel that counts no waits": (&host{began: time.Now(), broken: errors.New("this kernel counts no waits")}).read,
	} {
		m := observe.FollowDisturbance(read, nil)
		if err := m.Begin(t.Context()); (err != nil) != (read != nil) {
			t.Errorf("%s: %v", name, err)
		}
		m.ReadBefore(t.Context(), time.Now().Add(time.Millisecond))
		if d := m.ReadAfter(t.Context()); d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
