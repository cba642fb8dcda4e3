package kubectl

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func newList(o Options, to *connection) *cobra.Command {
	var format string
	var everywhere bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List tests: what runs, what waits and for what, and who holds which devices",
		Example: "  kubectl linerate list -A\n  kubectl linerate list -A -o json | jq '.held[] | select(.node == \"node-1\")'",
		Long: "Lists what runs, then what waits, oldest first, then what has ended, newest first; and below it each device that a test holds.\n\n" +
			"Exit codes: 0 listed, 2 bad input, 3 the cluster can't be asked.",
		Args:              none("kubectl linerate watch NAME follows a test, kubectl linerate report NAME prints its result"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return badInput("--output %q: there is no such format; use one of text, json", format)
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			where, opts := c.namespace, []client.ListOption{client.InNamespace(c.namespace)}
			if everywhere {
				where, opts = "", nil
			}
			var tests v1alpha1.LoadTestList
			if err := c.client.List(cmd.Context(), &tests, opts...); err != nil {
				return c.explain("list", client.ObjectKey{Namespace: where}, err)
			}
			l := listOf(tests.Items)
			if len(l.Tests) == 0 && format == "text" {
				fmt.Fprintln(o.Err, nothingIn(where))
				return nil
			}
			if err := l.write(o.Out, format, everywhere, time.Now()); err != nil {
				return notMeasured("print: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "what to print on stdout: text, json")
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the tests of all namespaces")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func nothingIn(namespace string) string {
	if namespace == "" {
		return "no LoadTests in the cluster: kubectl linerate run FILE runs one"
	}
	return fmt.Sprintf("no LoadTests in namespace %s: kubectl linerate list -A shows those of all namespaces", namespace)
}

func (l listing) write(w io.Writer, format string, everywhere bool, now time.Time) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(l)
	}
	var text strings.Builder
	l.text(&text, everywhere, now)
	_, err := io.WriteString(w, text.String())
	return err
}

// text is two tables: tests, and devices where any are held.
func (l listing) text(out io.Writer, everywhere bool, now time.Time) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(namespace string, cells ...string) {
		if everywhere {
			cells = append([]string{namespace}, cells...)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	line("NAMESPACE", "NAME", "STATE", "%", "PASSED", "AGE", "WHAT")
	for _, r := range l.Tests {
		line(r.Namespace, r.Name, r.State, percentCell(r.Percent), r.passedCell(), age(now, r.CreatedAt), oneLine(r.words))
	}
	_ = t.Flush() // into memory
	if len(l.Held) == 0 {
		return
	}
	fmt.Fprintln(out)
	line("NAMESPACE", "NODE", "DEVICE", "TEST", "LINK", "POD")
	for _, h := range l.Held {
		line(h.Namespace, h.Node, h.Device, h.Test, h.Link, h.Pod)
	}
	_ = t.Flush() // into memory
}

func percentCell(percent *int32) string {
	if percent == nil {
		return "-"
	}
	return fmt.Sprint(*percent)
}

func (r testRow) passedCell() string {
	if r.Passed == "" || r.rank() != 2 {
		return "-"
	}
	return r.Passed
}

func age(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }
