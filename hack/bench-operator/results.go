package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results are what was measured.
type results struct {
	options               options
	loadBefore, loadAfter string
	jobs, tests           carried
	passes                passes
	memory                int64 // bytes, the most
	processorTime         time.Duration
	requests              requests
}

// The targets.
const (
	mostRequests = 60.0
	mostPass     = 50 * time.Millisecond
	mostMemory   = 200e6
)

// target is a figure with the most that it may be.
type target struct {
	what, got, most string
	met             bool
}

func (r *results) targets() []target {
	asked := r.perTest(r.requests.by(byManager) + r.requests.by(byRunners))
	pass := quantileOf(r.passes.took, 0.99)
	return []target{
		{"API requests per test, of manager and runner, with events", fmt.Sprintf("%.1f", asked), fmt.Sprintf("%.0f", mostRequests), asked <= mostRequests},
		{"99th percentile of a pass of the operator", milliseconds(pass), milliseconds(mostPass), pass <= mostPass},
		{"peak memory of the manager (VmHWM)", fmt.Sprintf("%.0f MB", float64(r.memory)/1e6), fmt.Sprintf("%.0f MB", mostMemory/1e6), r.memory <= mostMemory},
	}
}

func (r *results) missed() bool {
	return slices.ContainsFunc(r.targets(), func(t target) bool { return !t.met })
}

func (r *results) perTest(n int) float64 { return float64(n) / float64(r.options.tests) }

// text is all of it, as Markdown.
func (r *results) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d LoadTests of %s and as many Jobs before, %g applied in a second; %d processors, load average %s before and %s after\n\n",
		r.options.tests, r.options.duration, r.options.rate, runtime.NumCPU(), r.loadBefore, r.loadAfter)
	b.WriteString("| Target | Measured | At most | |\n|---|---:|---:|---|\n")
	for _, t := range r.targets() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.what, t.got, t.most, map[bool]string{true: "met", false: "**missed**"}[t.met])
	}
	b.WriteString("\n| | LoadTests | plain Jobs |\n|---|---:|---:|\n")
	r.compare(&b)
	b.WriteString("\n| Requests | per test | refused | median | 99th percentile |\n|---|---:|---:|---:|---:|\n")
	r.detail(&b)
	return b.String()
}

func (r *results) compare(b *strings.Builder) {
	row := func(what string, figure func(carried) string) {
		fmt.Fprintf(b, "| %s | %s | %s |\n", what, figure(r.tests), figure(r.jobs))
	}
	row("from the first applied to the last complete", func(c carried) string { return fmt.Sprintf("%.1f s", c.done.Sub(c.from).Seconds()) })
	row("per second", func(c carried) string { return fmt.Sprintf("%.2f", float64(len(c.took))/c.done.Sub(c.from).Seconds()) })
	for _, q := range []struct {
		name string
		q    float64
	}{{"median", 0.5}, {"99th percentile", 0.99}} {
		row("from apply to Complete beyond its duration, "+q.name, func(c carried) string {
			return fmt.Sprintf("%.2f s", (quantile(c.took, q.q) - r.options.duration).Seconds())
		})
	}
	fmt.Fprintf(b, "| requests of manager and runner each | %.1f + %.1f | – |\n", r.perTest(r.requests.by(byManager)), r.perTest(r.requests.by(byRunners)))
	fmt.Fprintf(b, "| requests of kube-controller-manager each | %.1f | %.1f |\n", r.perTest(r.requests.by(forTests)), r.perTest(r.requests.by(forJobs)))
	count := r.passes.took[len(r.passes.took)-1].count
	fmt.Fprintf(b, "| passes each | %.1f | |\n", count/float64(r.options.tests))
	fmt.Fprintf(b, "| a pass: median, 90th percentile | %s, %s | |\n", milliseconds(quantileOf(r.passes.took, 0.5)), milliseconds(quantileOf(r.passes.took, 0.9)))
	fmt.Fprintf(b, "| passes that took at most %s | %.1f %% | |\n", milliseconds(mostPass), 100*shareWithin(r.passes.took, mostPass))
	fmt.Fprintf(b, "| passes that were waited for at most 100 ms | %.1f %% | |\n", 100*shareWithin(r.passes.waited, 100*time.Millisecond))
	fmt.Fprintf(b, "| the manager's processor time each | %s | |\n", milliseconds(r.processorTime/time.Duration(r.options.tests)))
}

func (r *results) detail(b *strings.Builder) {
	kinds := slices.SortedFunc(maps.Keys(r.requests), func(x, y request) int {
		return cmp.Or(cmp.Compare(x.who, y.who), cmp.Compare(len(r.requests[y].took), len(r.requests[x].took)), cmp.Compare(x.what, y.what))
	})
	for _, kind := range kinds {
		a := r.requests[kind]
		fmt.Fprintf(b, "| %s: %s | %.2f | %d | %s | %s |\n", kind.who, kind.what, r.perTest(len(a.took)), a.refused,
			milliseconds(quantile(a.took, 0.5)), milliseconds(quantile(a.took, 0.99)))
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
