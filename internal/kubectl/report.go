package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/report"
)

func newReport(o Options, to *connection) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report NAME...",
		Short: "Print what tests measured",
		Example: "  kubectl linerate report vpp-imix -n lab\n  kubectl linerate report vpp-imix vpp-64b -o markdown\n" +
			"  kubectl linerate report vpp-imix -o html > vpp-imix.html",
		Long: "Reads the tests' Reports from their ConfigMaps, holds each against the digest that the operator noted, and prints them as one table.\n" +
			"Of a test that is gone, the newest Report is printed that was kept (spec.reportRetention: Keep); a kept Report can be named itself, too.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 a Report is missing or isn't what the operator read, or the cluster can't be asked.",
		Args:              some(someTests),
		ValidArgsFunction: completeTests(to),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkFormat(format, len(names)); err != nil {
				return err
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			var reports []*report.Report
			var wrong []error
			for _, name := range names {
				r, _, err := c.found(cmd.Context(), o.Err, name)
				if err != nil {
					wrong = append(wrong, err)
					continue
				}
				reports = append(reports, r)
			}
			return worst(append(wrong, render(o, format, reports))...)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", formatUsage())
	_ = cmd.RegisterFlagCompletionFunc("output", completeFormats)
	return cmd
}

func formatUsage() string {
	return "what to print on stdout: " + strings.Join(report.Formats(), ", ")
}

// checkFormat refuses a format before anything is done.
func checkFormat(format string, tests int) error {
	switch {
	case !slices.Contains(report.Formats(), format):
		return badInput("--output %q: there is no such format; use one of %s", format, strings.Join(report.Formats(), ", "))
	case format == "viz" && tests > 1:
		return badInput("--output viz holds one test, and there are %s: name them one at a time", fmt.Sprint(tests))
	}
	return nil
}
