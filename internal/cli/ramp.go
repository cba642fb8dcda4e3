package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/pod/job"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// rampOptions are the flags of the published loadtest script, and further ones.
type rampOptions struct {
	server, profile, output         string
	trexFolder                      string
	warmupRate                      string
	warmup, rampSeconds, holdSecond float64
	target                          float64
	refineTo, confirmSeconds        float64
	lineRate                        string
	report                          string
	force, quiet, verbose           bool
	secretFile                      string
}

func newRamp(s Streams) *cobra.Command {
	return rampCommand(func(ctx context.Context, o rampOptions) error { return rampRun(ctx, s, o) })
}

func rampCommand(run func(context.Context, rampOptions) error) *cobra.Command {
	var o rampOptions
	cmd := &cobra.Command{
		Use:   "ramp",
		Short: "Run the published staircase against a TRex that already runs",
		Example: "  linerate ramp -s trex1 -p imix.py -o imix.json -wm 1kpps -wd 30 -rt 100 -rd 600 -hd 30\n" +
			"  linerate ramp -s 127.0.0.1 -p streams.json -rt 20 -rd 60 --line-rate 10gbps",
		Long: "Drives ports 0 and 1 of a running TRex (stateless mode): warm-up, a linear staircase to the target, " +
			"hold. The output is the JSON\n" +
			"that trex-loadtest-viz reads. Addresses and next hops are the server's own, as its configuration file " +
			"set them.\n\n" +
			"Where the staircase lost frames, linerate then looks between the last steps for the limit, for as long " +
			"as the ramp took at most, and\n" +
			"holds the rate that it found. That is not in the output, and --refine-to 0 leaves it out.\n\n" +
			"Flags may be written as the published script's: -wm -wd -rt -rd -hd.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.server, "server", "s", "127.0.0.1", "TRex server, host or host:port")
	f.StringVarP(&o.profile, "profile", "p", "imix.py",
		"a JSON file of TRex streams, a .py of yours with --trex-dir, or the name of one that TRex ships: imix.py, "+
			"udp_1pkt_simple.py, udp_1pkt_simple_bdir.py")
	f.StringVar(&o.trexFolder, "trex-dir", "",
		"folder of a TRex, whose Python library makes the streams of a .py file, as nobody and without a network")
	f.StringVarP(&o.output, "output", "o", "-", "file for the loadtest's JSON; - is stdout")
	f.StringVar(&o.warmupRate, "warmup_mult", "1kpps", "-wm: warm-up rate")
	f.Float64Var(&o.warmup, "warmup_duration", 30, "-wd: warm-up seconds")
	f.Float64Var(&o.target, "rampup_target", 100, "-rt: target in percent of line rate")
	f.Float64Var(&o.rampSeconds, "rampup_duration", 600, "-rd: ramp seconds")
	f.Float64Var(&o.holdSecond, "hold_duration", 30, "-hd: hold seconds")
	f.Float64Var(&o.refineTo, "refine-to", 1,
		"after the hold, narrow the limit to so many percent; 0: leave it at the staircase's steps")
	f.Float64Var(&o.confirmSeconds, "confirm-duration", -1,
		"seconds for which the rate found is held at last; 0: it isn't; -1: as long as the hold")
	f.StringVar(&o.lineRate, "line-rate", "",
		"line rate of the ports where they have no physical speed, such as 10gbps")
	f.StringVar(&o.report, "report", "", "also write linerate's own Report to this file")
	secretFlag(f, &o.secretFile, secretOfServers)
	f.BoolVar(&o.force, "force", false, "take ports that another client owns")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every decision to stderr")
	return cmd
}

func rampRun(ctx context.Context, s Streams, o rampOptions) error {
	p, err := rampPlan(ctx, o)
	if err != nil {
		return exit.BadInput("%w", err)
	}
	viz, err := openOutput(s.Stdout, o.output)
	if err != nil {
		return exit.BadInput("--output: %w", err)
	}
	saved, err := openOutput(io.Discard, cmp.Or(o.report, "-"))
	if err != nil {
		return exit.Worst(exit.BadInput("--report: %w", err), viz.discard())
	}
	driver, stop, err := serversSite{plan: p, secretFile: o.secretFile}.start(ctx, s.Stderr, o.force)
	if err != nil {
		if ctx.Err() != nil {
			err = exit.Interrupted("interrupted before anything was sent")
		}
		return exit.Worst(err, viz.discard(), saved.discard())
	}
	defer stop()
	if err := checkLineRates(ctx, p, o.secretFile); err != nil {
		return exit.Worst(err, viz.discard(), saved.discard())
	}
	view := newProgressView(s.Stderr, "ramp", o.quiet)
	r := runner.Run(ctx, p, driver, runner.Options{Producer: producer(), Progress: announceLatestEnd(s.Stderr,
		p.Procedure,
		view.show), ForceHint: "--force", Logger: logger(s.Stderr, o.verbose)})
	view.close()
	return writeRamp(s, o, viz, saved, r)
}

// checkLineRates refuses a port without a physical speed, unless a flag gives its speed, since the target is a
// share of the speed. It takes no port.
func checkLineRates(ctx context.Context, p *plan.Plan, secretFile string) error {
	server := p.Generators[0].Server
	e, _, err := dialServer(ctx, server, secretFile, job.EngineOptions(p, nil))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	defer e.Close() //nolint:errcheck // nothing was changed
	described, err := e.Describe(ctx)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	for i, link := range p.Links {
		for _, port := range described.Ports {
			if port.Index == i && link.LineRate == 0 && (port.Virtual || port.Speed <= 0) {
				return exit.BadInput("port %d of %s (%s) has no physical speed, and --rampup_target (-rt) is a "+
					"percentage of it: give the speed as --line-rate, such as --line-rate 10gbps",
					i, server, port.Driver)
			}
		}
	}
	return nil
}

// announceLatestEnd prints, when traffic begins, when TRex stops at the latest if this program dies. The
// program's guard stops it. Without the guard it sends for the duration that it was started with, and longer if
// the load is more than it can send.
func announceLatestEnd(stderr io.Writer, p plan.Procedure, next func(runner.Progress)) func(runner.Progress) {
	announced := false
	return func(progress runner.Progress) {
		if !announced && (progress.Phase == report.WarmUp || progress.Phase == report.Ramping) {
			announced = true
			latest := time.Now().Add(frames.Unattended(p) + time.Second).Truncate(time.Second)
			fmt.Fprintf(stderr, "if this program dies, its guard stops TRex within %s; if nothing can, TRex will "+
				"have stopped sending by %s, or later where it can't keep up with the load\n",
				guardStops, latest.Format(time.TimeOnly+" MST"))
		}
		next(progress)
	}
}

// writeRamp writes a ramp's result in the published form, as a Report and as text. One that can't be written
// doesn't prevent the others.
func writeRamp(s Streams, o rampOptions, viz, saved *output, r *report.Report) error {
	errs := []error{exitCodeFor(report.Documents{Reports: []*report.Report{r}})}
	if err := saved.finish(func(w io.Writer) error { return report.JSON(w, r) }); err != nil {
		errs = append(errs, exit.NotMeasured("write --report %s: %w", o.report, err))
	}
	if len(r.Samples) == 0 {
		errs = append(errs, viz.discard())
	} else if err := viz.finish(func(w io.Writer) error { return render.Viz(w, r) }); err != nil {
		errs = append(errs, exit.NotMeasured("write --output %s: %w", o.output, err))
	}
	if err := render.Text(s.Stderr, r); err != nil {
		errs = append(errs, exit.NotMeasured("print the result: %w", err))
	}
	return exit.Worst(errs...)
}

// rampPlan is a Plan of the published procedure, which has the server's own addresses and doesn't stop at
// saturation. A search between the staircase's steps follows.
func rampPlan(ctx context.Context, o rampOptions) (*plan.Plan, error) {
	server := o.server
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(server, "4501")
	}
	procedure, err := rampProcedure(o)
	if err != nil {
		return nil, err
	}
	line := units.BitRate(0)
	if o.lineRate != "" {
		if line, err = units.ParseBitRate(o.lineRate); err != nil {
			return nil, fmt.Errorf("--line-rate: %w", err)
		}
	}
	lanes, err := rampTraffic(ctx, o.profile, o.trexFolder)
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{
		Version: plan.Version, Engine: plan.EngineTRex, DUT: plan.DUT{Type: "Device",
			Forwarding: plan.AsConfigured}, Procedure: procedure,
		Test:  plan.Test{Name: "ramp", Attempt: 1, Product: o.server, Loadtest: lanes.label},
		Names: map[string]string{"ramp.targetRate": "--rampup_target", "ramp.warmupRate": "--warmup_mult"},
		Links: []plan.Link{{Name: "port0", LineRate: line}, {Name: "port1", LineRate: line}},
	}
	g := plan.Generator{Name: "trex", Server: server, Ports: []plan.GeneratorPort{{Link: "port0", Share: 1, ShareOf: 1},
		{Link: "port1", Share: 1, ShareOf: 1}}}
	for i, side := range lanes.sides {
		if side.Streams == nil {
			g.Ports[i].Share = 0
			continue
		}
		g.Ports[i].Streams = side.Streams
		p.Directions = append(p.Directions, plan.Direction{From: p.Links[i].Name, To: p.Links[1-i].Name, Mix: side.Mix})
	}
	p.Generators = []plan.Generator{g}
	return p, nil
}

