package kubectl

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
)

func newReport(o Options, to *connection) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report NAME...",
		Short: "Print what tests and suites measured",
		Example: "  kubectl linerate report vpp-imix -n lab\n  kubectl linerate report vpp-imix vpp-64b -o markdown\n" +
			"  kubectl linerate report four-systems -o html > four-systems.html",
		Long: "Reads the Reports of tests and suites from their ConfigMaps, holds each against the digest that the operator noted, and prints them: tests as one table, each suite as\n" +
			"its own. Of a suite that goes on, what was measured so far is printed. Where a LoadTest and a LoadTestSuite have the same name, write loadtest/NAME or suite/NAME.\n" +
			"Of a test that is gone, the newest Report is printed that was kept (spec.reportRetention: Keep); a kept Report can be named itself, too.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 a Report is missing or isn't what the operator read, or the cluster can't be asked.",
		Args:              sidebyside.AtLeast(1, someTests),
		ValidArgsFunction: completeTests(to),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkFormat(format, len(names), 0); err != nil {
				return err
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			var all report.Documents
			var wrong []error
			for _, name := range names {
				wrong = append(wrong, c.addReport(cmd.Context(), o.Err, name, &all))
			}
			if err := checkFormat(format, len(all.Reports), len(all.Suites)); err != nil {
				return exit.Worst(append(wrong, err)...)
			}
			return exit.Worst(append(wrong, printAll(o, format, all))...)
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Tests))
	return cmd
}

// checkFormat refuses a format before anything is done.
func checkFormat(format string, tests, suites int) error {
	if err := render.Fits(format, tests, suites); err != nil {
		return exit.BadInput("--output %q: %w", format, err)
	}
	return nil
}

// fits refuses a format that has no room for all of them.
func fits(format string, objects []client.Object) error {
	suites := 0
	for _, o := range objects {
		if kindOf(o) == v1alpha1.LoadTestSuiteKind {
			suites++
		}
	}
	return checkFormat(format, len(objects)-suites, suites)
}

// addReport adds the Report of a test or a suite, or of a test that is gone. What doesn't count in it, or isn't there yet, is told on stderr.
func (c *cluster) addReport(ctx context.Context, talk io.Writer, name string, to *report.Documents) error {
	o, err := c.named(ctx, name)
	switch {
	case isAbsent(err):
		r, err := c.reportOfDeleted(ctx, talk, name, err)
		if err == nil {
			to.Reports = append(to.Reports, r)
		}
		return err
	case err != nil:
		return err
	}
	if suite, is := o.(*v1alpha1.LoadTestSuite); is && endOf(suite) == nil && suite.Status.Report != nil {
		fmt.Fprintf(talk, "%s isn't over (%s): this is what was measured so far\n", suite.Name, momentOf(suite).sentence())
	}
	err = c.read(ctx, o, to)
	return err
}
