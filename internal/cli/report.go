package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
)

func newReport(s Streams) *cobra.Command {
	var format, view, rows string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Render saved Reports again, as one table, and suites' tables",
		Example: "  linerate report linerate-reports/*.json\n" +
			"  linerate report -o html imix.json 64b.json > both.html\n" +
			"  cat imix.json | linerate report -o markdown -\n" +
			"  linerate report --view rfc2544 -o html 64b.json 512b.json 1518b.json > rfc2544.html\n" +
			"  linerate report --view heatmap -o html linerate-reports/loss-grid.suite.json > grid.html",
		Args: sidebyside.AtLeast(1, "at least one Report that linerate run --save kept, or - for stdin"),
		RunE: func(_ *cobra.Command, files []string) error {
			kind := render.Kind(view)
			if !slices.Contains(reportViews(), view) {
				return exit.BadInput("--view %q: there is no such view; use one of %s", view,
					strings.Join(reportViews(), ", "))
			}
			if rows != "" && kind != render.Heatmap {
				return exit.BadInput("--rows %s: only heat maps have rows of an axis: use --view heatmap", rows)
			}
			if err := checkFormat(format, render.Formats(kind)); err != nil {
				return err
			}
			documents, err := readDocuments(s.Stdin, files)
			if err != nil {
				return err
			}
			switch kind {
			case render.RFC2544:
				return writeRFC2544(s.Stdout, format, documents)
			case render.Heatmap:
				if err := checkRows(rows, documents.Suites); err != nil {
					return err
				}
				return writeView(s.Stdout, format, render.OfHeatmap(history.Heatmap(documents, rows)))
			default:
			}
			if err := render.Fits(format, len(documents.Reports), len(documents.Suites)); err != nil {
				return exit.BadInput("--output: %w", err)
			}
			if err := sidebyside.Write(s.Stdout, format, render.OfTests(documents), verbose); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Tests))
	sidebyside.EvidenceFlag(cmd, &verbose)
	cmd.Flags().StringVar(&view, "view", string(render.Tests),
		"how to show them: tests, each with its evidence; rfc2544, in the forms of RFC 2544, section 26: throughput "+
			"over frame sizes, frame loss over load; heatmap, throughput over product and loadtest, frame loss over "+
			"load "+
			"and loadtest")
	cmd.Flags().StringVar(&rows, "rows", "", "of heat maps: the axis of a suite that makes the rows of throughputs; "+
		"by default its first")
	_ = cmd.RegisterFlagCompletionFunc("view", cobra.FixedCompletions(reportViews(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// checkRows refuses an axis that no suite has.
func checkRows(rows string, suites []*report.Suite) error {
	var names []string
	for _, s := range suites {
		for _, a := range s.Axes {
			if a.Name == rows {
				return nil
			}
			names = append(names, a.Name)
		}
	}
	if rows == "" {
		return nil
	}
	return exit.BadInput("--rows %q: no suite that is given has such an axis; they have %s", rows,
		cmp.Or(strings.Join(names, ", "), "none"))
}

// reportViews are the values of --view.
func reportViews() []string {
	return []string{string(render.Tests), string(render.RFC2544), string(render.Heatmap)}
}

func writeRFC2544(stdout io.Writer, format string, documents report.Documents) error {
	if len(documents.Suites) > 0 {
		return exit.BadInput("--view rfc2544: a suite's document holds its runs' results without their windows: give " +
			"the Reports of its runs, beside it or with kubectl linerate report NAME -o json")
	}
	return writeView(stdout, format, render.OfRFC2544(history.RFC2544(documents.Reports)))
}

func writeView(stdout io.Writer, format string, d render.Document) error {
	if err := sidebyside.Write(stdout, format, d, false); err != nil {
		return exit.NotMeasured("print: %w", err)
	}
	return nil
}

func readDocuments(stdin io.Reader, files []string) (documents report.Documents, err error) {
	for _, name := range files {
		found, err := sidebyside.ReadDocuments(stdin, name)
		if err != nil {
			return documents, exit.BadInput("%s: %w", name, err)
		}
		documents.Reports = append(documents.Reports, found.Reports...)
		documents.Suites = append(documents.Suites, found.Suites...)
	}
	return documents, nil
}

func checkFormat(format string, formats []string) error {
	if err := sidebyside.CheckFormat(format, formats); err != nil {
		return exit.BadInput("%w", err)
	}
	return nil
}
