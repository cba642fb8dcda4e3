package report

// The exit codes of all commands that measure or read measurements: scripts decide on them. docs/cli.md has the same words.
const (
	ExitOK          = 0   // measured, and no criterion failed
	ExitFailed      = 1   // measured, and a criterion failed
	ExitBadInput    = 2   // bad input: a file, a flag, a value or a name is wrong; nothing was sent or changed
	ExitNotMeasured = 3   // not measured, or what was measured could not be kept
	ExitInterrupted = 130 // interrupted, by a signal or a person; what was measured until then was reported
)

// ExitCode is the exit code that the Report asks for.
func (r *Report) ExitCode() int {
	switch {
	case r.Ending == Interrupted:
		return ExitInterrupted
	case r.Ending != Completed:
		return ExitNotMeasured
	case r.Verdict.Outcome == DidFail:
		return ExitFailed
	case !r.Result.Measured:
		return ExitNotMeasured
	}
	return ExitOK
}

// ExitCode is what a comparison ends with: that a demand isn't met counts more than that others are open.
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
