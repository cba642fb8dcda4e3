package kubectl

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
)

func newCompare(o Options, to *connection) *cobra.Command {
	var options sidebyside.Options
	cmd := &cobra.Command{
		Use:   "compare A B [C...]",
		Short: "Set what tests measured side by side, and say what a difference is worth",
		Example: "  kubectl linerate compare vpp-imix vpp-imix-new\n  kubectl linerate compare linerate.dev/suite=v14 linerate.dev/suite=v15 -o markdown\n" +
			"  kubectl linerate compare release=1.4 release=1.5 --max-regression 2%",
		Long: "Compares Reports with those of the first, by product and loadtest. Each is a LoadTest, a Report that was kept (a LoadTest's name that is gone, or the ConfigMap's),\n" +
			"a LoadTestSuite (the Reports of all its tests), or a label selector: then all Reports of LoadTests that match, and all that were kept and match. Several Reports of one test are runs of it.\n\n" +
			sidebyside.ExitCodes,
		Args:              sidebyside.AtLeast(2, "two or more tests, suites, kept Reports or label selectors, the first of which the others are compared with"),
		ValidArgsFunction: completeTests(to),
		RunE: func(cmd *cobra.Command, names []string) error {
			demand, err := options.Check()
			if err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			var sides []history.Side
			var wrong []error
			for _, name := range names {
				records, err := c.side(cmd.Context(), o.Err, name)
				wrong = append(wrong, err)
				sides = append(sides, history.Side{Name: name, Records: records})
			}
			if err := exit.Worst(wrong...); err != nil {
				return err
			}
			compared := history.Compare(sides, demand, options.AllowDifferent.Parts())
			if err := sidebyside.Write(o.Out, options.Format, render.OfComparison(compared)); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return exit.WithCode(compared.ExitCode(), nil)
		},
	}
	options.Flags(cmd)
	return cmd
}

// side are the Reports that a name or selector stands for.
func (c *cluster) side(ctx context.Context, talk io.Writer, name string) ([]history.Record, error) {
	if isSelector(name) {
		return c.selected(ctx, name)
	}
	if o, err := c.named(ctx, name); err == nil && kindOf(o) == v1alpha1.LoadTestSuiteKind {
		return c.selected(ctx, v1alpha1.LabelSuiteUID+"="+string(o.GetUID())) // Reports of an earlier suite of its name may be kept
	}
	r, test, err := c.found(ctx, talk, name)
	if err != nil {
		return nil, err
	}
	return []history.Record{{Name: name, Report: withoutFigures(test, r)}}, nil
}

// selected are the Reports that a selector stands for; none is an error.
func (c *cluster) selected(ctx context.Context, text string) ([]history.Record, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, exit.BadInput("%q is no label selector: %w", text, err)
	}
	records, err := c.matching(ctx, selector)
	if err == nil && len(records) == 0 {
		err = exit.BadInput("no Report in namespace %s matches %s: kubectl get loadtests,configmaps -n %s -l '%s' shows what does", c.namespace, text, c.namespace, text)
	}
	return records, err
}

func newTrend(o Options, to *connection) *cobra.Command {
	var format, selector, title string
	var allow sidebyside.AllowDifferent
	cmd := &cobra.Command{
		Use:     "trend",
		Short:   "Show what tests measured over time: graphs, outliers, changes of plan",
		Example: "  kubectl linerate trend -o html > trend.html\n  kubectl linerate trend -l linerate.dev/test=vpp-imix",
		Long: "Puts the Reports of a namespace's LoadTests, and those that were kept beyond theirs (spec.reportRetention: Keep), in the order of time, a series for each product and\n" +
			"loadtest.\n\nExit codes: 0 shown, 2 bad input, 3 a Report isn't what the runner wrote, or the cluster can't be asked.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(sidebyside.CheckFormat(format, render.Formats(render.Trend)), allow.Check()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			records, err := c.selected(cmd.Context(), selector)
			if len(records) == 0 {
				return err
			}
			if written := sidebyside.Write(o.Out, format, render.OfTrend(history.Trend(title, records, allow.Parts()))); written != nil {
				err = errors.Join(err, exit.NotMeasured("print: %w", written))
			}
			return exit.Worst(err)
		},
	}
	sidebyside.FormatFlag(cmd, &format, render.Formats(render.Trend))
	allow.Flag(cmd)
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "only LoadTests and kept Reports with these labels")
	cmd.Flags().StringVar(&title, "title", "", "what to write above it")
	return cmd
}
