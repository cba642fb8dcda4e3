package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
)

func newCompare(s Streams) *cobra.Command {
	var o sidebyside.Options
	cmd := &cobra.Command{
		Use:   "compare A B [C...]",
		Short: "Set saved Reports side by side, and say what a difference is worth",
		Example: "  linerate compare before.json after.json\n  linerate compare v1.4/ v1.5/ -o markdown\n" +
			"  linerate compare main/ branch/ --max-regression 2% && echo not slower",
		Long: "Compares Reports with those of the first file or directory, by product and loadtest. Several Reports " +
			"of one test are runs of it: their median is compared, and a\n" +
			"difference is reported only where the runs show it. Reports whose Plans measure in different ways " +
			"aren't compared, and the output names what differs. Neither are those of other\n" +
			"generators, network cards or machines, unless --allow-different names what differs.\n\n" +
			"A directory is searched for *.json and *.json.gz, with all its subdirectories.\n\n" +
			sidebyside.ExitCodes,
		Args: sidebyside.AtLeast(2, "two or more files or directories of Reports, the first of which the others are "+
			"compared with"),
		RunE: func(_ *cobra.Command, paths []string) error {
			demand, err := o.Check()
			if err != nil {
				return exit.BadInput("%w", err)
			}
			a := &reportFiles{stdin: s.Stdin}
			sides, err := a.sides(paths)
			if err != nil {
				return err
			}
			a.printSkipped(s.Stderr)
			c := history.Compare(sides, demand, o.AllowDifferent.Parts())
			if err := sidebyside.Write(s.Stdout, o.Format, render.OfComparison(c), o.Evidence); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return exit.WithCode(c.ExitCode(), nil)
		},
	}
	o.Flags(cmd)
	return cmd
}

func newTable(s Streams) *cobra.Command {
	return documentVerb(s, render.Table, func(title string, records []history.Record) render.Document {
		return render.OfTable(history.Table(title, records))
	}, &cobra.Command{
		Use:     "table PATH...",
		Short:   "Make one table of saved Reports: product by loadtest, medians of repeated runs",
		Example: "  linerate table nightly/ -o markdown\n  linerate table vpp.json openbsd.json -o html > systems.html",
		Long: "Makes one table of the Reports of files and directories. Several Reports of one product and loadtest " +
			"are runs of it: the median is shown, how far they are apart, and\n" +
			"what was not measured, and why. Runs whose Plans measure in different ways have no common figure; the " +
			"table names what differs.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 it could not be printed.",
	})
}

func newTrend(s Streams) *cobra.Command {
	var allow sidebyside.AllowDifferent
	cmd := &cobra.Command{
		Use:     "trend PATH...",
		Short:   "Show saved Reports over time: graphs, outliers, changes of plan",
		Example: "  linerate trend nightly/ -o html > trend.html\n  linerate trend nightly/2026-0[123]/ -o text",
		Long: "Puts the Reports of files and directories in the order of time, a series for each product and " +
			"loadtest. Marked are runs that lie far from their neighbours,\n" +
			"runs that weren't measured, and where the Plan began to measure in another way, or in another " +
			"environment.\n\n" +
			"Exit codes: 0 shown, 2 bad input, 3 it could not be printed.",
		PreRunE: func(*cobra.Command, []string) error {
			if err := allow.Check(); err != nil {
				return exit.BadInput("%w", err)
			}
			return nil
		},
	}
	allow.Flag(cmd)
	return documentVerb(s, render.Trend, func(title string, records []history.Record) render.Document {
		return render.OfTrend(history.Trend(title, records, allow.Parts()))
	}, cmd)
}

// documentVerb completes a verb that composes one document of all Reports in files and directories.
func documentVerb(s Streams, kind render.Kind, compose func(title string, records []history.Record) render.Document,
	cmd *cobra.Command) *cobra.Command {
	var format, title string
	var evidence bool
	cmd.Args = sidebyside.AtLeast(1, "at least one file or directory of Reports, such as linerate-reports")
	cmd.RunE = func(_ *cobra.Command, paths []string) error {
		if err := checkFormat(format, render.Formats(kind)); err != nil {
			return err
		}
		records, err := readAll(s, paths)
		if err != nil {
			return err
		}
		if err := sidebyside.Write(s.Stdout, format, compose(title, records), evidence); err != nil {
			return exit.NotMeasured("print: %w", err)
		}
		return nil
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(kind))
	sidebyside.EvidenceFlag(cmd, &evidence)
	cmd.Flags().StringVar(&title, "title", "", "title of the document")
	return cmd
}

// readAll reads all Reports behind the paths.
func readAll(s Streams, paths []string) ([]history.Record, error) {
	a := &reportFiles{stdin: s.Stdin}
	sides, err := a.sides(paths)
	if err != nil {
		return nil, err
	}
	a.printSkipped(s.Stderr)
	var records []history.Record
	for _, side := range sides {
		records = append(records, side.Records...)
	}
	return records, nil
}
