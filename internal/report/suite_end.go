package report

import (
	"fmt"
	"strings"
)

// ExitCode is the exit code that the suite asks for, as those of its tests together.
func (s *Suite) ExitCode() int { return Documents{Suites: []*Suite{s}}.ExitCode() }

// Whole says whether the suite is over, and each repetition of each cell gave a figure.
func (s *Suite) Whole() bool {
	for i := range s.Cells {
		if s.Cells[i].unmeasured() != nil {
			return false
		}
	}
	return !s.Finished.IsZero()
}

// asks is the exit code that the suite asks for by itself, and whether there are criteria that are undecided of any cell.
func (s *Suite) asks() (code int, undecided bool) {
	if !s.Whole() {
		code = ExitNotMeasured
	}
	for i := range s.Cells {
		if v := s.Cells[i].Verdict; v != nil && v.Outcome == DidFail {
			code = max(code, ExitFailed)
		} else if v != nil && v.Outcome != Passed {
			undecided = true
		}
	}
	return code, undecided
}

// Gaps are the runs without a figure, in their order: the last of each repetition that gave none in any of its tries, and those that were repeated.
func (c *SuiteCell) Gaps() (missing, repeated []Missing) {
	last := map[int]int{}
	for i, r := range c.Runs {
		if r.Figures != nil {
			last[r.Repetition] = len(c.Runs)
		}
		last[r.Repetition] = max(last[r.Repetition], i)
	}
	for i, r := range c.Runs {
		gap := Missing{Test: r.Test, Reason: r.Reason, Message: r.Message}
		switch {
		case r.Figures != nil:
		case last[r.Repetition] == i:
			missing = append(missing, gap)
		default:
			repeated = append(repeated, gap)
		}
	}
	return missing, repeated
}

// unmeasured is what is wrong with the cell's measurement; nil: each of its repetitions gave a figure.
func (c *SuiteCell) unmeasured() *junitTrouble {
	missing, _ := c.Gaps()
	switch {
	case len(missing) == 0 && c.Figures != nil:
		return nil
	case len(missing) == 0:
		return &junitTrouble{Type: string(NotMeasured), Message: "Not measured: no test of it has ended."}
	}
	var words []string
	for _, r := range missing {
		words = append(words, r.Test+": "+r.words())
	}
	message := "Not measured: "
	if c.Figures != nil {
		message = fmt.Sprintf("Measured in part, without %s: ", counted(len(missing), "run"))
	}
	return &junitTrouble{Type: missing[0].Reason, Message: message + strings.Join(words, "; ")}
}
