package report

// The exit codes of all commands that measure or read measurements: scripts decide on them.
const (
	ExitOK          = 0   // measured, and no criterion failed
	ExitFailed      = 1   // measured, and a criterion failed
	ExitBadInput    = 2   // a file, a flag, a value or a name is wrong; nothing was sent or changed
	ExitNotMeasured = 3   // the input is fine, but there is no (whole) measurement, or it could not be kept
	ExitInterrupted = 130 // a signal or a person ended it; what was measured until then is reported
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
