package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/cluster/gate"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/units"
)

// gateOptions are the flags of gate.
type gateOptions struct {
	files          []string
	images         []string
	baselineImages []string
	baselines      []string
	anchors        []string
	runs           int
	maxRegression  string
	maxWork        string
	allowDifferent sidebyside.AllowDifferent
	witness        string
	suffix         string
	outputs        []string
	cleanup        string
	onInterrupt    string
	timeout        time.Duration
	patience       time.Duration
	evidence       bool
	quiet          bool
	version        string
}

// The values of --cleanup, which say when a gate deletes what it measured.
const (
	cleanupNever  = "Never"
	cleanupPassed = "Passed"
	cleanupAlways = "Always"
)

const gateExitHelp = "Exit codes: 0 passed, 1 failed, 2 bad input (nothing was measured), 3 undecided, not measured, " +
	"not in time, or the cluster can't be asked,\n130 interrupted."

func newGate(o Options, conn *connection) *cobra.Command {
	g := gateOptions{version: o.Version}
	cmd := &cobra.Command{
		Use:   "gate -f FILE",
		Short: "Judge a release: measure, compare with a baseline, and say by the exit code whether it may go on",
		Example: "  kubectl linerate gate -f router.yaml --image router=registry.lab/router:1.5 --baseline-image " +
			"router=registry.lab/router:1.4 --max-regression 2%\n" +
			"  kubectl linerate gate -f releases.yaml -o junit=results.xml,markdown=summary.md -n lab\n" +
			"  kubectl linerate gate -f router.yaml --baseline baseline/ --max-regression 2% --cleanup Passed",
		Long: "Measures the LoadTests and LoadTestSuites in the files and judges them: passed only where the runs " +
			"show that each criterion is met. Asked again for\n" +
			"the same, by a job that is tried again, it takes up what runs or was measured. docs/gate.md tells how " +
			"to gate a release.\n\n" + gateExitHelp,
		Args: noNames("give files with -f"),
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd.Context(), o, conn) },
	}
	g.bind(cmd)
	return cmd
}

