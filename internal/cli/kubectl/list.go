package kubectl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

func newList(o Options, to *connection) *cobra.Command {
	var format string
	var everywhere, all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List suites and tests: what runs, what waits and for what, and who holds which devices",
		Example: "  kubectl linerate list -A\n  kubectl linerate list -A -o json | jq '.held[] | select(.node == \"node-1\")'",
		Long: "Lists suites, and below them tests: what runs, then what waits, oldest first, then what has ended, newest first; and below it each device that a test holds.\n" +
			"Of a suite's tests those are shown that run, and the first that wait; --all shows all.\n\n" +
			"Exit codes: 0 listed, 2 bad input, 3 the cluster can't be asked.",
		Args:              none("kubectl linerate watch NAME follows a test, kubectl linerate report NAME prints its result"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := sidebyside.CheckFormat(format, textOrJSON()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			where, opts := c.namespace, []client.ListOption{client.InNamespace(c.namespace)}
			if everywhere {
				where, opts = "", nil
			}
			l, err := c.list(cmd.Context(), o.Err, where, opts...)
			if err != nil {
				return err
			}
			if len(l.Tests)+len(l.Suites) == 0 && format == "text" {
				fmt.Fprintln(o.Err, nothingIn(where))
				return nil
			}
			l.everywhere, l.everything = everywhere, all
			if err := l.write(o.Out, format, sidebyside.TextOptions(o.Out).Width, time.Now()); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, textOrJSON())
	cmd.Flags().BoolVar(&all, "all", false, "show each test of a suite, too")
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the tests of all namespaces")
	return cmd
}

// textOrJSON are the formats of what describes a cluster.
func textOrJSON() []string { return []string{"text", "json"} }

// list asks for suites and tests.
func (c *cluster) list(ctx context.Context, talk io.Writer, where string, opts ...client.ListOption) (listing, error) {
	var tests v1alpha1.LoadTestList
	if err := c.client.List(ctx, &tests, opts...); err != nil {
		return listing{}, c.explain("list", client.ObjectKey{Namespace: where}, err)
	}
	var suites v1alpha1.LoadTestSuiteList
	switch err := c.client.List(ctx, &suites, opts...); {
	case err == nil, meta.IsNoMatchError(err), unknownKind(err): // a release without suites
	case apierrors.IsForbidden(err):
		fmt.Fprintf(talk, "you may not list LoadTestSuites here: they are left out; the server says: %v\n", err)
	default:
		return listing{}, c.explainOf(v1alpha1.LoadTestSuiteKind, "list", client.ObjectKey{Namespace: where}, err)
	}
	return listOf(suites.Items, tests.Items), nil
}

func nothingIn(namespace string) string {
	if namespace == "" {
		return "no LoadTests in the cluster: kubectl linerate run FILE runs one"
	}
	return fmt.Sprintf("no LoadTests in namespace %s: kubectl linerate list -A shows those of all namespaces", namespace)
}

// write writes the listing in a format; text for a terminal of that width, or for none where it is 0.
func (l listing) write(w io.Writer, format string, width int, now time.Time) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(l)
	}
	var text strings.Builder
	l.text(&text, width, now)
	_, err := io.WriteString(w, text.String())
	return err
}

// text is up to three tables: suites, tests, and devices, each where there are any.
func (l listing) text(out io.Writer, width int, now time.Time) {
	p := pages{out: out, width: width, everywhere: l.everywhere}
	if len(l.Suites) > 0 {
		p.begin("SUITE", "STATE", "%", "MEASURED", "NOT", "PASSED", "AGE", "WHAT")
		for _, r := range l.Suites {
			p.line(r.Namespace, r.Name, r.State, percentCell(r.Percent), fmt.Sprintf("%d of %d", r.Measured, r.Tests), fmt.Sprint(r.NotMeasured), r.passedCell(), age(now, r.CreatedAt), r.words)
		}
		p.end()
	}
	tests, leftOut := l.shown(l.everything)
	if len(tests) > 0 {
		p.begin("NAME", "STATE", "%", "PASSED", "AGE", "WHAT")
		for _, r := range tests {
			p.line(r.Namespace, r.Name, r.State, percentCell(r.Percent), r.passedCell(), age(now, r.CreatedAt), r.words)
		}
		p.end()
	}
	if leftOut > 0 {
		p.say("%s of suites: kubectl linerate list --all shows them", moreTests(leftOut))
	}
	if len(l.Held) > 0 {
		p.begin("NODE", "DEVICE", "TEST", "LINK", "POD")
		for _, h := range l.Held {
			p.line(h.Namespace, h.Node, h.Device, h.Test, h.Link, h.Pod)
		}
		p.end()
	}
}

func moreTests(n int) string {
	if n == 1 {
		return "1 more test"
	}
	return fmt.Sprintf("%d more tests", n)
}

func percentCell(percent *int32) string {
	if percent == nil {
		return "-"
	}
	return fmt.Sprint(*percent)
}

func (r testRow) passedCell() string { return passedCell(r.Passed, r.rank()) }

func (r suiteRow) passedCell() string { return passedCell(r.Passed, r.rank()) }

// passedCell is the verdict on what is over.
func passedCell(passed string, rank int) string {
	if passed == "" || rank != 2 {
		return "-"
	}
	return passed
}

func age(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }
