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

// missing is the last run of each repetition that gave no figure in any of its tries, in their order.
func (c *SuiteCell) missing() []SuiteRun {
	measured, last := map[int]bool{}, map[int]int{}
	for i, r := range c.Runs {
		measured[r.Repetition] = measured[r.Repetition] || r.Figures != nil
		last[r.Repetition] = i
	}
	var out []SuiteRun
	for i, r := range c.Runs {
		if !measured[r.Repetition] && last[r.Repetition] == i {
			out = append(out, r)
		}
	}
	return out
}

// unmeasured is what is wrong with the cell's measurement; nil: each of its repetitions gave a figure.
func (c *SuiteCell) unmeasured() *junitTrouble {
	missing := c.missing()
	switch {
	case len(missing) == 0 && c.Figures != nil:
		return nil
	case len(missing) == 0:
		return &junitTrouble{Type: string(NotMeasured), Message: "Not measured: no test of it has ended."}
	}
	var words []string
	for _, r := range missing {
		words = append(words, r.Test+": "+Missing{Reason: r.Reason, Message: r.Message}.words())
	}
	message := "Not measured: "
	if c.Figures != nil {
		message = fmt.Sprintf("Measured in part, without %s: ", counted(len(missing), "run"))
	}
	return &junitTrouble{Type: missing[0].Reason, Message: message + strings.Join(words, "; ")}
}
