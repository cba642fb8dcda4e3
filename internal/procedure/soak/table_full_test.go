//go:build full

package soak_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/test/pages/published"
)

var update = flag.Bool("update", false, "write the table of soaks into docs/measured/simulated-searches.md")

const page = "../../../docs/measured/simulated-searches.md"

// runsOfARow is how often each row of the table is counted: one takes a third of a second of processor time.
const runsOfARow = 15

// TestHowOftenTheTruthIsWithinTheInterval counts the table.
func TestHowOftenTheTruthIsWithinTheInterval(t *testing.T) {
	table := tableOf(t, runsOfARow)
	if *update {
		if err := published.Section(page, "soaks", table); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), table) {
		t.Errorf("%v: %s has another table than (-update writes it)\n%s", err, page, table)
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