func (g *gateOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	sidebyside.EvidenceFlag(cmd, &g.evidence)
	f.StringArrayVarP(&g.files, "filename", "f", nil,
		"file with LoadTests and LoadTestSuites, - is stdin; may be given several times")
	f.StringArrayVar(&g.images, "image", nil,
		"OLD=NEW: the image under test. OLD is an image of the files, or its name without tag; may be given several "+
			"times")
	f.StringArrayVar(&g.baselineImages, "baseline-image", nil,
		"OLD=NEW: the image to compare with, measured in turns with the one under test; may be given several times")
	f.StringArrayVar(&g.baselines, "baseline", nil,
		"what to compare with: a file or folder of Reports, suite/NAME, loadtest/NAME, a kept Report's name, or a "+
			"label selector; may be given several times")
	f.StringArrayVar(&g.anchors, "anchor", nil,
		"an earlier reference that doesn't move, judged beside the baseline, so that what creeps shows: named as "+
			"--baseline is; may be given several times")
	f.IntVar(&g.runs, "runs", 0, fmt.Sprintf("how often to measure each LoadTest (default %d where it is compared, "+
		"else 1)", gate.DefaultRuns))
	f.StringVar(&g.maxRegression, "max-regression", "",
		"by how much less than the baseline packets/s, or the goodput of sessions, may be, such as 2%: adds a "+
			"criterion to each suite")
	f.StringVar(&g.maxWork, "max-work-regression", "",
		"with --max-regression, where packets/s decide nothing: by how much longer a frame may take, such as 3%; "+
			"needs procedure.trains")
	g.allowDifferent.Flag(cmd)
	f.StringVar(&g.witness, "witness", "", "measure what comes back of an overload, too, which tells smaller changes "+
		"in a tenth of the time: overload (beside the search) or overload-alone (in place of it)")
	f.StringVar(&g.suffix, "name-suffix", "",
		"what names end with, instead of letters that stand for the content: for a measurement of one's own")
	f.StringArrayVarP(&g.outputs, "output", "o", nil, "FORMAT[=FILE],…: "+strings.Join(render.Formats(render.Gate),
		", ")+"; one of them may go to stdout (default text)")
	f.StringVar(&g.cleanup, "cleanup", cleanupNever,
		"when to delete at the end what was measured: Never, Passed or Always; else it goes by its ttlAfterFinished "+
			"(168h)")
	f.StringVar(&g.onInterrupt, "on-interrupt", interruptStop,
		"what becomes of what is being measured at a signal, or when time is over: stop, leave or delete")
	f.DurationVar(&g.timeout, "timeout", 0, "how long to wait at most (default: what all runs may take at the worst, "+
		"and an hour in line)")
	f.DurationVar(&g.patience, "patience", defaultPatience, "how long the API server may be away before this gives up")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress on stderr")
	_ = cmd.RegisterFlagCompletionFunc("witness", cobra.FixedCompletions(gate.Witnesses(),
		cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("cleanup", cobra.FixedCompletions([]string{cleanupNever, cleanupPassed,
		cleanupAlways}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("on-interrupt", cobra.FixedCompletions([]string{interruptStop, interruptLeave,
		interruptDelete}, cobra.ShellCompDirectiveNoFileComp))
}

// parse checks the flags before anything is done, and returns the gate's options and outputs.
func (g *gateOptions) parse() (options gate.Options, outputs []gateOutput, err error) {
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	if len(g.files) == 0 {
		note(errors.New("name a file with LoadTests or LoadTestSuites: -f FILE"))
	}
	options.Images, err = gate.ParseImages("--image", g.images)
	note(err)
	options.BaselineImages, err = gate.ParseImages("--baseline-image", g.baselineImages)
	note(err)
	outputs, err = parseOutputs(g.outputs)
	note(err)
	note(gate.CheckSuffix(g.suffix))
	note(checkAllowance("--max-regression", g.maxRegression))
	note(checkAllowance("--max-work-regression", g.maxWork))
	if g.maxWork != "" && g.maxRegression == "" {
		note(errors.New("--max-work-regression is asked where --max-regression decides nothing: give both"))
	}
	note(g.allowDifferent.Check())
	note(gate.CheckWitness(g.witness))
	switch {
	case g.runs < 0 || g.runs > gate.MaxRuns:
		note(fmt.Errorf("--runs %d: a LoadTest is measured 1 to %d times", g.runs, gate.MaxRuns))
	case g.timeout < 0 || g.patience < 0:
		note(errors.New("--timeout and --patience are lengths of time, such as 2h"))
	}
	if !slices.Contains([]string{cleanupNever, cleanupPassed, cleanupAlways}, g.cleanup) {
		note(fmt.Errorf("--cleanup %q: write Never, Passed or Always", g.cleanup))
	}
	if !slices.Contains([]string{interruptStop, interruptLeave, interruptDelete}, g.onInterrupt) {
		note(fmt.Errorf("--on-interrupt %q: write stop, leave or delete", g.onInterrupt))
	}
	options.AllowDifferent, options.Witness = g.allowDifferent, g.witness
	options.Runs, options.MaxRegression, options.Suffix = g.runs, g.maxRegression, g.suffix
	options.MaxWorkRegression = g.maxWork
	options.Baseline, options.Anchor = len(g.baselines) > 0, len(g.anchors) > 0
	if err := errors.Join(errs...); err != nil {
		return options, nil, exit.BadInput("%w", err)
	}
	return options, outputs, nil
}

// checkAllowance refuses an allowance that its criterion would refuse, too, and names the flag.
func checkAllowance(flag, share string) error {
	ratio, err := units.ParseShare(share)
	if share == "" || err == nil && ratio < units.One {
		return nil
	}
	return fmt.Errorf("%s %q: write a percentage below 100%% with its sign, such as 2%%", flag, share)
}

// run finds faults of files and baselines before it measures, and writes the verdict even where a suite failed.
//
//	read files ─▶ read baselines ─▶ ensure suites ─▶ follow ─▶ judge ─▶ write ─▶ clean
func (g *gateOptions) run(ctx context.Context, o Options, conn *connection) error {
	options, outputs, err := g.parse()
	if err != nil {
		return err
	}
	c, err := conn.connect()
	if err != nil {
		return err
	}
	options.Namespace = c.namespace
	subjects, err := c.readSubjects(o, g.files, options)
	if err != nil {
		return err
	}
	say := func(words string) { fmt.Fprintln(o.Stderr, words) }
	references, err := baselines{reports{c, o.Stderr}, o.Stdin, g.allowDifferent.Parts()}.read(ctx, g.baselines,
		g.anchors,
		subjects)
	if err != nil {
		return err
	}
	suites, err := gateSuites{c, g.patience, say}.ensure(ctx, subjects)
	if err != nil {
		return err
	}
	verdict := g.follow(ctx, o, c, subjects, suites, references)
	written := writeOutputs(o, outputs, verdict, g.evidence)
	if !slices.ContainsFunc(outputs, gateOutput.isForPerson) {
		say(verdict.Headline())
	}
	if err := g.clean(ctx, c, say, suites, verdict); err != nil {
		say(err.Error()) // a suite that stays changes no verdict
	}
	return exit.WithCode(verdict.ExitCode, written)
}

// readSubjects reads what the files have to be judged. Its error has all faults of all files.
func (c *cluster) readSubjects(o Options, files []string, options gate.Options) ([]*gate.Subject, error) {
	server, objects, err := c.load(o.Stdin, files)
	if err != nil {
		return nil, err
	}
	subjects, err := gate.Prepare(server, objects, options)
	if err != nil {
		return nil, exit.BadInput("%w", err)
	}
	return subjects, nil
}

// clean deletes the suites if --cleanup says so. The suites of a gate that didn't pass explain why, unless
// --cleanup is Always.
func (g *gateOptions) clean(ctx context.Context, c *cluster, say func(string), suites []client.Object,
	verdict *report.Gate) error {
	if g.cleanup == cleanupNever || g.cleanup == cleanupPassed && verdict.Outcome != report.Passed {
		return nil
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), g.patience)
	defer end()
	var errs []error
	for _, s := range suites {
		if g.onInterrupt == interruptLeave && endOf(s) == nil { // the suite goes on
			continue
		}
		if err := insist(ctx, g.patience, say, func() error { return c.remove(ctx, s) }); err != nil {
			err = c.explainOf(kindOf(s), "delete", client.ObjectKeyFromObject(s), err)
			errs = append(errs, fmt.Errorf("%s stays: %w", s.GetName(), err))
			continue
		}
		say(s.GetName() + " deleted, with its LoadTests and their Reports; those that are kept (reportRetention: " +
			"Keep) stay")
	}
	return exit.Worst(errs...)
}
