package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/pod/job"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// runOptions are the flags of run.
type runOptions struct {
	format    string
	save      string
	ports     []string
	cores     int
	path      string
	batch     int
	force     bool
	quiet     bool
	verbose   bool
	baselines []string
	// calibrations is the directory of earlier suites whose calibrations may be reused. Empty means the directory of
	// save.
	calibrations string
	// calibrate measures the suites' calibrations alone.
	calibrate bool
	// credentials is the folder with the credentials of observers that read from the network.
	credentials string
	// secretFile holds the secret of servers that run already and ask for one.
	secretFile string
	// allowDifferent names the parts of the environment in which a baseline may differ.
	allowDifferent sidebyside.AllowDifferent
	// baseline is read from the files of --baseline. It is nil without them.
	baseline *suite.Reference
	// sites replaces siteOf in tests. It is nil otherwise.
	sites func(*plan.Plan) (site, error)
}

// sending says how the software engine sends. The test overrides the flags.
func (o runOptions) sending(p *plan.Plan) (cores int, path string) {
	if p.Sending == nil {
		return o.cores, o.path
	}
	return cmp.Or(p.Sending.Cores, o.cores), cmp.Or(p.Sending.Path, o.path)
}

func newRun(s Streams) *cobra.Command { return newRunIn(s, nil) }

// newRunIn is newRun with sites other than this machine's, for tests.
func newRunIn(s Streams, sites func(*plan.Plan) (site, error)) *cobra.Command {
	o := runOptions{sites: sites}
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Measure the LoadTests and LoadTestSuites in the files, on this machine",
		Example: "  linerate run examples/linux-forwarder.yaml\n" +
			"  linerate run known-answer.yaml -o json | jq .result\n" +
			"  linerate run examples/suites/four-systems.yaml -o markdown\n" +
			"  sudo linerate run router.yaml --ports eth1,eth2",
		Long: "Measures the LoadTests in the files (- is stdin), one after the other, and prints one table; then " +
			"each LoadTestSuite, test by test, with a table of its own.\n" +
			"A suite that was cut short is resumed when it is run again with the same --save.\n\n" +
			"Exit codes: 0 measured, and each criterion is met, 1 a criterion failed, 2 bad input, 3 not measured, " +
			"or a criterion is undecided, 130 interrupted.",
		Args: sidebyside.AtLeast(1, "at least one file with LoadTests or LoadTestSuites, such as "+
			"examples/linux-forwarder.yaml, or - for stdin"),
		RunE: func(cmd *cobra.Command, files []string) error { return run(cmd.Context(), s, o, files) },
	}
	f := cmd.Flags()
	sidebyside.FormatFlag(cmd, &o.format, render.Formats(render.Tests))
	f.StringVar(&o.save, "save", "linerate-reports",
		"directory to keep each test's Report in, as JSON and as a page; \"\" keeps nothing")
	f.StringSliceVar(&o.ports, "ports", nil, "interfaces for dut.type Device, or cabled to each other "+
		"for Loopback, one for each link in the links' order")
	f.IntVar(&o.cores, "cores", 0, "threads that may send on each port of the software engine, where the test "+
		"doesn't set generator.coresPerPortPair (default 1, which ports share if they send live frames and there are "+
		"no more processors than ports)")
	f.StringVar(&o.path, "path", "auto", "how the software engine sends, where the test doesn't set "+
		"generator.software.path: live, af_xdp, zero_copy, af_packet or auto (see linerate generator --help)")
	batchFlag(f, &o.batch)
	f.BoolVar(&o.force, "force", false, "take TRex ports that another client owns")
	f.StringArrayVar(&o.baselines, "baseline", nil,
		"file or directory of Reports, or a suite's (-o json, --save), that criteria with maxRegression compare "+
			"with; may be given several times")
	o.allowDifferent.Flag(cmd)
	f.StringVar(&o.calibrations, "calibrations", "",
		"directory of earlier suites (--save) whose calibrations are reused if a suite's calibration.maxAge allows "+
			"it (default: that of --save)")
	f.BoolVar(&o.calibrate, "calibrate", false, "measure only the suites' calibrations: of --ports, or of generators that "+
		"run already, while they are cabled to each other; without this flag the same command then measures the device")
	credentialsFlag(cmd, &o.credentials)
	secretFlag(f, &o.secretFile, secretOfServers)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every decision to stderr, and print each answer's evidence")
	return cmd
}

