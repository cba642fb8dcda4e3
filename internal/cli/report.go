package cli

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/report"
)

func newReport(s Streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "report FILE...",
		Short:   "Render saved Reports again, as one table",
		Example: "  linerate report linerate-reports/*.json\n  linerate report -o html imix.json 64b.json > both.html\n  cat imix.json | linerate report -o markdown -",
		Args:    someFiles("at least one Report that linerate run --save kept, or - for stdin"),
		RunE: func(_ *cobra.Command, files []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			reports, err := readReports(s.In, files)
			if err != nil {
				return err
			}
			if err := report.Render(s.Out, format, reports...); err != nil {
				return notMeasured("print: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", formatUsage())
	return cmd
}

func readReports(stdin io.Reader, files []string) ([]*report.Report, error) {
	var all []*report.Report
	for _, name := range files {
		reports, err := readReportFile(stdin, name)
		if err != nil {
			return nil, badInput("%s: %w", name, err)
		}
		all = append(all, reports...)
	}
	return all, nil
}

func readReportFile(stdin io.Reader, name string) ([]*report.Report, error) {
	if name == "-" {
		return report.Read(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return report.Read(f)
}

func checkFormat(format string) error {
	if slices.Contains(report.Formats(), format) {
		return nil
	}
	return badInput("--output %q: there is no such format; use one of %s", format, joined(report.Formats()))
}
