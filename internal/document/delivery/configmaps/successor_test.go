package configmaps_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
)

// interrupt runs act before the request with this number, from 0, that is made meanwhile; false: there were fewer.
func (s *server) interrupt(request int, act, meanwhile func()) (acted bool) {
	s.before = func() {
		if request--; request < 0 {
			s.before, acted = nil, true
			act()
		}
	}
	meanwhile()
	s.before = nil
	return acted
}

// beginning is a run whose first runner knows an outdated version of its Progress, and has something to write.
func beginning(t *testing.T) (*server, *configmaps.Sink) {
	t.Helper()
	s := newServer()
	first := claim(t, s, "a")
	s.stored["t-progress"].ResourceVersion = "7"
	first.Post(delivery.Progress{Phase: "Ramping"})
	return s, first
}

// ofTheSecond fails unless the second runner's Progress stands, and the first one is fenced.
func ofTheSecond(t *testing.T, s *server, first *configmaps.Sink, request int) {
	t.Helper()
	if p := s.progress(t); p.RunnerUID != "b" || p.Run != 2 || len(p.LostRuns) != 1 {
		t.Errorf("interrupted at request %d: %+v", request, p)
	}
	first.Post(delivery.Progress{Phase: "Holding"})
	if err := first.Finish(t.Context(), aReport("late"), false); !errors.Is(err, delivery.ErrFenced) {
		t.Errorf("interrupted at request %d, the first one then wrote: %v", request, err)
	}
	if p := s.progress(t); p.RunnerUID != "b" {
		t.Errorf("interrupted at request %d, the first one replaced the second one's Progress by %+v", request, p)
	}
}

// Between any two requests of a runner its successor may begin, and between any two of the successor's the runner
// may write: what the successor wrote stands.
func TestWhatASuccessorWroteStandsWheneverItBegins(t *testing.T) {
	for what, play := range map[string]func(t *testing.T, request int) bool{
		"between a runner's requests": func(t *testing.T, request int) bool {
			s, first := beginning(t)
			acted := s.interrupt(request, func() { claim(t, s, "b") }, func() {
				if err := first.Finish(t.Context(), aReport("partial"), false); err != nil && !errors.Is(err, delivery.ErrFenced) {
					t.Error(err)
				}
			})
			if acted {
				ofTheSecond(t, s, first, request)
			}
			return acted
		},
		"between its own requests": func(t *testing.T, request int) bool {
			s, first := beginning(t)
			acted := s.interrupt(request, func() {
				if err := first.Finish(t.Context(), aReport("partial"), false); err != nil && !errors.Is(err, delivery.ErrFenced) {
					t.Error(err)
				}
			}, func() { claim(t, s, "b") })
			if acted {
				ofTheSecond(t, s, first, request)
			}
			return acted
		},
	} {
		t.Run(what, func(t *testing.T) {
			request := 0
			for acted := true; acted; request++ {
				synctest.Test(t, func(t *testing.T) { acted = play(t, request) })
			}
			if request < 5 {
				t.Errorf("only %d requests", request)
			}
		})
	}
}

// A successor whose marker's answer gets lost takes no second number, and says what it knows of the run before.
func TestASuccessorTakesOneNumberAndTellsHowFarTheLostRunHadCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		claim(t, s, "a")
		o := options(s, "b")
		earlier := s.progress(t)
		o.Earlier = &earlier
		s.deaf = true
		time.AfterFunc(time.Second, func() { s.set(func(s *server) { s.deaf = false }) })
		sink, err := configmaps.Claim(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if f := sink.First(); f.Run != 2 || len(f.LostRuns) != 1 || f.LostRuns[0][:len("run 1 in pod pod-a was lost in phase Preparing")] != "run 1 in pod pod-a was lost in phase Preparing" {
			t.Errorf("it claimed as %+v", f)
		}
		if s.stored["t-run-3"] != nil {
			t.Error("it took the number of a third run")
		}
	})
}

// A policy that finds a document Invalid says nothing of a final Report.
func TestADocumentThatAPolicyRefusesIsNoFinalReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		sink := claim(t, s, "a")
		s.unfit = true
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := sink.Finish(ctx, aReport("x"), true); err == nil || errors.Is(err, configmaps.ErrReported) {
			t.Errorf("Finish ended with %v", err)
		}
		ctx, stop = context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := configmaps.Claim(ctx, options(s, "b")); err == nil || errors.Is(err, configmaps.ErrReported) {
			t.Errorf("the claim ended with %v", err)
		}
	})
}
