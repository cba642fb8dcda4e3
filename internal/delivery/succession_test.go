package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/delivery"
)

func TestSucceed(t *testing.T) {
	mine := delivery.Progress{Attempt: 2, Runner: "new", RunnerUID: "2"}
	earlier := func(attempt, run int, lost ...string) *delivery.Progress {
		return &delivery.Progress{Attempt: attempt, Run: run, Runner: "old", RunnerUID: "1", Phase: "Ramping", Percent: 42, At: time.Unix(1e9, 0), LostRuns: lost}
	}
	tests := map[string]struct {
		earlier *delivery.Progress
		run     int
		lost    int
	}{
		"the first runner of all":                            {nil, 1, 0},
		"the first runner of a later attempt":                {earlier(1, 3, "x"), 1, 0},
		"the second runner of an attempt":                    {earlier(2, 1), 2, 1},
		"the third runner of an attempt remembers the first": {earlier(2, 2, "run 1 was lost"), 3, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := delivery.Succeed(tt.earlier, mine)
			if err != nil || got.Run != tt.run || len(got.LostRuns) != tt.lost || got.RunnerUID != "2" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	t.Run("what became of the earlier run is told", func(t *testing.T) {
		got, _ := delivery.Succeed(earlier(2, 1), mine)
		if want := "run 1 in pod old was lost in phase Ramping at 42 %; it was last heard of at 2001-09-09T01:46:40Z"; got.LostRuns[0] != want {
			t.Errorf("got %q", got.LostRuns[0])
		}
	})
	t.Run("a runner of an earlier attempt gives way", func(t *testing.T) {
		_, err := delivery.Succeed(earlier(3, 1), mine)
		if !errors.Is(err, delivery.ErrFenced) || !strings.Contains(err.Error(), "attempt 3") {
			t.Errorf("got %v", err)
		}
	})
}

func TestDueAfter(t *testing.T) {
	a, b := delivery.Progress{Phase: "Ramping"}, delivery.Progress{Phase: "Holding"}
	if phase, same := delivery.DueAfter(a, b), delivery.DueAfter(a, a); phase != 5*time.Second || same != 10*time.Second {
		t.Errorf("a change of phase after %s, else after %s", phase, same)
	}
}
