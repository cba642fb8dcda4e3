package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	reallab "github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// What is searched with real packets: between how many frames/s, and how much the limit saves up while less is sent.
const (
	leastPackets, mostPackets = 100, 60_000
	saves                     = 10 * time.Millisecond
)

// packetTest is the LoadTest of a device that forwards a given number of frames/s, one way, so that a trial has
// one loss ratio only.
func packetTest(limit int64, classification goals.Classification) string {
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: bench-search}
spec:
  dut: {type: Reference, reference: {limit: {packetsPerSecond: %d, burst: %s}}}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure: {type: Search, search: {classification: %s, minRate: %dpps, maxRate: %dpps, warmupDuration: 1s}}
`, limit, saves, classification, leastPackets, mostPackets)
}

// runPackets has all who search drive the same engine and the same device in turns, each turn the other way
// round, so that what drifts looks like no difference.
func runPackets(ctx context.Context, o options) error {
	watch, err := calm.Begin(ctx)
	if err != nil {
		return err
	}
	host, remove, err := buildHost(ctx)
	if err != nil {
		return err
	}
	defer remove()
	library, err := openLibrary(ctx)
	if err != nil {
		return err
	}
	defer library.close() //nolint:errcheck // all its answers are in
	var rows []packetRow
	for range o.packets {
		limit := int64(20_000 * math.Exp(rand.Float64()*0.4-0.2))
		some, err := searchDevice(ctx, host, library, limit, watch)
		if err != nil {
			return err
		}
		rows = append(rows, some...)
	}
	text := packetTables(rows)
	fmt.Print(text)
	if o.markdown == "" {
		return nil
	}
	return published.Section(o.markdown, "bench-search-packets", published.Provenance(time.Now())+".\n\n"+text)
}

// buildHost builds linerate, whose hidden verb plays the lab.
func buildHost(ctx context.Context) (host reallab.Host, remove func(), err error) {
	dir, err := os.MkdirTemp("", "bench-search")
	if err != nil {
		return host, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path := filepath.Join(dir, "linerate")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/linerate-dev/linerate/cmd/linerate")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		remove()
		return host, nil, fmt.Errorf("build linerate: %w", err)
	}
	return reallab.Host{Path: path, Args: []string{reallab.Verb}}, remove, nil
}

// A packetRow is one search with real packets.
type packetRow struct {
	limit    int64
	searcher string
	took     time.Duration // from the first trial's beginning to the last one's end
	trials   int
	repeated int       // of these, as they were disturbed
	found    []bracket // in the goals' order
	calm     calm.LostTime
}

// searchDevice searches one device by the library and by linerate with both classifications, forwards and then
// backwards.
func searchDevice(ctx context.Context, host reallab.Host, library *library, limit int64,
	watch *calm.Watch) (rows []packetRow, err error) {
	bench, err := openBench(ctx, host, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bench.close()) }()
	turns := []func(context.Context) (packetRow, error){
		func(ctx context.Context) (packetRow, error) { return bench.byLibrary(ctx, library) },
		func(ctx context.Context) (packetRow, error) { return bench.byOurs(ctx, goals.RFC9971) },
		func(ctx context.Context) (packetRow, error) { return bench.byOurs(ctx, goals.Sequential) },
	}
	reversed := slices.Clone(turns)
	slices.Reverse(reversed)
	for _, turn := range append(turns, reversed...) {
		start := time.Now()
		row, err := turn(ctx)
		if err != nil {
			return rows, err
		}
		row.limit, row.calm = limit, watch.Since(start)
		fmt.Println(strings.Join(row.cells(), "  "))
		rows = append(rows, row)
	}
	return rows, nil
}

// A bench is a limited forwarder and the engine, for any number of searches.
type bench struct {
	limit  int64
	lab    *reallab.Lab
	engine engine.Engine
}

func openBench(ctx context.Context, host reallab.Host, limit int64) (*bench, error) {
	p, err := planOf(packetTest(limit, goals.RFC9971))
	if err != nil {
		return nil, err
	}
	topology, err := reallab.TopologyOf(p, reallab.Options{})
	if err != nil {
		return nil, err
	}
	b := &bench{limit: limit}
	if b.lab, err = reallab.Start(ctx, topology, host); err != nil {
		return nil, err
	}
	if b.engine, err = stl.Dial(ctx, b.lab.Address(),
		stl.Options{Dial: b.lab.Key().Dialer(credential.Control)}); err != nil {
		return nil, errors.Join(err, b.lab.Close())
	}
	return b, nil
}

func (b *bench) close() error { return errors.Join(b.engine.Close(), b.lab.Close()) }

// planOf is what a LoadTest means.
func planOf(text string) (*plan.Plan, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	objects, err := server.Load("bench-search", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	p, wrong := compile.Compile(objects[0].LoadTest)
	return p, wrong.ToAggregate()
}

// byOurs searches as linerate run does.
func (b *bench) byOurs(ctx context.Context, classification goals.Classification) (packetRow, error) {
	p, err := planOf(packetTest(b.limit, classification))
	if err != nil {
		return packetRow{}, err
	}
	r, err := b.begin(ctx, p)
	if err != nil {
		return packetRow{}, err
	}
	repeats := 0
	for step := r.Procedure.Next(r.Report.Windows); !step.End &&
		err == nil; step = r.Procedure.Next(r.Report.Windows) {
		if strings.Contains(step.Reason, "is repeated") {
			repeats++
		}
		_, err = r.take(ctx, step)
	}
	if err := errors.Join(err, r.end(ctx)); err != nil {
		return packetRow{}, err
	}
	row, err := r.row(string(classification))
	if err != nil {
		return packetRow{}, err
	}
	row.repeated = repeats
	for _, g := range r.Procedure.Conclude(r.Report.Windows).Goals {
		row.found = append(row.found, bracket{packets(r.Report, g.Window), packets(r.Report, g.Lossy)})
	}
	return row, nil
}

// packets is the load of a window, or 0 for none.
func packets(r *report.Report, window int) float64 {
	if window == procedure.NoWindow {
		return 0
	}
	return mostPackets * r.Windows[window].Load.Float()
}

// byLibrary lets the library choose the trials, which the same driver carries out, with the same warm-up.
func (b *bench) byLibrary(ctx context.Context, library *library) (packetRow, error) {
	p, err := planOf(packetTest(b.limit, goals.RFC9971))
	if err != nil {
		return packetRow{}, err
	}
	r, err := b.begin(ctx, p)
	if err != nil {
		return packetRow{}, err
	}
	_, err = r.take(ctx, r.Procedure.Next(nil))
	var found []bracket
	if err == nil {
		settings := goals.Settings{Goals: sets[0].goals, MinLoad: leastPackets, MaxLoad: mostPackets}
		found, err = library.searchBy(settings, func(load, duration float64) (outcome,
			error) {
			return r.trial(ctx, load, duration)
		})
	}
	if err := errors.Join(err, r.end(ctx)); err != nil {
		return packetRow{}, err
	}
	row, err := r.row("MLRsearch")
	row.found = found
	return row, err
}

// A drive is one search: the runner's journal, and the driver that writes into it.
type drive struct {
	*runner.Journal
	driver runner.Driver
}

// begin makes everything ready for the first step.
func (b *bench) begin(ctx context.Context, p *plan.Plan) (*drive, error) {
	macs := map[string]engine.MAC{}
	for link, mac := range b.lab.DUTMACs() {
		macs[link] = engine.MAC(mac)
	}
	generator := frames.Generator{Name: p.Generators[0].Name, Engine: b.engine, PortOfLink: b.lab.PortOfLink(),
		NextHopMAC: macs}
	d := &drive{
		Journal: &runner.Journal{Plan: p, Procedure: procedures.New(p.Procedure), Started: time.Now(),
			Log: slog.New(slog.DiscardHandler), Report: &report.Report{Plan: p}},
		driver: frames.New([]frames.Generator{generator}, frames.Options{Limited: b.limited,
			Machine: machine.Watch{Generator: b.lab.PID()}.Read}),
	}
	if err := d.driver.Prepare(ctx, d.Journal); err != nil {
		d.driver.Release(ctx)
		return nil, err
	}
	return d, nil
}

// limited is what the forwarder's limit counted.
func (b *bench) limited(ctx context.Context) (limiters []report.Limiter, err error) {
	counters, err := b.lab.LimitCounters(ctx)
	for _, t := range counters {
		limiters = append(limiters, report.Limiter{Passed: t.Passed, Dropped: t.Dropped})
	}
	return limiters, err
}

// take carries out a step, and adds its window to the Report.
func (d *drive) take(ctx context.Context, step procedure.Step) (*report.Window, error) {
	w, err := d.driver.Measure(ctx, step)
	if err != nil {
		return nil, err
	}
	w.Number, w.Phase = len(d.Report.Windows)+1, step.Phase
	d.Report.Windows = append(d.Report.Windows, *w)
	return w, nil
}

// trial carries out one that the library asks for. Fractions of frames, which a trial can't send, count as
// sent: they are no loss for linerate's searches either.
func (d *drive) trial(ctx context.Context, load, duration float64) (outcome, error) {
	w, err := d.take(ctx, procedure.Step{Kind: procedure.Trial, Phase: report.Trial,
		Load: units.Ratio(math.Round(load / mostPackets * float64(units.One))), Judge: seconds(duration)})
	if err != nil {
		return outcome{}, err
	}
	sent, lost := w.Directions[0].Sent.Packets, w.Directions[0].Sent.Packets-w.Directions[0].Returned.Packets
	if planned := int64(load * duration); max(planned-sent, sent-planned) <= 2+planned/10_000 {
		sent = planned
	}
	return outcome{sent, lost, w.Took.Std().Seconds()}, nil
}

// end stops the traffic and gives the engine's ports back.
func (d *drive) end(ctx context.Context) error {
	defer d.driver.Release(ctx)
	return d.driver.Stop(ctx)
}

// row is what the search cost, its warm-up left aside.
func (d *drive) row(searcher string) (packetRow, error) {
	if len(d.Report.Windows) < 2 {
		return packetRow{}, fmt.Errorf("the search by %s had no trial after its warm-up: nothing came back", searcher)
	}
	trials := d.Report.Windows[1:]
	final := trials[len(trials)-1]
	return packetRow{searcher: searcher, took: final.Start.Std() + final.Took.Std() - trials[0].Start.Std(),
		trials: len(trials)}, nil
}
