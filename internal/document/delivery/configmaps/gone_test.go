package configmaps_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
)

// The operator deletes what a run left when its test is gone: the runner that still measures for it ends, and
// writes nothing.
func TestARunnerWhoseTestIsGoneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		sink := claim(t, s, "a")
		s.set(func(s *server) { clear(s.stored) })
		stop := keep(t.Context(), sink)
		sink.Post(delivery.Progress{Phase: "Ramping"})
		time.Sleep(11 * time.Second)
		if err := stop(); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("Keep ended with %v", err)
		}
		if err := sink.Finish(t.Context(), aReport("of nobody's"), true); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("Finish ended with %v", err)
		}
		if len(s.stored) != 0 {
			t.Errorf("it made %d ConfigMaps", len(s.stored))
		}
	})
}

func TestEachDocumentIsSignedByWhoWroteIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		_ = claim(t, s, "a")
		second, err := configmaps.Claim(t.Context(), options(s, "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Finish(t.Context(), aReport("x"), true); err != nil {
			t.Fatal(err)
		}
		if _, e := s.report(t); e.Runner != "pod-b" || e.RunnerUID != "b" {
			t.Errorf("the Report is signed by %s with UID %s", e.Runner, e.RunnerUID)
		}
		if pod, uid := delivery.SignedBy(s.stored["t-progress"].Annotations); pod != "pod-b" || uid != "b" {
			t.Errorf("the Progress is signed by %s with UID %s", pod, uid)
		}
	})
}
