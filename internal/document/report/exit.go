package report

// These are the exit codes of all commands that measure or read measurements, on which scripts decide. docs/cli.md
// has the same words.
const (
	ExitOK          = 0   // measured, and each criterion, if there is any, is met
	ExitFailed      = 1   // measured, and a criterion failed
	ExitBadInput    = 2   // bad input: a file, a flag, a value or a name is wrong; nothing was sent or changed
	ExitNotMeasured = 3   // not measured, not held as asked, a criterion is undecided, or the Report could not be kept
	ExitInterrupted = 130 // interrupted, by a signal or a person; what was measured until then was reported
)

// ExitCode is the exit code that the Report asks for.
func (r *Report) ExitCode() int { return Documents{Reports: []*Report{r}}.ExitCode() }

// ExitCode is the exit code that all of them ask for together, which is the most serious one. A failed criterion
// counts more than an undecided one, as in a comparison and in a gate, so that a pipeline that only warns at 3
// doesn't miss a failure.
func (d Documents) ExitCode() int {
	code, undecided := ExitOK, false
	for _, r := range d.Reports {
		asked, open := r.ownExitCode()
		code, undecided = max(code, asked), undecided || open
	}
	for _, s := range d.Suites {
		asked, open := s.ownExitCode()
		code, undecided = max(code, asked), undecided || open
	}
	if code == ExitOK && undecided {
		return ExitNotMeasured
	}
	return code
}

// ownExitCode is the exit code that the Report by itself asks for, and whether it leaves criteria undecided, or a load
// was not held as asked, which then no criterion passes.
func (r *Report) ownExitCode() (code int, undecided bool) {
	switch {
	case r.Ending == Interrupted:
		return ExitInterrupted, false
	case r.Ending != Completed:
		return ExitNotMeasured, false
	case r.Verdict.Outcome == DidFail:
		return ExitFailed, false
	case !r.Answer.Measured:
		return ExitNotMeasured, false
	}
	return ExitOK, r.Answer.NotHeld != "" || len(r.Verdict.Criteria) > 0 && r.Verdict.Outcome != Passed
}

// ExitCode is what a comparison ends with. A demand that isn't met counts more than others that are open.
func (c *Comparison) ExitCode() int {
	compared, open := false, false
	for _, row := range c.Rows {
		for _, side := range row.Sides {
			if side.Verdict == DidFail {
				return ExitFailed
			}
			compared = compared || side.Judgement != "" && side.Judgement != NotComparable
			open = open || side.Verdict == Undecided
		}
	}
	if !compared || open {
		return ExitNotMeasured
	}
	return ExitOK
}
