//go:build full

package realpackets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// knownAnswers is a published table of devices whose answer is known, measured row by row.
type knownAnswers struct {
	section string   // of the page that -table names
	right   string   // what the rows without a fault are, such as "within 1 %"
	columns []string // the last ones are "outcome", "took" and "machine", and those after a row's own cells
}

// knownAnswer is the result of measuring one row.
type knownAnswer struct {
	report  *report.Report // nil: there is none
	faults  []string       // claims that are false
	missing []string       // what a calm machine has to find, and this one didn't
	cells   []string       // the row's own, before the outcome
	behind  []string       // the row's own, between how long it took and the machine
	took    time.Duration
}

// run measures each row in a subtest, and publishes the table if -table names a page. A row with a false claim fails its test unless the machine was disturbed, and is published all the same. A row that only misses
// something proves nothing if its Report says that a window was disturbed.
func (k knownAnswers) run(t *testing.T, names []string, measure func(t *testing.T, row int) knownAnswer) {
	t.Helper()
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count, measured := map[calm.Outcome]int{}, published.Provenance(time.Now())
	var rows []string
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			answer := measure(t, i)
			machine := watch.Since(begun)
			outcome := answer.outcome(machine)
			if outcome == calm.Wrong {
				t.Errorf("on a calm machine: %s", strings.Join(append(answer.faults, answer.missing...), "; "))
			}
			count[outcome]++
			rows = append(rows, answer.row(outcome, machine))
			t.Log(rows[len(rows)-1])
		})
	}
	tally := fmt.Sprintf("%d rows, %d %s, %d disturbed, %d wrong. %s.", len(rows), count[calm.Right], k.right, count[calm.Disturbed], count[calm.Wrong], measured)
	t.Log(tally)
	if *table == "" {
		return
	}
	if len(rows) != len(names) {
		t.Fatalf("%d of %d rows were measured: the table stays as it was", len(rows), len(names))
	}
	text := fmt.Sprintf("%s\n\n| %s |\n%s|\n%s\n", tally, strings.Join(k.columns, " | "), strings.Repeat("|---", len(k.columns)), strings.Join(rows, "\n"))
	if err := published.Section(*table, k.section, text); err != nil {
		t.Error(err)
	}
}

func (a knownAnswer) outcome(machine calm.LostTime) calm.Outcome {
	outcome := machine.Outcome(append(slices.Clone(a.faults), a.missing...))
	if outcome == calm.Wrong && len(a.faults) == 0 && a.report != nil && slices.ContainsFunc(a.report.Windows, func(w report.Window) bool { return w.Disturbance != nil }) {
		return calm.Disturbed
	}
	return outcome
}

func (a knownAnswer) row(outcome calm.Outcome, machine calm.LostTime) string {
	text := string(outcome)
	if all := append(slices.Clone(a.faults), a.missing...); len(all) > 0 {
		text += ": " + strings.ReplaceAll(strings.Join(all, "; "), "|", "\\|")
	}
	cells := slices.Concat(a.cells, []string{text, fmt.Sprint(a.took.Round(time.Second))}, a.behind, []string{machine.Row()})
	return "| " + strings.Join(cells, " | ") + " |"
}

// lasted is how long a Report's run took.
func lasted(r *report.Report) time.Duration { return r.Finished.Sub(r.Started) }

// namesOf are the names of all rows.
func namesOf[T any](rows []T, name func(T) string) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = name(row)
	}
	return names
}
