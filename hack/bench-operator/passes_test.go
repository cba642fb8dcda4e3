package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

const told = `# TYPE controller_runtime_reconcile_time_seconds histogram
controller_runtime_reconcile_time_seconds_bucket{controller="loadtestsuite",le="0.1"} 2
controller_runtime_reconcile_time_seconds_bucket{controller="loadtestsuite",le="0.2"} 4
controller_runtime_reconcile_time_seconds_bucket{controller="loadtestsuite",le="+Inf"} 4
controller_runtime_reconcile_time_seconds_sum{controller="loadtestsuite"} 0.5
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="0.2"} 100
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="+Inf"} 100
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="0.1"} 90
controller_runtime_reconcile_time_seconds_sum{controller="loadtest"} 4
workqueue_queue_duration_seconds_bucket{controller="loadtest",name="loadtest",le="0.1"} 99
workqueue_queue_duration_seconds_bucket{controller="loadtest",name="loadtest",le="+Inf"} 100
workqueue_queue_duration_seconds_bucket{controller="loadtest",name="other",le="0.1"} 7
`

func TestPassesAreReadByController(t *testing.T) {
	all := byController{carrying: parsePasses(told, carrying), ofSuite: parsePasses(told, ofSuite)}
	for what, c := range map[string]struct{ got, want float64 }{
		"passes of tests":              {all[carrying].count(), 100},
		"passes of the suite":          {all[ofSuite].count(), 4},
		"seconds of tests":             {all[carrying].sum.Seconds(), 4},
		"within 100 ms, of tests":      {shareWithin(all[carrying].took, 100*time.Millisecond), 0.9},
		"waited for at most 100 ms":    {shareWithin(all[carrying].waited, 100*time.Millisecond), 0.99},
		"of a controller that isn't":   {parsePasses(told, "nobody").count(), 0},
		"within a bound that has none": {shareWithin(nil, time.Second), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
}

func TestPassesAreReadByRule(t *testing.T) {
	rules := parseRules(`linerate_pass_duration_seconds_bucket{rule="running",le="0.05"} 9
linerate_pass_duration_seconds_bucket{rule="running",le="+Inf"} 10
linerate_pass_duration_seconds_sum{rule="running"} 0.3
linerate_pass_duration_seconds_count{rule="running"} 10
linerate_pass_duration_seconds_bucket{rule="finished",le="0.05"} 4
linerate_pass_duration_seconds_bucket{rule="finished",le="+Inf"} 4
linerate_pass_duration_seconds_count{rule="finished"} 4
`)
	r := results{rules: rules}
	var b strings.Builder
	r.byRule(&b)
	if len(rules) != 2 || rules["finished"].count() != 4 || b.String() != "| running | 10 | 27.8 ms | 50.0 ms | 1 |\n" {
		t.Errorf("%v is printed as:\n%s", rules, b.String())
	}
}

func TestQuantilesLieBetweenBounds(t *testing.T) {
	// 10 passes up to 10 ms, 80 more up to 20 ms, 9 more up to 100 ms, and one beyond.
	buckets := []bucket{{10 * time.Millisecond, 10}, {20 * time.Millisecond, 90}, {100 * time.Millisecond, 99}, {math.MaxInt64, 100}}
	for q, want := range map[float64]time.Duration{
		0.1: 10 * time.Millisecond, 0.5: 15 * time.Millisecond, 0.9: 20 * time.Millisecond, 0.99: 100 * time.Millisecond,
		1: 100 * time.Millisecond, // more isn't known of the last one: the highest bound
	} {
		if got := quantileOf(buckets, q); got != want {
			t.Errorf("the %v quantile is %s, want %s", q, got, want)
		}
	}
	if got := quantileOf(nil, 0.5); got != 0 {
		t.Errorf("of nothing it is %s", got)
	}
}

func TestQuantilesOfTimes(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := quantile(times, q); got != want {
			t.Errorf("the %v quantile is %d, want %d", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing it is %s", got)
	}
}
