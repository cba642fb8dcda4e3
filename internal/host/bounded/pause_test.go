package bounded_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

func TestAPauseLastsNoLongerThanItsContext(t *testing.T) {
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		asked, until, takes time.Duration // until: when the context ends; 0: never, less: before
		err                 error
	}{
		"its time":                         {time.Second, 0, time.Second, nil},
		"none":                             {0, 0, 0, nil},
		"a moment that has passed":         {-time.Hour, 0, 0, nil},
		"the context ends":                 {time.Hour, time.Second, time.Second, stopped},
		"it had ended":                     {time.Hour, -1, 0, stopped},
		"it had ended, and no time is due": {-time.Hour, -1, 0, stopped},
	} {
		for kind, wait := range map[string]func(context.Context, time.Duration) error{
			"for":   bounded.Pause,
			"until": func(ctx context.Context, d time.Duration) error { return bounded.PauseUntil(ctx, time.Now().Add(d)) },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, stop := context.WithCancelCause(t.Context())
					switch {
					case c.until < 0:
						stop(stopped)
					case c.until > 0:
						time.AfterFunc(c.until, func() { stop(stopped) })
					}
					began := time.Now()
					err := wait(ctx, c.asked)
					if took := time.Since(began); took != c.takes || !errors.Is(err, c.err) || c.err == nil && err != nil {
						t.Errorf("%v after %v, want %v after %v", err, took, c.err, c.takes)
					}
					stop(nil)
				})
			})
		}
	}
}
