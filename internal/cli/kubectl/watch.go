package kubectl

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
)

// defaultPatience is longer than an upgrade of the API server takes.
const defaultPatience = 15 * time.Minute

// followOptions are the flags of verbs that follow tests.
type followOptions struct {
	format      string
	quiet       bool
	patience    time.Duration
	onInterrupt string
}

func (f *followOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	sidebyside.FormatFlag(cmd, &f.format, render.Formats(render.Tests))
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on stderr")
	flags.DurationVar(&f.patience, "patience", defaultPatience,
		"how long the API server may be away before this gives up; the test goes on either way")
}

func newWatch(o Options, conn *connection) *cobra.Command {
	f := followOptions{onInterrupt: interruptLeave}
	cmd := &cobra.Command{
		Use:   "watch NAME...",
		Short: "Follow tests and suites to their end, and print their table",
		Example: "  kubectl linerate watch vpp-imix -n lab\n  kubectl linerate watch four-systems -o markdown\n" +
			"  kubectl linerate watch vpp-imix vpp-64b -o json | jq .result",
		Long: "Follows LoadTests and LoadTestSuites, whoever started them, to their end, and prints their table. " +
			"What has ended already is printed at once.\n" +
			"Connections that are lost are made again. Ctrl-C leaves tests and suites alone.\n\n" + exitHelp,
		Args:              sidebyside.AtLeast(1, someTests),
		ValidArgsFunction: completeTests(conn),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkFormat(f.format, len(names), 0); err != nil {
				return err
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			objects, err := c.getAll(cmd.Context(), names)
			if err == nil {
				err = checkFormatOf(f.format, objects)
			}
			if err != nil {
				return err
			}
			return f.follow(cmd.Context(), o, c, objects)
		},
	}
	f.bind(cmd)
	return cmd
}

const exitHelp = "Exit codes: 0 measured, and each criterion is met, 1 a criterion failed, 2 bad input,\n" +
	"3 not measured, not held as asked, a criterion is undecided, or the cluster can't be asked, " +
	"130 stopped, or left alone by a signal."

// follow follows tests and suites to their end and prints what was measured.
func (f followOptions) follow(ctx context.Context, o Options, c *cluster, objects []client.Object) error {
	ctx = context.WithoutCancel(ctx) // the session handles signals itself
	signals, end := interrupts()
	defer end()
	s := newSession(c, o, objects, signals)
	s.board.quiet, s.onInterrupt = f.quiet, f.onInterrupt
	leaves := s.run(ctx, f.patience)
	measured, err := reports{c, o.Stderr}.ofEnded(ctx, s.ended())
	errs := append(s.errs, err)
	if leaves {
		errs = append(errs, exit.WithCode(report.ExitInterrupted, nil))
	}
	return exit.Worst(append(errs, printAll(o, f.format, measured, false))...)
}

func printAll(o Options, format string, documents report.Documents, evidence bool) error {
	if len(documents.Reports)+len(documents.Suites) == 0 {
		return nil
	}
	if format == "viz" { // its viewer would show a limit for a test that wasn't measured
		if r := documents.Reports[0]; r.Ending == report.Failed && !r.Answer.Measured {
			return exit.NotMeasured("viz: nothing is drawn of what was not measured: %s", r.Message)
		}
	}
	if err := sidebyside.Write(o.Stdout, format, render.OfTests(documents), evidence); err != nil {
		return exit.NotMeasured("print: %w", err)
	}
	return nil
}

// interrupts returns the signals that end a program, until end is called.
func interrupts() (signals <-chan os.Signal, end func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, sidebyside.Signals()...)
	return c, func() { signal.Stop(c) }
}
