package configmaps_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
)

func TestARunnerThatMayNotWriteAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		final bool
		most  time.Duration
	}{
		"gives up soon once it was told to end":         {false, 5 * time.Second},
		"insists while its Report is one that is whole": {true, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				sink, err := configmaps.Claim(t.Context(), options(s, "a"))
				if err != nil {
					t.Fatal(err)
				}
				s.set(func(s *server) { s.deny = true })
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				begin := time.Now()
				if err := sink.Finish(ctx, aReport("x"), c.final); err == nil {
					t.Error("it says that the Report stands")
				}
				if took := time.Since(begin); took > c.most || took < c.most/2 {
					t.Errorf("it took %v, want about %v", took, c.most)
				}
			})
		})
	}
	t.Run("a runner writes once it may write again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink, err := configmaps.Claim(t.Context(), options(s, "a"))
			if err != nil {
				t.Fatal(err)
			}
			s.set(func(s *server) { s.deny = true })
			time.AfterFunc(2*time.Second, func() { s.set(func(s *server) { s.deny = false }) })
			if err := sink.Finish(t.Context(), aReport("x"), false); err != nil {
				t.Error(err)
			}
		})
	})
}
