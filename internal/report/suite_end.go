package report

import (
	"fmt"
	"strings"
)

// ExitCode is the exit code that the suite asks for, as those of its tests together: the most serious one.
func (s *Suite) ExitCode() int {
	code := ExitOK
	if s.Finished.IsZero() {
		code = ExitNotMeasured
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.unmeasured() != nil {
			code = max(code, ExitNotMeasured)
		}
		if c.Verdict != nil && c.Verdict.Outcome == DidFail {
			code = max(code, ExitFailed)
		}
	}
	return code
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
