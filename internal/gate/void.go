package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// void is how many of a cell's runs don't count, and why. Whoever may suspend or end a run, or disturb one, could void those that show a fault until the rest passes: so their number is part of the verdict.
type void struct {
	runs, voided int
	reasons      map[string]int
}

// givenUp is the reason of runs that came to nothing while their test went on.
const givenUp = "suspended or lost while it measured"

// moreVoid is why a row is undecided of which more runs are void than count.
const moreVoid = "more runs were void than counted, so those that count may have been chosen"

// carryVoid adds the void runs of baselines whose rows aren't shown to the first row of their suite that is: a baseline of chosen runs makes a verdict as well.
func carryVoid(rows []report.GateRow, hidden map[int]bool) {
	for i := range rows {
		if !hidden[i] || rows[i].Voided == 0 {
			continue
		}
		to := firstShown(rows, hidden, rows[i].Suite)
		if to == nil {
			continue
		}
		to.Runs, to.Voided = to.Runs+rows[i].Runs, to.Voided+rows[i].Voided
		to.Message = strings.TrimPrefix(to.Message+"; of the baseline "+rows[i].Message, "; ")
		if 2*rows[i].Voided > rows[i].Runs && to.Outcome == report.Passed {
			to.Outcome = report.Undecided
		}
	}
}

func firstShown(rows []report.GateRow, hidden map[int]bool, suite string) *report.GateRow {
	for i := range rows {
		if !hidden[i] && rows[i].Suite == suite {
			return &rows[i]
		}
	}
	return nil
}

// voidOf counts the runs of a cell in this suite. A run that was taken from an earlier suite was counted there.
func voidOf(c report.SuiteCell) void {
	v := void{reasons: map[string]int{}}
	for _, r := range c.Runs {
		if r.Taken != nil {
			continue
		}
		v.runs += 1 + r.Voided
		v.add(givenUp, r.Voided)
		switch {
		case r.Repeated != "":
			v.add(r.Repeated, 1)
		case !r.Counts():
			v.add(r.Reason, 1)
		}
	}
	return v
}

func (v *void) add(reason string, runs int) {
	if runs > 0 {
		v.voided += runs
		v.reasons[reason] += runs
	}
}

// String says how many, and why: "3 of 8 runs were void: 2 suspended or lost while it measured, 1 GeneratorLost".
func (v void) String() string {
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(v.reasons)) {
		why = append(why, fmt.Sprintf("%d %s", v.reasons[reason], reason))
	}
	return fmt.Sprintf("%d of %s were void: %s", v.voided, wording.Counted(v.runs, "run"), strings.Join(why, ", "))
}
