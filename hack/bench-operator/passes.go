package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bucket counts the passes that took at most so long.
type bucket struct {
	atMost time.Duration // math.MaxInt64: any time
	count  float64
}

// passes are those of a controller by how long they took, and how long tests waited for one: Prometheus'
// cumulative buckets.
type passes struct {
	took, waited []bucket
	sum          time.Duration // of all that they took
}

// count is how many there were.
func (p passes) count() float64 {
	if len(p.took) == 0 {
		return 0
	}
	return p.took[len(p.took)-1].count
}

// The operator's controllers: one carries tests on, another looks after suites.
const (
	carrying = "loadtest"
	ofSuite  = "loadtestsuite"
)

// byController are the passes of all.
type byController map[string]passes

// byRule are the passes of tests by the rule that decided.
type byRule map[string]passes

// parseRules reads them from the manager's metrics.
func parseRules(text string) byRule {
	rules := byRule{}
	for line := range strings.Lines(text) {
		if rest, ours := strings.CutPrefix(line, `linerate_pass_duration_seconds_count{rule="`); ours {
			rule, _, _ := strings.Cut(rest, `"`)
			p := passes{}
			for line := range strings.Lines(text) {
				p.took = appendBucket(p.took, strings.TrimSpace(line),
					fmt.Sprintf("linerate_pass_duration_seconds_bucket{rule=%q,", rule))
			}
			slices.SortFunc(p.took, func(a, b bucket) int { return cmp.Compare(a.atMost, b.atMost) })
			rules[rule] = p
		}
	}
	return rules
}

// quiet is how long no pass may have ended for all to be done.
const quiet = 5 * time.Second

// settled waits until the manager has nothing more to do.
func (m *manager) settled(ctx context.Context) (p byController, rules byRule, err error) {
	ended, begin := -1.0, time.Now()
	err = await(ctx, func() (bool, error) {
		if p, rules, err = m.passes(ctx); err != nil {
			return false, err
		}
		if n := p[carrying].count(); n != ended {
			ended, begin = n, time.Now()
		}
		return time.Since(begin) > quiet, m.alive()
	})
	return p, rules, err
}

// passes reads the manager's metrics.
func (m *manager) passes(ctx context.Context) (byController, byRule, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }() // all was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	controllers := byController{}
	if controllers[carrying] = parsePasses(string(text), carrying); controllers[carrying].count() == 0 {
		return nil, nil, fmt.Errorf("%s says nothing of passes of the controller %q", m.metrics, carrying)
	}
	controllers[ofSuite] = parsePasses(string(text), ofSuite) // none where there is no suite
	return controllers, parseRules(string(text)), nil
}

// parsePasses reads a controller's passes from the manager's metrics.
func parsePasses(text, controller string) (p passes) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		p.took = appendBucket(p.took, line, fmt.Sprintf("controller_runtime_reconcile_time_seconds_bucket{controller=%q,", controller))
		p.waited = appendBucket(p.waited, line,
			fmt.Sprintf("workqueue_queue_duration_seconds_bucket{controller=%q,name=%q,", controller, controller))
		if value, ours := strings.CutPrefix(line,
			fmt.Sprintf("controller_runtime_reconcile_time_seconds_sum{controller=%q} ", controller)); ours {
			seconds, err := strconv.ParseFloat(value, 64)
			if err == nil {
				p.sum = time.Duration(seconds * float64(time.Second))
			}
		}
	}
	for _, buckets := range [][]bucket{p.took, p.waited} {
		slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.atMost, b.atMost) })
	}
	return p
}

// appendBucket reads a line such as `NAME_bucket{controller="x",le="0.05"} 17`.
func appendBucket(buckets []bucket, line, prefix string) []bucket {
	rest, ours := strings.CutPrefix(line, prefix+`le="`)
	bound, count, whole := strings.Cut(rest, `"} `)
	if !ours || !whole {
		return buckets
	}
	seconds, err := strconv.ParseFloat(bound, 64)
	n, err2 := strconv.ParseFloat(count, 64)
	if err != nil || err2 != nil {
		return buckets
	}
	atMost := time.Duration(math.MaxInt64)
	if !math.IsInf(seconds, 1) {
		atMost = time.Duration(seconds * float64(time.Second))
	}
	return append(buckets, bucket{atMost, n})
}

// quantileOf lies between two bounds, and is taken to be where it were if the passes between them were spread evenly.
func quantileOf(buckets []bucket, q float64) time.Duration {
	if len(buckets) == 0 {
		return 0
	}
	rank := q * buckets[len(buckets)-1].count
	var lower bucket
	for _, b := range buckets {
		if b.count >= rank {
			if b.atMost == math.MaxInt64 || b.count == lower.count {
				return lower.atMost
			}
			return lower.atMost + time.Duration(float64(b.atMost-lower.atMost)*(rank-lower.count)/(b.count-lower.count))
		}
		lower = b
	}
	return lower.atMost
}

// shareWithin is the share of the passes up to a bound that is one of the buckets'; the bounds are off by what
// a float64 is.
func shareWithin(buckets []bucket, bound time.Duration) float64 {
	for _, b := range buckets {
		if b.atMost >= bound-time.Microsecond {
			return b.count / buckets[len(buckets)-1].count
		}
	}
	return 0
}
