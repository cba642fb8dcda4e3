package walkthrough

import (
	"fmt"
	"strings"
)

// Changes reads the table below this heading row of the page, such as "| the page has | the test has |": by what the
// page has in its first column, what stands in the second. Cells that are code come without their marks.
func Changes(page, heading string) (map[string]string, error) {
	_, table, found := strings.Cut(page, heading+"\n")
	if !found {
		return nil, fmt.Errorf("the page has no table %q", heading)
	}
	changes := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 2 {
			break
		}
		if len(cells) != 4 {
			return nil, fmt.Errorf("row %q of the table %q has %d cells, want 2", line, heading, len(cells)-2)
		}
		if from := strings.Trim(cells[1], " `"); strings.Trim(from, "-") != "" {
			changes[from] = strings.Trim(cells[2], " `")
		}
	}
	return changes, nil
}

// Change makes the changes in a command or a file.
func Change(text string, changes map[string]string) string {
	pairs := make([]string, 0, 2*len(changes))
	for from, to := range changes {
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
