package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/sidebyside"
)

func newReport(s Streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "report FILE...",
		Short:   "Render saved Reports again, as one table, and suites' tables",
		Example: "  linerate report linerate-reports/*.json\n  linerate report -o html imix.json 64b.json > both.html\n  cat imix.json | linerate report -o markdown -",
		Args:    someFiles("at least one Report that linerate run --save kept, or - for stdin"),
		RunE: func(_ *cobra.Command, files []string) error {
			if err := checkFormat(format, render.Formats(render.Tests)); err != nil {
				return err
			}
			all, err := readDocuments(s.In, files)
			if err != nil {
				return err
			}
			if err := render.Fits(format, len(all.Reports), len(all.Suites)); err != nil {
				return exit.BadInput("--output: %w", err)
			}
			if err := sidebyside.Write(s.Out, format, render.OfTests(all)); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Tests))
	return cmd
}

func readDocuments(stdin io.Reader, files []string) (all report.Documents, err error) {
	for _, name := range files {
		found, err := sidebyside.ReadDocuments(stdin, name)
		if err != nil {
			return all, exit.BadInput("%s: %w", name, err)
		}
		all.Reports, all.Suites = append(all.Reports, found.Reports...), append(all.Suites, found.Suites...)
	}
	return all, nil
}

func checkFormat(format string, formats []string) error {
	if err := sidebyside.CheckFormat(format, formats); err != nil {
		return exit.BadInput("%w", err)
	}
	return nil
}
