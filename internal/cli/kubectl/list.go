package kubectl

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

func newList(o Options, conn *connection) *cobra.Command {
	var format string
	var allNamespaces, allTests bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List suites and tests: what runs, what waits and for what, and who holds which devices",
		Example: "  kubectl linerate list -A\n" +
			"  kubectl linerate list -A -o json | jq '.held[] | select(.node == \"node-1\")'",
		Long: "Lists suites, and below them tests: what runs, then what waits, oldest first, then what has ended, " +
			"newest first; and below it each device that a test holds.\n" +
			"Of a suite's tests those are shown that run, and the first that wait; --all shows all.\n\n" +
			"Exit codes: 0 listed, 2 bad input, 3 the cluster can't be asked.",
		Args: noNames("kubectl linerate watch NAME follows a test, kubectl linerate report NAME prints " +
			"its result"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := sidebyside.CheckFormat(format, textOrJSON()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			namespace := c.namespace
			if allNamespaces {
				namespace = ""
			}
			l, err := c.list(cmd.Context(), o.Stderr, namespace)
			if err != nil {
				return err
			}
			if len(l.Tests)+len(l.Suites) == 0 && format == "text" {
				fmt.Fprintln(o.Stderr, noTestsSentence(namespace))
				return nil
			}
			l.namespaces, l.allTests = allNamespaces, allTests
			if err := l.write(o.Stdout, format, sidebyside.TextOptions(o.Stdout).Width, time.Now()); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, textOrJSON())
	cmd.Flags().BoolVar(&allTests, "all", false, "show each test of a suite, too")
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "list the tests of all namespaces")
	return cmd
}

// textOrJSON are the formats of list and doctor.
func textOrJSON() []string { return []string{"text", "json"} }

// list lists the suites and tests of a namespace. Empty means all namespaces.
func (c *cluster) list(ctx context.Context, stderr io.Writer, namespace string) (listing, error) {
	var tests v1alpha1.LoadTestList
	if err := c.client.List(ctx, &tests, client.InNamespace(namespace)); err != nil {
		return listing{}, c.explain("list", client.ObjectKey{Namespace: namespace}, err)
	}
	var suites v1alpha1.LoadTestSuiteList
	err := c.client.List(ctx, &suites, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		fmt.Fprintf(stderr, "you may not list LoadTestSuites here, so they are left out: ask the namespace's admin "+
			"for the role view; the server says: %v\n", err)
	} else if err != nil {
		return listing{}, c.explainOf(v1alpha1.LoadTestSuiteKind, "list", client.ObjectKey{Namespace: namespace}, err)
	}
	return newListing(suites.Items, tests.Items), nil
}

func noTestsSentence(namespace string) string {
	if namespace == "" {
		return "no LoadTests in the cluster: kubectl linerate run FILE runs one"
	}
	return fmt.Sprintf("no LoadTests in namespace %s: kubectl linerate list -A shows those of all namespaces",
		namespace)
}

// write writes the listing in a format. Text is folded to the width, unless that is 0.
func (l listing) write(stdout io.Writer, format string, width int, instant time.Time) error {
	if format == "json" {
		return sidebyside.WriteJSON(stdout, l)
	}
	var text strings.Builder
	l.text(&text, width, instant)
	_, err := io.WriteString(stdout, text.String())
	return err
}

// text writes tables of the suites, the tests and the devices that exist.
func (l listing) text(stdout io.Writer, width int, instant time.Time) {
	p := pages{stdout: stdout, width: width, namespaces: l.namespaces}
	if len(l.Suites) > 0 {
		p.begin("SUITE", "STATE", "REASON", "PROGRESS", "MEASURED", "FAILED", "PASSED", "AGE", "WHAT")
		for _, r := range l.Suites {
			p.line(r.Namespace, r.Name, r.State, cmp.Or(r.Reason, "-"), percentCell(r.Percent),
				fmt.Sprintf("%d of %d", r.Measured, r.Tests), fmt.Sprint(r.NotMeasured),
				passedCell(r.Passed, r.rank()), age(instant, r.CreationTime), r.words)
		}
		p.end()
	}
	tests, hidden := l.shown()
	if len(tests) > 0 {
		p.begin("NAME", "STATE", "REASON", "PROGRESS", "PASSED", "AGE", "WHAT")
		for _, r := range tests {
			p.line(r.Namespace, r.Name, r.State, cmp.Or(r.Reason, "-"), percentCell(r.Percent),
				passedCell(r.Passed, r.rank()), age(instant, r.CreationTime), r.words)
		}
		p.end()
	}
	switch {
	case hidden == 1:
		p.say("1 more test of suites: kubectl linerate list --all shows them")
	case hidden > 1:
		p.say("%d more tests of suites: kubectl linerate list --all shows them", hidden)
	}
	if len(l.Devices) > 0 {
		p.begin("NODE", "DEVICE", "TEST", "LINK", "POD")
		for _, h := range l.Devices {
			p.line(h.Namespace, h.Node, h.Device, h.Test, h.Link, h.Pod)
		}
		p.end()
	}
}

func percentCell(percent *int32) string {
	if percent == nil {
		return "-"
	}
	return fmt.Sprint(*percent)
}

// passedCell is the verdict on a test or suite that has ended.
func passedCell(passed string, rank int) string {
	if passed == "" || rank != rankEnded {
		return "-"
	}
	return passed
}

func age(instant, start time.Time) string { return duration.HumanDuration(max(0, instant.Sub(start))) }
