//go:build full

package soak_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of soaks into docs/measured/simulated-searches.md")

const page = "../../../docs/measured/simulated-searches.md"

// runsOfARow is how often each row of the table is counted: one takes a third of a second of processor time.
const runsOfARow = 15

// TestHowOftenTheTruthIsWithinTheInterval counts the table.
func TestHowOftenTheTruthIsWithinTheInterval(t *testing.T) {
	const begin, end = "<!-- soaks: counted by go test -tags full ./internal/procedure/soak -update -->\n", "<!-- end of soaks -->"
	table, text := tableOf(t, runsOfARow), readPage(t)
	before, rest, found := strings.Cut(text, begin)
	was, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no place for the table of soaks", page)
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o644); err != nil { // a page for everybody
			t.Fatal(err)
		}
	case was != table:
		t.Errorf("%s says\n%s\ncounted was\n%s", page, was, table)
	}
}

// tableOf is the table of docs/measured/simulated-searches.md, of so many runs a row.
func tableOf(t *testing.T, runs int) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("| device | within | above it | below it | width |\n|---|---|---|---|---|\n")
	for _, d := range devices {
		text, _ := row(t, d, runs)
		t.Log(text)
		table.WriteString(text)
	}
	return table.String()
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
