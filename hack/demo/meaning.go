package main

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// codeOf is what the demo ends with after a test. It shows what linerate does, and is no gate: whatever the
// verdict is, the demo has worked where the test was measured to its end. "linerate run" ends with the verdict.
func codeOf(r *report.Report) int {
	if r.Ending != report.Completed || !r.Answer.Measured {
		return exitNotMeasured
	}
	return exitOK
}

// meaning explains a verdict in a sentence, for a reader who sees one for the first time.
func meaning(r *report.Report) string {
	name := r.Plan.Test.Name
	switch {
	case codeOf(r) != exitOK:
		return name + ": not measured, so there is no verdict; the table above has the reason"
	case len(r.Verdict.Criteria) == 0:
		return name + ": measured; it has no criteria, so nothing passes or fails"
	case r.Verdict.Outcome == report.Passed:
		return name + ": measured, and passed: " + criteria(r, report.Passed)
	case r.Verdict.Outcome == report.DidFail:
		return fmt.Sprintf("%s: measured, and failed: %s. linerate run ends with %d then, and no gate opens", name,
			criteria(r, report.DidFail), r.ExitCode())
	}
	return fmt.Sprintf("%s: measured, and undecided: %s. That is no fault of the demo: where the machine has other work to do, figures are often lower bounds: "+
		"make demo again when it has less. linerate run ends with %d then, and no gate opens", name,
		criteria(r, report.Undecided), r.ExitCode())
}

// criteria names those with this outcome; the table above has their words.
func criteria(r *report.Report, outcome report.Outcome) string {
	var names []string
	for _, c := range r.Verdict.Criteria {
		if c.Outcome == outcome {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}
