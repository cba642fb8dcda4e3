//go:build trex

package realtrex

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

var (
	draws   = flag.Int("draws", 3, "how many limits are drawn for each question")
	keep    = flag.String("keep", "", "folder in which each row's result is kept, so that -run may ask the questions a few at a time")
	table   = flag.String("table", "", "page to write all rows that -keep has into")
	section = flag.String("section", "kernel interfaces", "the page's section to write")
)

// The outcomes of rows that are as they should be: of figures, and of runs that were killed.
const (
	within1 = "within 1 %"
	inTime  = "in time"
)

// row is one of the published table.
type row struct {
	Question string
	Number   int
	Limit    int64 // 0: the row is of a run that was killed
	TRex     string
	Said     string
	Off      string
	Counted  string
	Faults   []string // claims that aren't so
	Missing  []string // what a calm machine has to find, and this one didn't
	Outcome  string
	Took     string
	Machine  string
	Measured string
	excused  bool
}

// settle fails the test if the row has a false claim, or misses what it needn't, and keeps it.
func (r *row) settle(t *testing.T, machine calm.LostTime) {
	t.Helper()
	r.Machine, r.Measured = machine.Row(), published.Provenance(time.Now())
	switch {
	case len(r.Faults) > 0:
		r.Outcome = string(calm.Wrong) + ": " + strings.Join(append(slices.Clone(r.Faults), r.Missing...), "; ")
		t.Error(r.Outcome)
	case len(r.Missing) == 0:
		r.Outcome = within1
		if r.Limit == 0 {
			r.Outcome = inTime
		}
	case r.excused || machine.Disturbed():
		r.Outcome = "true: " + strings.Join(r.Missing, "; ")
	default:
		r.Outcome = "**not found** on a calm machine: " + strings.Join(r.Missing, "; ")
		t.Error(r.Outcome)
	}
	t.Log(r.line())
	if *keep == "" {
		return
	}
	text, err := json.MarshalIndent(r, "", "  ")
	must(t, err)
	must(t, os.WriteFile(r.file(), text, 0o600))
}

func (r *row) file() string {
	return filepath.Join(*keep, fmt.Sprintf("%s %d.json", r.Question, r.Number))
}

func (r *row) line() string {
	limit := fmt.Sprint(r.Limit)
	if r.Limit == 0 {
		limit = "-"
	}
	cells := []string{r.Question, limit, r.Said, r.Off, r.Counted, r.Outcome, r.Took, r.Machine}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", "\\|"), "\n", " ")
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// publish writes the rows that were kept into the page, in the questions' order.
func publish(t *testing.T) {
	t.Helper()
	if *table == "" {
		return
	}
	var rows []*row
	asked := map[string]int{killedName("calm"): *moments, killedName("overloaded"): *moments}
	names := []string{killedName("calm"), killedName("overloaded")}
	for i, q := range questions {
		asked[q.name], names = *draws, slices.Insert(names, i, q.name)
	}
	for _, name := range names {
		for n := range asked[name] {
			r := &row{Question: name, Number: n + 1}
			text, err := os.ReadFile(r.file())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			must(t, err)
			must(t, json.Unmarshal(text, r))
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("-keep %q has no rows", *keep)
	}
	must(t, published.Section(*table, *section, tableOf(rows)))
}

func tableOf(rows []*row) string {
	var lines, trexes, measured []string
	count := map[string]int{}
	for _, r := range rows {
		lines = append(lines, r.line())
		kind, _, _ := strings.Cut(r.Outcome, ":")
		count[kind]++
		trexes, measured = append(trexes, r.TRex), append(measured, r.Measured)
	}
	wrong := count[string(calm.Wrong)] + count["**not found** on a calm machine"]
	distinct := func(all []string) string {
		return strings.Join(slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(all))), func(s string) bool { return s == "" }), "; ")
	}
	return fmt.Sprintf("%d rows: %d within 1 %%, %d in time, %d true bounds or no figure for a reason that is told, %d wrong or not found. %s: %s.\n\n"+
		"| question | limit, in packets/s and direction | said of each direction or load | worst | the device counted (the Report) | outcome | took | machine |\n|---|---:|---|---:|---|---|---:|---|\n%s\n",
		len(rows), count[within1], count[inTime], count["true"], wrong, distinct(measuredTogether(measured)), distinct(trexes), strings.Join(lines, "\n"))
}

// measuredTogether joins sentences of where rows come from that differ in linerate's commit alone.
func measuredTogether(sentences []string) []string {
	commits := map[[2]string][]string{}
	for _, s := range sentences {
		day, rest, _ := strings.Cut(s, ", with linerate ")
		commit, machine, _ := strings.Cut(rest, ", on ")
		commits[[2]string{day, machine}] = append(commits[[2]string{day, machine}], commit)
	}
	var joined []string
	for where, these := range commits {
		joined = append(joined, fmt.Sprintf("%s, with linerate %s, on %s", where[0], strings.Join(slices.Compact(slices.Sorted(slices.Values(these))), ", "), where[1]))
	}
	return joined
}
