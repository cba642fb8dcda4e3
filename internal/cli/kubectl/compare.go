package kubectl

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
)

func newCompare(o Options, conn *connection) *cobra.Command {
	var options sidebyside.Options
	cmd := &cobra.Command{
		Use:   "compare A B [C...]",
		Short: "Set what tests measured side by side, and say what a difference is worth",
		Example: "  kubectl linerate compare vpp-imix vpp-imix-new\n" +
			"  kubectl linerate compare linerate.dev/suite=v14 linerate.dev/suite=v15 -o markdown\n" +
			"  kubectl linerate compare release=1.4 release=1.5 --max-regression 2%",
		Long: "Compares Reports with those of the first, by product and loadtest. Each is a LoadTest, a Report that " +
			"was kept (a LoadTest's name that is gone, or the ConfigMap's),\n" +
			"a LoadTestSuite (the Reports of all its tests), or a label selector: then all Reports of LoadTests that " +
			"match, and all that were kept and match. Several Reports of one test are runs of it.\n\n" +
			sidebyside.ExitCodes,
		Args: sidebyside.AtLeast(2,
			"two or more tests, suites, kept Reports or label selectors, the first of which the others are compared "+
				"with"),
		ValidArgsFunction: completeTests(conn),
		RunE: func(cmd *cobra.Command, names []string) error {
			demand, err := options.Check()
			if err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			var sides []history.Side
			var errs []error
			for _, name := range names {
				records, err := reports{c, o.Stderr}.ofSide(cmd.Context(), name)
				errs = append(errs, err)
				sides = append(sides, history.Side{Name: name, Records: records})
			}
			if err := exit.Worst(errs...); err != nil {
				return err
			}
			compared := history.Compare(sides, demand, options.AllowDifferent.Parts())
			if err := sidebyside.Write(o.Stdout, options.Format, render.OfComparison(compared),
				options.Evidence); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return exit.WithCode(compared.ExitCode(), nil)
		},
	}
	options.Flags(cmd)
	return cmd
}

// ofSide returns the Reports that a name or a selector stands for on one side of a comparison.
func (r reports) ofSide(ctx context.Context, name string) ([]history.Record, error) {
	if isSelector(name) {
		return r.selected(ctx, name)
	}
	if o, err := r.named(ctx, name); err == nil && kindOf(o) == v1alpha1.LoadTestSuiteKind {
		// Reports of an earlier suite of this name may be kept, so the UID selects.
		return r.selected(ctx, v1alpha1.LabelSuiteUID+"="+string(o.GetUID()))
	}
	document, test, err := r.ofName(ctx, name)
	if err != nil {
		return nil, err
	}
	return []history.Record{{Name: name, Report: withoutFigures(test, document)}}, nil
}

func newTrend(o Options, conn *connection) *cobra.Command {
	var format, selector, title string
	var evidence bool
	var allow sidebyside.AllowDifferent
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Show what tests measured over time: graphs, outliers, changes of plan",
		Example: "  kubectl linerate trend -o html > trend.html\n" +
			"  kubectl linerate trend -l linerate.dev/test=vpp-imix",
		Long: "Puts the Reports of a namespace's LoadTests, and those that were kept beyond theirs " +
			"(spec.reportRetention: Keep), in the order of time, a series for each product and\n" +
			"loadtest.\n\nExit codes: 0 shown, 2 bad input, 3 a Report isn't what the runner wrote, or the cluster " +
			"can't be asked.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(sidebyside.CheckFormat(format, render.Formats(render.Trend)),
				allow.Check()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			records, err := reports{c, o.Stderr}.selected(cmd.Context(), selector)
			if len(records) == 0 {
				return err
			}
			if written := sidebyside.Write(o.Stdout, format,
				render.OfTrend(history.Trend(title, records, allow.Parts())), evidence); written != nil {
				err = errors.Join(err, exit.NotMeasured("print: %w", written))
			}
			return exit.Worst(err)
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Trend))
	sidebyside.EvidenceFlag(cmd, &evidence)
	allow.Flag(cmd)
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "only LoadTests and kept Reports with these labels")
	cmd.Flags().StringVar(&title, "title", "", "what to write above it")
	return cmd
}
