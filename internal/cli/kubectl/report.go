package kubectl

import (
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
)

func newReport(o Options, conn *connection) *cobra.Command {
	var evidence bool
	var format string
	cmd := &cobra.Command{
		Use:   "report NAME...",
		Short: "Print what tests and suites measured",
		Example: "  kubectl linerate report vpp-imix -n lab\n  kubectl linerate report vpp-imix vpp-64b -o markdown\n" +
			"  kubectl linerate report four-systems -o html > four-systems.html",
		Long: "Reads the Reports of tests and suites from their ConfigMaps, holds each against the digest that the " +
			"operator noted, and prints them: tests as one table, each suite as\n" +
			"its own. Of a suite that goes on, what was measured so far is printed. Where a LoadTest and a " +
			"LoadTestSuite have the same name, write loadtest/NAME or suite/NAME.\n" +
			"Of a test that is gone, the newest Report is printed that was kept (spec.reportRetention: Keep); a kept " +
			"Report can be named itself, too.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 a Report is missing or isn't what the operator read, or the " +
			"cluster can't be asked.",
		Args:              sidebyside.AtLeast(1, someTests),
		ValidArgsFunction: completeTests(conn),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkFormat(format, len(names), 0); err != nil {
				return err
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			var documents report.Documents
			var errs []error
			for _, name := range names {
				errs = append(errs, reports{c, o.Stderr}.addNamed(cmd.Context(), name, &documents))
			}
			err = checkFormat(format, len(documents.Reports), len(documents.Suites))
			if err == nil {
				err = printAll(o, format, documents, evidence)
			}
			return exit.Worst(append(errs, err)...)
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Tests))
	sidebyside.EvidenceFlag(cmd, &evidence)
	return cmd
}

// checkFormat refuses a format that can't show so many tests and suites.
func checkFormat(format string, tests, suites int) error {
	if err := render.Fits(format, tests, suites); err != nil {
		return exit.BadInput("--output %q: %w", format, err)
	}
	return nil
}

// checkFormatOf refuses a format that can't show all objects.
func checkFormatOf(format string, objects []client.Object) error {
	suites := 0
	for _, o := range objects {
		if kindOf(o) == v1alpha1.LoadTestSuiteKind {
			suites++
		}
	}
	return checkFormat(format, len(objects)-suites, suites)
}
