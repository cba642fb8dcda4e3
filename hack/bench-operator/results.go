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
	passes                byController
	rules                 byRule
	memory                int64  // bytes, the most
	usages                usages // while LoadTests were carried
	requests              requests
	scarce                *scarcity // nil: devices weren't
	suite                 []stored  // nil: there was none
}

// The targets. How long a pass takes depends on the machine, and above all on its API server. So a pass is
// compared with a status patch of the same run, the dearest request of most passes.
const (
	mostRequests  = 30.0
	mostInLine    = 45.0 // for a test whose status shows its place in line before
	mostPassRatio = 2.0
	mostMemory    = 150e6
	mostIdle      = 0.1
)

// longPass is how long few passes take on a machine such as that of docs/measured/scale.md.
const longPass = 50 * time.Millisecond

// statusPatch is the request that a pass is held against.
var statusPatch = request{byManager, "patch loadtests/status"}

// target is a figure with the most that it may be.
type target struct {
	name, got, limit string
	met              bool
}

func (r *results) targets() []target {
	manager, runners := r.perTest(r.requests.countBy(byManager)), r.perTest(r.requests.countBy(byRunners))
	limit := mostRequests
	if r.scarce != nil {
		limit = mostInLine
	}
	targets := []target{
		{"API requests per test, of manager and runner, with events", fmt.Sprintf("%.1f + %.1f", manager, runners),
			fmt.Sprintf("%.0f", limit),
			// each runner writes Progress and Report: fewer than one request of a runner means that one wasn't counted
			runners >= 1 && manager+runners <= limit},
		{"99th percentile of a pass of a test, in 99th percentiles of a status patch by itself",
			fmt.Sprintf("%.1f", r.passRatio()), fmt.Sprintf("%.1f", mostPassRatio), r.passRatio() <= mostPassRatio},
		{"peak memory of the manager (VmHWM)", fmt.Sprintf("%.0f MB", float64(r.memory)/1e6),
			fmt.Sprintf("%.0f MB", mostMemory/1e6), r.memory <= mostMemory},
	}
	if r.scarce != nil {
		share := r.scarce.share()
		targets = append(targets, target{"devices idle while tests wait", fmt.Sprintf("%.1f %%", 100*(1-share)),
			fmt.Sprintf("%.0f %%", 100*mostIdle), share >= 1-mostIdle})
	}
	return targets
}

// passRatio is how many times as long a pass of a test takes as a status patch by itself, both at their 99th
// percentile; 0: no status was patched.
func (r *results) passRatio() float64 {
	patches := r.requests[statusPatch]
	if patches == nil || quantile(patches.took, 0.99) == 0 {
		return 0
	}
	return float64(quantileOf(r.passes[carrying].took, 0.99)) / float64(quantile(patches.took, 0.99))
}

func (r *results) missed() bool {
	return slices.ContainsFunc(r.targets(), func(t target) bool { return !t.met })
}

func (r *results) perTest(n int) float64 { return float64(n) / float64(r.options.tests) }

// text is all of it, as Markdown.
func (r *results) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d LoadTests of %s, %s; %d processors, load average %s before and %s after\n\n",
		r.options.tests, r.options.duration, r.options.describe(), runtime.NumCPU(), r.loadBefore, r.loadAfter)
	b.WriteString("| Target | Measured | At most | |\n|---|---:|---:|---|\n")
	for _, t := range r.targets() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.name, t.got, t.limit, map[bool]string{true: "met",
			false: "**missed**"}[t.met])
	}
	if r.scarce != nil {
		r.scarce.tell(&b)
	}
	b.WriteString("\n| | LoadTests | plain Jobs |\n|---|---:|---:|\n")
	r.compare(&b)
	if r.suite != nil {
		tellStored(&b, r.suite)
	}
	b.WriteString("\n| Passes | of tests | of the suite |\n|---|---:|---:|\n")
	r.comparePasses(&b)
	b.WriteString("\n| Passes of tests, by the rule that decided | of them | median | 99th percentile | took over " +
		milliseconds(longPass) + " |\n|---|---:|---:|---:|---:|\n")
	r.byRule(&b)
	b.WriteString("\n| Processors, while LoadTests were carried | used | of the machine | waited for one |\n|---|---:|---:|---:|\n")
	r.shares(&b)
	b.WriteString("\n| The ledger of requests | per test | refused | median | 99th percentile |\n|---|---:|---:|---:|---:|\n")
	r.ledger(&b)
	return b.String()
}