func run(ctx context.Context, s Streams, o runOptions, files []string) error {
	if err := checkFormat(o.format, render.Formats(render.Tests)); err != nil {
		return err
	}
	if o.cores < 0 || o.cores > 64 {
		return exit.BadInput("--cores %d: a port has 1 to 64 sending threads", o.cores)
	}
	if _, err := readPath(o.path); err != nil {
		return err
	}
	if err := checkBatch(o.batch); err != nil {
		return err
	}
	loaded, err := readInputs(s.Stdin, files)
	if err != nil {
		return err
	}
	for _, sentence := range loaded.ignored {
		fmt.Fprintf(s.Stderr, "note: %s\n", sentence)
	}
	if err := render.Fits(o.format, len(loaded.plans), len(loaded.suites)); err != nil {
		return exit.BadInput("--output: %w", err)
	}
	if o.calibrate {
		if err := loaded.checkCalibrate(o); err != nil {
			return err
		}
	}
	if o.baseline, err = readBaseline(s.Stdin, loaded, o.baselines, o.allowDifferent); err != nil {
		return err
	}
	folder := reportFolder{o.save}
	if err := folder.prepare(); err != nil {
		return err
	}
	sites, err := sitesOf(loaded, o)
	if err != nil {
		return err
	}
	var documents report.Documents
	documents.Reports, err = measureAll(ctx, s, o, loaded.plans, sites)
	page, keepErr := folder.keep(documents.Reports)
	for _, f := range loaded.suites {
		document, suiteErr := f.measure(ctx, s, o, folder)
		documents.Suites, err = append(documents.Suites, document), exit.Worst(err, suiteErr)
		page = folder.path(f.name() + ".html")
	}
	code := exitCodeFor(documents)
	if o.calibrate {
		code = checkCalibrated(documents.Suites)
	}
	return exit.Worst(err, keepErr, present(s, o, documents, page, keepErr), code)
}

// sitesOf chooses each Plan's site, and refuses tests that can't run here before any traffic.
func sitesOf(loaded inputs, o runOptions) ([]site, error) {
	sites := make([]site, len(loaded.plans))
	var errs []error
	for _, f := range loaded.suites {
		errs = append(errs, f.check(o))
	}
	for i, p := range loaded.plans {
		var err error
		if sites[i], err = siteOf(p, o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Test.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, exit.BadInput("%w", err)
	}
	return sites, nil
}

// measureAll measures the Plans one after the other. A test that fails doesn't prevent the next one, but an
// interrupt does.
func measureAll(
	ctx context.Context, s Streams, o runOptions, plans []*plan.Plan, sites []site,
) ([]*report.Report, error) {
	var reports []*report.Report
	var errs []error
	for i, p := range plans {
		if ctx.Err() != nil {
			return reports, exit.Worst(append(errs, exit.Interrupted("interrupted: %d of %d tests were not begun",
				len(plans)-i, len(plans)))...)
		}
		r, err := measureOne(ctx, s, o, p, sites[i], p.Test.Name, baselineFor(p, o.baseline))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Test.Name, err))
			continue
		}
		reports = append(reports, r)
	}
	return reports, exit.Worst(errs...)
}

// measureOne measures a test on its site. The title stands before its progress.
func measureOne(
	ctx context.Context, s Streams, o runOptions, p *plan.Plan, site site, title string, baseline *report.Baseline,
) (*report.Report, error) {
	defer tearDownDevice(ctx, s.Stderr, p) // runs after the site has released everything
	if err := setUpDevice(ctx, s.Stderr, p); err != nil {
		return nil, err
	}
	collection := newCollection(s.Stderr, p, o.save)
	collection.collect(ctx, plan.CollectBefore)
	driver, stop, err := site.start(ctx, s.Stderr, o.force)
	if err != nil {
		if ctx.Err() != nil {
			return nil, exit.Interrupted("interrupted before anything was sent")
		}
		return nil, err
	}
	defer stop()
	view := newProgressView(s.Stderr, title, o.quiet)
	defer view.close()
	r := runner.Run(ctx, p, driver, runner.Options{
		Producer: producer(), ForceHint: "--force", Logger: logger(s.Stderr, o.verbose),
		Baseline: baseline, Progress: func(progress runner.Progress) {
			collection.progress(ctx, progress)
			view.show(progress)
		},
	})
	collection.finish(ctx, r)
	job.MarkShared(r, site.sharedPorts())
	return r, nil
}

func producer() string { return "linerate " + version }

// present prints the result. The Reports were written to --save before, so that a failure to print loses none.
func present(s Streams, o runOptions, documents report.Documents, page string, keepErr error) error {
	if len(documents.Reports)+len(documents.Suites) == 0 {
		return nil
	}
	var printed error
	if err := sidebyside.Write(s.Stdout, o.format, render.OfTests(documents), o.verbose); err != nil {
		printed = exit.NotMeasured("print the result: %w", err)
	}
	if keepErr == nil && page != "" && o.save != "" && !o.quiet {
		fmt.Fprintf(s.Stderr, "report: %s\n", page)
	}
	return printed
}

// exitCodeFor is an error with the documents' exit code and no message, since the table has the messages.
func exitCodeFor(documents report.Documents) error { return exit.WithCode(documents.ExitCode(), nil) }
