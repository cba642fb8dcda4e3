package faults

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/published"
)

// ledger is what happened, row by row, in the words of the document.
type ledger struct {
	// measured says when that was, and with which tree.
	measured string
	// lines are a row's, by its name: more than one where it was played again.
	lines map[string][]string
}

// add adds a play that is over.
func (l *ledger) add(p *play) {
	cells := []string{"**it was not complete**", "", "", ""}
	if p.test != nil {
		_, complete, message := condition(p.test, lineratev1alpha1.ConditionComplete)
		cells = []string{"**" + complete + "**, " + verdict(p.test) + p.excuse() + p.words(message), measured(p), p.heard(), p.again}
	}
	if p.Failed() {
		cells[0] += " **NOT AS IT SHOULD BE**"
	}
	line := p.cells() + strings.Join(cells, " | ") + " |"
	p.Log(line)
	l.lines[p.name()] = append([]string{line}, l.lines[p.name()]...) // cleaned up last first
}

// excuse says why a test that survived has no answer.
func (p *play) excuse() string {
	if !p.survives() || answered(p.test) {
		return ""
	}
	return p.business()
}

// words are those of Complete where the test ended by the fault, without the namespace and what differs each time.
func (p *play) words(message string) string {
	if p.survives() {
		return ""
	}
	message = strings.Join(strings.Fields(message), " ")
	if r := []rune(message); len(r) > 160 {
		message = string(r[:160]) + "…"
	}
	return ": " + strings.ReplaceAll(message, "|", "\\|")
}

// verdict is Passed in short.
func verdict(t *lineratev1alpha1.LoadTest) string {
	status, reason, _ := condition(t, lineratev1alpha1.ConditionPassed)
	return "Passed=" + status + " " + reason
}

// measured is the figure that a status has, with how it came about.
func measured(p *play) string {
	var out []string
	if figures := told(p.test); figures != "" {
		out = append(out, figures)
	}
	if p.test.Status.LostRuns > 0 {
		out = append(out, fmt.Sprintf("lostRuns %d", p.test.Status.LostRuns))
	}
	if p.report != nil && !p.survives() && p.test.Status.Result == nil {
		out = append(out, fmt.Sprintf("none; %d windows kept in the Report", len(p.report.Windows)))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// told is a status' figures.
func told(t *lineratev1alpha1.LoadTest) string {
	var out []string
	for _, f := range figures(t) {
		out = append(out, fmt.Sprint(f))
	}
	return strings.Join(out, " / ")
}

// heard is when the wires were heard last.
func (p *play) heard() string {
	if p.silence < 250*time.Millisecond {
		return "at once"
	}
	return fmt.Sprintf("%.1f s", p.silence.Seconds())
}

// write puts the rows that were played into the document, in the table's order, and leaves the others as they stand there.
func (l *ledger) write(t *testing.T) {
	if *table == "" {
		return
	}
	err := published.Again(pageOf(*table), "faults", func(old string) string {
		table := []string{
			"| fault | phase | what the status said | figures, packets/s | silent after | run again |",
			"|---|---|---|---|---|---|",
		}
		count := 0
		for _, r := range rows() {
			now, played := l.lines[r.name()]
			if played {
				count++
			} else {
				now = slices.DeleteFunc(lines(old), func(line string) bool { return !strings.HasPrefix(line, r.cells()) })
			}
			table = append(table, now...)
		}
		provenance := l.measured
		if count < len(rows()) {
			provenance = fmt.Sprintf("%d of the %d rows: %s The others are older.", count, len(rows()), provenance)
		}
		return strings.Join(append(table, "", provenance, ""), "\n")
	})
	if err != nil {
		t.Error(err)
	}
}

// cells are how a row's line begins.
func (r row) cells() string { return "| " + r.fault.name + " | " + string(r.phase) + " | " }

// pageOf is the file of a page that is named from the project's directory: tests run in their package's.
func pageOf(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join("..", "..", name)
}
