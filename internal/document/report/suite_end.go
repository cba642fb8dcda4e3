package report

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// ExitCode is the exit code that the suite asks for, as those of its tests together.
func (s *Suite) ExitCode() int { return Documents{Suites: []*Suite{s}}.ExitCode() }

// Whole says whether the suite is over, and each repetition of each cell gave a figure.
func (s *Suite) Whole() bool {
	for i := range s.Cells {
		if !s.Cells[i].whole() {
			return false
		}
	}
	return !s.Finished.IsZero()
}

// ownExitCode is the exit code that the suite by itself asks for, and whether criteria are undecided of any cell,
// or of all of them together.
func (s *Suite) ownExitCode() (code int, undecided bool) {
	if !s.Whole() {
		code = ExitNotMeasured
	}
	var verdicts []*Verdict
	failed := false
	for i := range s.Cells {
		v := s.Cells[i].Verdict
		verdicts, failed = append(verdicts, v), failed || v != nil && v.Outcome == DidFail
		undecided = undecided || v != nil && v.Outcome != Passed
	}
	if failed && FailedTogether(verdicts) {
		code = max(code, ExitFailed)
	}
	return code, undecided
}

// Gaps are the runs that have no part in the cell's figures, in their order. Missing are the last tries of
// repetitions without any figure. repeated are tries that another one replaced, as they gave no figure, or one that
// doesn't count. A last try without a figure after one that gave a figure is neither, and the cell's message names
// it.
func (c *SuiteCell) Gaps() (missing, repeated []Missing) {
	latest, measured := map[int]int{}, map[int]bool{}
	for i, r := range c.Runs {
		latest[r.Repetition], measured[r.Repetition] = i, measured[r.Repetition] || r.Figures != nil
	}
	for i, r := range c.Runs {
		gap := Missing{Test: r.Test, Reason: r.Reason, Message: r.Message}
		switch {
		case r.Counts():
		case r.Figures != nil:
			gap.Message = r.Repeated
			if gap.LowerBound = r.Figures.PacketsPerSecond; r.Figures.OfSessions() {
				gap.GoodputLowerBound = r.Figures.GoodputBitsPerSecond
			}
			repeated = append(repeated, gap)
		case latest[r.Repetition] != i:
			repeated = append(repeated, gap)
		case !measured[r.Repetition]:
			missing = append(missing, gap)
		}
	}
	return missing, repeated
}

// IntruderWords say why a run is repeated although it has figures: something else, such as "cc1", used processors that
// the test needed.
func IntruderWords(lowerBound *Figures, intruder string) string {
	return fmt.Sprintf("%s used processors of the test, which reached %s: this run was disturbed", intruder,
		lowerBound.rate(lowerBound.Throughput()))
}

// rate writes a throughput of such figures, in packets per second or, of sessions, in bits of goodput per second.
func (f *Figures) rate(throughput int64) string {
	if f.OfSessions() {
		return wording.BitRate(throughput) + " goodput"
	}
	return wording.PacketRate(throughput)
}

// DisturbedWords say why a run is repeated although it has figures. Its generator was the limit, while other runs
// of the same cell measured more, namely disturbed (by Figures.Throughput), or 0 where those runs are no longer
// known.
func DisturbedWords(lowerBound *Figures, disturbed int64) string {
	limit := lowerBound.Throughput()
	if disturbed <= limit {
		return fmt.Sprintf("the generator was the limit at %s, but other runs had measured more: this run was disturbed", lowerBound.rate(limit))
	}
	return fmt.Sprintf("the generator was the limit at %s, but other runs measured %s: this run was disturbed",
		lowerBound.rate(limit), lowerBound.rate(disturbed))
}

// whole says whether each of the cell's repetitions gave a figure.
func (c *SuiteCell) whole() bool {
	missing, _ := c.Gaps()
	return len(missing) == 0 && c.Figures != nil
}
