package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
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

// passes are the operator's passes by how long they took, and how long tests waited for one: Prometheus' cumulative buckets.
type passes struct{ took, waited []bucket }

// quiet is how long no pass may have ended for all to be done.
const quiet = 5 * time.Second

// settled waits until the manager has nothing more to do.
func (m *manager) settled(ctx context.Context) (p passes, err error) {
	ended, since := -1.0, time.Now()
	err = await(ctx, func() (bool, error) {
		if p, err = m.passes(ctx); err != nil {
			return false, err
		}
		if n := p.took[len(p.took)-1].count; n != ended {
			ended, since = n, time.Now()
		}
		return time.Since(since) > quiet, m.alive()
	})
	return p, err
}

// passes reads what the manager tells Prometheus.
func (m *manager) passes(ctx context.Context) (p passes, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, nil)
	if err != nil {
		return p, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return p, err
	}
	defer func() { _ = response.Body.Close() }() // all was read
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		p.took = appendBucket(p.took, lines.Text(), `controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",`)
		p.waited = appendBucket(p.waited, lines.Text(), `workqueue_queue_duration_seconds_bucket{controller="loadtest",name="loadtest",`)
	}
	if len(p.took) == 0 {
		return p, fmt.Errorf("%s says nothing of reconcile times", m.metrics)
	}
	for _, buckets := range [][]bucket{p.took, p.waited} {
		slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.atMost, b.atMost) })
	}
	return p, lines.Err()
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
	var below bucket
	for _, b := range buckets {
		if b.count >= rank {
			if b.atMost == math.MaxInt64 || b.count == below.count {
				return below.atMost
			}
			return below.atMost + time.Duration(float64(b.atMost-below.atMost)*(rank-below.count)/(b.count-below.count))
		}
		below = b
	}
	return below.atMost
}

// shareWithin is the share of the passes up to a bound that is one of the buckets'; the bounds are off by what a float64 is.
func shareWithin(buckets []bucket, bound time.Duration) float64 {
	for _, b := range buckets {
		if b.atMost >= bound-time.Microsecond {
			return b.count / buckets[len(buckets)-1].count
		}
	}
	return 0
}
