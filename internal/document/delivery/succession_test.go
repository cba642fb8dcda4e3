package delivery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

func TestSucceed(t *testing.T) {
	const unheard = "run 1 was lost, and how far it had come isn't known"
	const heard = "run 1 in pod old was lost in phase Ramping at 42 %; it was last heard of at 2001-09-09T01:46:40Z"
	earlier := func(attempt, run int, lost ...string) *delivery.Progress {
		return &delivery.Progress{Attempt: attempt, Run: run, Runner: "old", RunnerUID: "1", Phase: "Ramping", Percent: 42, UpdateTime: time.Unix(1e9, 0), LostRuns: lost}
	}
	for name, c := range map[string]struct {
		earlier *delivery.Progress
		run     int
		lost    []string
	}{
		"the first runner of all":                            {nil, 1, nil},
		"the first runner of a later attempt":                {earlier(1, 3, "x"), 1, nil},
		"the second runner of an attempt":                    {earlier(2, 1), 2, []string{heard}},
		"the third runner of an attempt remembers the first": {earlier(2, 2, unheard), 3, []string{unheard, strings.Replace(heard, "run 1", "run 2", 1)}},
		"the second runner, of which nobody says what was":   {nil, 2, []string{unheard}},
		"the third, which knows of the first":                {earlier(2, 1), 3, []string{heard, strings.Replace(unheard, "run 1", "run 2", 1)}},
		"one that finds what a later one left":               {earlier(2, 3), 2, []string{unheard}},
	} {
		t.Run(name, func(t *testing.T) {
			got := delivery.Succeed(c.earlier, delivery.Progress{Attempt: 2, Run: c.run, Runner: "new", RunnerUID: "2"})
			if got.Run != c.run || !slices.Equal(got.LostRuns, c.lost) || got.RunnerUID != "2" {
				t.Errorf("got %+v", got)
			}
		})
	}
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

// What a run of a minute through all phases costs the API server between the claim and the Report, as Sink writes
// it: what was told last, when it is due.
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