func (r *results) compare(b *strings.Builder) {
	row := func(label string, figure func(carried) string) {
		jobs := "–"
		if len(r.jobs.took) > 0 {
			jobs = figure(r.jobs)
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", label, figure(r.tests), jobs)
	}
	if !r.options.suite {
		fmt.Fprintf(b, "| applied in a second | %g | %g |\n", r.options.rate, r.options.jobRate)
	}
	row("from the first applied to the last complete",
		func(c carried) string { return fmt.Sprintf("%.1f s", c.lastComplete.Sub(c.firstApplied).Seconds()) })
	row("complete in a second", func(c carried) string {
		return fmt.Sprintf("%.2f", float64(len(c.took))/c.lastComplete.Sub(c.firstApplied).Seconds())
	})
	for _, q := range []struct {
		name string
		q    float64
	}{{"median", 0.5}, {"99th percentile", 0.99}} {
		row("from apply to Complete beyond its duration, "+q.name, func(c carried) string {
			return fmt.Sprintf("%.2f s", (quantile(c.took, q.q) - r.options.duration).Seconds())
		})
	}
	fmt.Fprintf(b, "| requests of manager and runner each | %.1f + %.1f | – |\n",
		r.perTest(r.requests.countBy(byManager)), r.perTest(r.requests.countBy(byRunners)))
	fmt.Fprintf(b, "| requests of kube-controller-manager each | %.1f | %.1f |\n",
		r.perTest(r.requests.countBy(forTests)), r.perTest(r.requests.countBy(forJobs)))
	fmt.Fprintf(b, "| the manager's processor time each | %s | – |\n",
		milliseconds(r.usages["manager"].used/time.Duration(r.options.tests)))
}

// describe is the way in which tests come to be there.
func (o options) describe() string {
	if o.suite {
		return fmt.Sprintf("of one suite, %d under way at a time", o.parallel)
	}
	return fmt.Sprintf("%g applied in a second", o.rate)
}

// comparePasses describes the passes of tests, and of the suite if there is one.
func (r *results) comparePasses(b *strings.Builder) {
	row := func(label string, figure func(passes) string) {
		suite := "–"
		if r.passes[ofSuite].count() > 0 {
			suite = figure(r.passes[ofSuite])
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", label, figure(r.passes[carrying]), suite)
	}
	row("for each test", func(p passes) string { return fmt.Sprintf("%.1f", p.count()/float64(r.options.tests)) })
	row("mean", func(p passes) string { return milliseconds(time.Duration(float64(p.sum) / p.count())) })
	for _, q := range []struct {
		name string
		q    float64
	}{{"median", 0.5}, {"90th percentile", 0.9}, {"99th percentile", 0.99}} {
		row(q.name, func(p passes) string { return milliseconds(quantileOf(p.took, q.q)) })
	}
	row("took at most "+milliseconds(longPass),
		func(p passes) string { return fmt.Sprintf("%.1f %%", 100*shareWithin(p.took, longPass)) })
	row("were waited for at most 100 ms", func(p passes) string {
		return fmt.Sprintf("%.1f %%",
			100*shareWithin(p.waited, 100*time.Millisecond))
	})
}

// byRule lists the rules whose passes were sometimes slow, the most frequent first.
func (r *results) byRule(b *strings.Builder) {
	slow := func(rule string) float64 {
		return r.rules[rule].count() * (1 - shareWithin(r.rules[rule].took, longPass))
	}
	for _, rule := range slices.SortedFunc(maps.Keys(r.rules),
		func(x, y string) int { return cmp.Or(cmp.Compare(slow(y), slow(x)), cmp.Compare(x, y)) }) {
		if p := r.rules[rule]; slow(rule) > 0 {
			fmt.Fprintf(b, "| %s | %.0f | %s | %s | %.0f |\n", rule, p.count(), milliseconds(quantileOf(p.took, 0.5)),
				milliseconds(quantileOf(p.took, 0.99)), slow(rule))
		}
	}
}

// shares lists how much processor time each program took.
func (r *results) shares(b *strings.Builder) {
	whole := r.tests.lastComplete.Sub(r.tests.firstApplied) * time.Duration(runtime.NumCPU())
	names := slices.SortedFunc(maps.Keys(r.usages),
		func(x, y string) int { return cmp.Compare(r.usages[y].used, r.usages[x].used) })
	for _, name := range names {
		u := r.usages[name]
		fmt.Fprintf(b, "| %s | %.1f s | %.1f %% | %.1f s |\n", name, u.used.Seconds(),
			100*u.used.Seconds()/whole.Seconds(), u.waited.Seconds())
	}
}

// ledger has each verb and resource that was asked for, by who did, with a sum for each.
func (r *results) ledger(b *strings.Builder) {
	kinds := slices.SortedFunc(maps.Keys(r.requests), func(x, y request) int {
		return cmp.Or(cmp.Compare(x.actor, y.actor), cmp.Compare(len(r.requests[y].took), len(r.requests[x].took)),
			cmp.Compare(x.action, y.action))
	})
	for i, kind := range kinds {
		a := r.requests[kind]
		if i == 0 || kinds[i-1].actor != kind.actor {
			fmt.Fprintf(b, "| **%s** | **%.2f** | | | |\n", kind.actor, r.perTest(r.requests.countBy(kind.actor)))
		}
		fmt.Fprintf(b, "| %s: %s | %.2f | %d | %s | %s |\n", kind.actor, kind.action, r.perTest(len(a.took)), a.refused,
			milliseconds(quantile(a.took, 0.5)), milliseconds(quantile(a.took, 0.99)))
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
