package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/pages/published"
)

// passesOf are so many passes, each of which took so long.
func passesOf(bound time.Duration, count float64) passes {
	buckets := []bucket{{10 * time.Millisecond, 0}, {50 * time.Millisecond, 0}, {200 * time.Millisecond, 0}, {math.MaxInt64, count}}
	for i := range buckets {
		if buckets[i].atMost >= bound {
			buckets[i].count = count
		}
	}
	return passes{took: buckets, waited: buckets, sum: time.Duration(count) * bound}
}

// aResult is of ten tests, of which each pass took 10 ms.
func aResult() *results {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	done := carried{firstApplied: noon, lastComplete: noon.Add(20 * time.Second), quiet: noon.Add(25 * time.Second), took: []time.Duration{time.Minute, time.Minute + time.Second}}
	return &results{
		options: options{tests: 10, duration: time.Minute, rate: 6, jobRate: 10}, jobs: done, tests: done, memory: 52e6,
		passes: byController{carrying: passesOf(10*time.Millisecond, 150)},
		usages: usages{"manager": {500 * time.Millisecond, 100 * time.Millisecond}, players: {time.Second, 0}},
		requests: requests{
			request{byManager, "create pods"}: {took: make([]time.Duration, 120)}, request{byRunners, "update configmaps"}: {took: make([]time.Duration, 100)},
			statusPatch: {took: slices.Repeat([]time.Duration{8 * time.Millisecond}, 80)},
		},
	}
}

func TestResultsTellWhetherTargetsAreMet(t *testing.T) {
	r := aResult()
	if r.missed() {
		t.Errorf("nothing is missed:\n%s", r.text())
	}
	for what, spoil := range map[string]func(*results){
		"requests": func(r *results) {
			r.requests[request{byRunners, "create configmaps"}] = &asked{took: make([]time.Duration, 1)}
		},
		"no runner": func(r *results) { delete(r.requests, request{byRunners, "update configmaps"}) },
		"a pass":    func(r *results) { r.passes[carrying] = passesOf(200*time.Millisecond, 10) },
		"memory":    func(r *results) { r.memory = 151e6 },
	} {
		r := aResult()
		spoil(r)
		if !r.missed() || strings.Count(r.text(), "**missed**") != 1 {
			t.Errorf("%s: too much of it isn't printed:\n%s", what, r.text())
		}
	}
}

// TestThePageHasAPartForEachKindOfRun: docs/measured/scale.md has the marks that -markdown writes between.
func TestThePageHasAPartForEachKindOfRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/measured/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "scale.md")
	if err := os.WriteFile(copied, page, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []options{{}, {scarce: 50}, {scarce: 100, gather: true}, {scarce: 100, suite: true}} {
		if err := published.Section(copied, o.part(), o.part()+" was measured\n"); err != nil {
			t.Error(err)
		}
	}
	written, err := os.ReadFile(copied)
	if err != nil || strings.Count(string(written), " was measured\n") != 4 {
		t.Errorf("%v: a kind of run writes another's part:\n%s", err, written)
	}
}

func TestResultsTellOfPassesAndOfAllPrograms(t *testing.T) {
	text := aResult().text()
	for _, row := range []string{
		"| API requests per test, of manager and runner, with events | 20.0 + 10.0 | 30 | met |",
		"| for each test | 15.0 | – |",
		"| mean | 10.0 ms | – |",
		"| took at most 50.0 ms | 100.0 % | – |",
		"| the manager's processor time each | 50.0 ms | – |",
		"| 99th percentile of a pass of a test, in 99th percentiles of a status patch by itself | 1.2 | 2.0 | met |",
		"| **manager** | **20.00** | | | |",
		"| manager: create pods | 12.00 | 0 | 0.0 ms | 0.0 ms |",
		"| manager: patch loadtests/status | 8.00 | 0 | 8.0 ms | 8.0 ms |",
		"| **runners** | **10.00** | | | |",
	} {
		if !strings.Contains(text, row+"\n") {
			t.Errorf("there is no row\n%s\nin\n%s", row, text)
		}
	}
	if first, second := strings.Index(text, "| "+players), strings.Index(text, "| manager | 0.5 s |"); first < 0 || second < first {
		t.Errorf("the programs aren't printed, or not sorted by processor time:\n%s", text)
	}
}
