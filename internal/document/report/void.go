package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Void is how many of several runs don't count, and why. A user who may suspend, delete or disturb a run could void
// those that show a fault until the rest passes, so their number is part of a verdict.
type Void struct {
	// Runs were begun, and Voided of them don't count.
	Runs, Voided int
	reasons      map[string]int
}

// givenUp is the reason of runs that came to nothing before a later run of the same test was measured.
const givenUp = "suspended, deleted or lost while it measured"

// MostlyVoid is why nothing passes where more runs are void than count.
const MostlyVoid = "more runs were void than counted, so those that count may have been chosen"

// Void counts the cell's runs in this suite. A run that was taken from an earlier suite was counted there.
func (c *SuiteCell) Void() Void {
	v := Void{}
	for _, r := range c.Runs {
		if r.Taken != nil {
			continue
		}
		v.Runs += 1 + r.Voided
		v.add(givenUp, r.Voided)
		switch {
		case r.Repeated != "":
			v.add("disturbed", 1)
		case !r.Counts():
			v.add(r.Reason, 1)
		}
	}
	return v
}

// IsMostlyVoid says that more of the cell's runs are void than count.
func (c *SuiteCell) IsMostlyVoid() bool {
	counted := 0
	for _, r := range c.Runs {
		if r.Counts() {
			counted++
		}
	}
	return c.Void().Voided > counted
}

// Void counts the runs of all cells that have a device.
func (s *Suite) Void() Void {
	v := Void{}
	for i := range s.Cells {
		if s.Cells[i].Calibration {
			continue
		}
		cell := s.Cells[i].Void()
		v.Runs += cell.Runs
		for reason, runs := range cell.reasons {
			v.add(reason, runs)
		}
	}
	return v
}

func (v *Void) add(reason string, runs int) {
	if runs == 0 {
		return
	}
	if v.reasons == nil {
		v.reasons = map[string]int{}
	}
	v.Voided += runs
	v.reasons[reason] += runs
}

// String says how many runs are void, and why, as "3 of 8 runs were void: 2 suspended, deleted or lost while it
// measured, 1 GeneratorLost". It is empty for none.
func (v Void) String() string {
	if v.Voided == 0 {
		return ""
	}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(v.reasons)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", v.reasons[reason], reason))
	}
	return v.Count() + ": " + strings.Join(reasons, ", ")
}

// Count says how many runs are void, as "3 of 8 runs were void". It is empty for none.
func (v Void) Count() string {
	if v.Voided == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s were void", v.Voided, wording.Counted(v.Runs, "run"))
}
