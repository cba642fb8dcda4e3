package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// runOptions are the flags of run.
type runOptions struct {
	format  string
	save    string
	ports   []string
	cores   int
	force   bool
	quiet   bool
	verbose bool
	against []string
	// references are the Reports in the files that against names.
	references []*report.Report
}

func newRun(s Streams) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Measure the LoadTests in the files, on this machine",
		Example: "  linerate run examples/linux-forwarder.yaml\n  linerate run known-answer.yaml -o json | jq .result\n" +
			"  sudo linerate run router.yaml --ports eth1,eth2",
		Long: "Measures the LoadTests in the files (- is stdin), one after the other, and prints one table.\n\n" +
			"Exit codes: 0 measured and no criterion failed, 1 a criterion failed, 2 bad input, 3 not measured, 130 interrupted.",
		Args: someFiles("at least one file with LoadTests, such as examples/linux-forwarder.yaml, or - for stdin"),
		RunE: func(cmd *cobra.Command, files []string) error { return run(cmd.Context(), s, o, files) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "text", formatUsage())
	f.StringVar(&o.save, "save", "linerate-reports", "directory to keep each test's Report in, as JSON and as a page; \"\" keeps nothing")
	f.StringSliceVar(&o.ports, "ports", nil, "interfaces for dut.type Device, one for each link in the links' order")
	f.IntVar(&o.cores, "cores", 1, "threads that may send on each port of the software engine")
	f.BoolVar(&o.force, "force", false, "take TRex ports that somebody else owns")
	f.StringArrayVar(&o.against, "baseline", nil, "file of Reports (-o json, --save) that criteria with maxRegression compare with; may be given several times")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every decision to stderr")
	return cmd
}

func run(ctx context.Context, s Streams, o runOptions, files []string) error {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if o.cores < 1 || o.cores > 64 {
		return badInput("--cores %d: a port has 1 to 64 sending threads", o.cores)
	}
	plans, err := readPlans(s.In, files)
	if err != nil {
		return err
	}
	if o.format == "viz" && len(plans) > 1 {
		return badInput("--output viz holds one test, and the files have %d: run them one at a time, or render saved reports with linerate report", len(plans))
	}
	if o.references, err = readReferences(s.In, plans, o.against); err != nil {
		return err
	}
	shelf := shelf{o.save}
	if err := shelf.prepare(); err != nil {
		return err
	}
	sites, err := sitesOf(plans, o)
	if err != nil {
		return err
	}
	reports, err := measureAll(ctx, s, o, plans, sites)
	return worst(err, present(s, o, shelf, reports), codeFor(reports))
}

// sitesOf finds each plan's site, and what can't be run here before anything is sent.
func sitesOf(plans []*plan.Plan, o runOptions) ([]site, error) {
	sites := make([]site, len(plans))
	var wrong []error
	for i, p := range plans {
		var err error
		if sites[i], err = siteOf(p, o); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.Test.Name, err))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, badInput("%w", err)
	}
	return sites, nil
}

// measureAll carries out the plans one after the other. What goes wrong with one doesn't keep the next from being measured; an
// interrupt does.
func measureAll(ctx context.Context, s Streams, o runOptions, plans []*plan.Plan, sites []site) ([]*report.Report, error) {
	var reports []*report.Report
	var wrong []error
	for i, p := range plans {
		if ctx.Err() != nil {
			return reports, worst(append(wrong, &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d tests were not begun", len(plans)-i, len(plans))})...)
		}
		r, err := measureOne(ctx, s, o, p, sites[i])
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.Test.Name, err))
			continue
		}
		reports = append(reports, r)
	}
	return reports, worst(wrong...)
}

func measureOne(ctx context.Context, s Streams, o runOptions, p *plan.Plan, site site) (*report.Report, error) {
	gens, leave, err := site.enter(ctx, s.Err)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &exitError{ExitInterrupted, errors.New("interrupted before anything was sent")}
		}
		return nil, err
	}
	defer leave()
	view := newProgressView(s.Err, p.Test.Name, o.quiet)
	defer view.close()
	r := runner.Run(ctx, p, gens, runner.Options{
		Producer: producer(), Progress: view.show, Force: o.force, ForceHint: "--force", Logger: logger(s.Err, o.verbose),
		Baseline: baselineFor(p, o.against, o.references),
	})
	markShared(r, site.shared())
	return r, nil
}

func producer() string { return "linerate " + version }

// present keeps the reports and prints the table: first what can't be had again.
func present(s Streams, o runOptions, shelf shelf, reports []*report.Report) error {
	if len(reports) == 0 {
		return nil
	}
	page, kept := shelf.keep(reports)
	var printed error
	if err := report.Render(s.Out, o.format, reports...); err != nil {
		printed = notMeasured("print the result: %w", err)
	}
	if kept == nil && page != "" && !o.quiet {
		fmt.Fprintf(s.Err, "report: %s\n", page)
	}
	return worst(printed, kept)
}

// codeFor is the exit code that the reports ask for: the most serious one. Its error is empty: the table has said it all.
func codeFor(reports []*report.Report) error {
	code := ExitOK
	for _, r := range reports {
		code = max(code, r.ExitCode())
	}
	if code == ExitOK {
		return nil
	}
	return &exitError{code, nil}
}