func rampProcedure(o rampOptions) (plan.Procedure, error) {
	warmup, err := units.ParseRate(o.warmupRate)
	if err != nil {
		return plan.Procedure{}, fmt.Errorf("--warmup_mult: %w", err)
	}
	if o.target <= 0 || o.target > 100 {
		return plan.Procedure{}, fmt.Errorf("--rampup_target %v: the target is above 0 and at most 100 percent of "+
			"line rate", o.target)
	}
	target, err := units.ParseRate(fmt.Sprintf("%g%%", o.target))
	if err != nil {
		return plan.Procedure{}, fmt.Errorf("--rampup_target: %w", err)
	}
	for _, d := range []struct {
		flag            string
		value, min, max float64
	}{{"--warmup_duration", o.warmup, 0, 86400}, {"--rampup_duration", o.rampSeconds, 1, 86400},
		{"--hold_duration", o.holdSecond, 0, 86400}} {
		if !(d.value >= d.min && d.value <= d.max) {
			return plan.Procedure{}, fmt.Errorf("%s %v: seconds, from %v to %v", d.flag, d.value, d.min, d.max)
		}
	}
	if !(o.refineTo >= 0 && o.refineTo <= 50) {
		return plan.Procedure{}, fmt.Errorf("--refine-to %v: percent, from 0 to 50", o.refineTo)
	}
	confirm := o.confirmSeconds
	if confirm == -1 {
		confirm = o.holdSecond
	}
	if !(confirm >= 0 && confirm <= 86400) {
		return plan.Procedure{}, fmt.Errorf("--confirm-duration %v: seconds, from 0 to 86400, or -1", o.confirmSeconds)
	}
	if o.refineTo == 0 {
		confirm = 0
	}
	// The published staircase climbs one percent of line rate a step, but has at least ten steps. A step lasts at
	// least a second, since a shorter window says too little.
	step := max(time.Second, seconds(o.rampSeconds/max(10, o.target)))
	return plan.Procedure{
		Type: "Ramp", MaxLossRatio: units.One / 1000,
		Ramp: plan.Ramp{
			WarmupRate: warmup, WarmupDuration: plan.Duration(seconds(o.warmup)), TargetRate: target,
			RampDuration: plan.Duration(seconds(o.rampSeconds)),
			StepDuration: plan.Duration(step), SettleDuration: plan.Duration(min(500*time.Millisecond, step/2)),
			HoldDuration:   plan.Duration(seconds(o.holdSecond)),
			Precision:      units.Ratio(o.refineTo / 100 * float64(units.One)),
			RefineDuration: plan.Duration(seconds(o.rampSeconds)), ConfirmDuration: plan.Duration(seconds(confirm)),
		},
	}, nil
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
