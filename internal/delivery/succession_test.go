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
	if phase, same := delivery.DueAfter(a, b), delivery.DueAfter(a, a); phase != 10*time.Second || same != 20*time.Second {
		t.Errorf("a change of phase after %s, else after %s", phase, same)
	}
	if ended := delivery.DueAfter(a, delivery.Progress{Phase: "Draining"}); ended != 20*time.Second {
		t.Errorf("the end of the traffic after %s", ended)
	}
}

// What a run of a minute through all phases costs the API server between the claim and the Report, as Sink writes it: what was told last, when it is due.
func TestARunOfAMinuteIsToldFiveTimes(t *testing.T) {
	phases := []struct {
		name  string
		until int // seconds
	}{{"Preparing", 1}, {"ProvingPath", 3}, {"Listening", 5}, {"WarmUp", 11}, {"Ramping", 36}, {"Refining", 47}, {"Confirming", 58}, {"Draining", 60}}
	var written delivery.Progress
	at, writes, phase := 0, 0, 0
	for second := range 60 {
		for second >= phases[phase].until {
			phase++
		}
		told := delivery.Progress{Phase: phases[phase].name, Percent: second}
		if due := time.Duration(second-at) * time.Second; due >= delivery.DueAfter(written, told) {
			written, at, writes = told, second, writes+1
		}
	}
	if writes++; writes != 5 { // what was told last stands before the Report is written
		t.Errorf("%d times", writes)
	}
}
