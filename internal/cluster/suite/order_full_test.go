//go:build full

package suite

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of orders into docs/measured/statistics.md")

// TestEachOrderOfRuns counts the whole table: each order but the default one has a disturbance in which it is
// always, or oftener, wrong. That is 60 000 comparisons, half a minute of processor time, and no change but one
// of the orders or of comparisons changes them.
func TestEachOrderOfRuns(t *testing.T) {
	var table strings.Builder
	table.WriteString("| order | runs of each |")
	for _, d := range disturbances {
		fmt.Fprintf(&table, " %s |", d.words)
	}
	table.WriteString("\n|" + strings.Repeat("---|", 2+len(disturbances)) + "\n")
	for order := range orders {
		for _, runs := range []int{5, 10} {
			table.WriteString(row(t, order, runs))
		}
	}
	const begin, end = "<!-- orders: counted by go test -tags full ./internal/cluster/suite -update -->\n",
		"<!-- end of orders -->"
	text, err := os.ReadFile(statistics)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	current, tail, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no place for the table of orders", statistics)
	case *update:
		// a page for everybody
		if err := os.WriteFile(statistics, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case current != table.String():
		t.Errorf("%s says\n%s\ncounted was\n%s", statistics, current, table.String())
	}
}
