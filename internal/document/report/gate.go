package report

import (
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// GateVersion is the kind and version of a Gate as JSON, whose fields stay.
const GateVersion = "linerate.dev/gate.v1alpha1"

// Gate is the judgement on a release, with what was measured, what it was compared with, and whether the release
// may go on.
//
//	Passed      the runs show that every criterion is met
//	Failed      the runs show that some criterion is not met
//	Undecided   the runs show neither, or something was not measured: the release may not go on
type Gate struct {
	Version  string `json:"version"`
	Producer string `json:"producer"` // linerate's own version
	// Answer is the first two lines. It is empty before the document is written in a format.
	Answer  Lines   `json:"answer,omitzero"`
	Outcome Outcome `json:"outcome"`
	// ExitCode is the process's, which is 0 for Passed, 1 for Failed, 3 for Undecided, and 130 for interrupted.
	ExitCode int `json:"exitCode"`
	// Message is the judgement in one sentence.
	Message   string    `json:"message"`
	Namespace string    `json:"namespace,omitempty"`
	Rows      []GateRow `json:"rows"`
	// Notes are remarks that concern no single row.
	Notes []string `json:"notes,omitempty"`
	// Suites are what was measured, each with its cells, runs and verdicts.
	Suites []*Suite `json:"suites"`
}

// GateRow is one cell that was judged.
type GateRow struct {
	// Test is the name of the LoadTest or suite in its file. Suite is the name of the suite that was measured,
	// which depends on its content.
	Test     string  `json:"test"`
	Suite    string  `json:"suite"`
	Cell     string  `json:"cell"`
	Product  string  `json:"product"`
	Loadtest string  `json:"loadtest"`
	Outcome  Outcome `json:"outcome"`
	// Criteria are the criteria's results. Message says why there are none.
	Criteria []CriterionResult `json:"criteria,omitempty"`
	Message  string            `json:"message,omitempty"`
	// Candidate is what was measured, and by how much it differs from Baseline. It is nil where it is compared with
	// nothing.
	Candidate Compared  `json:"candidate"`
	Baseline  *Compared `json:"baseline,omitempty"`
	// BaselineName is the baseline's name, which is a cell's, a file's, or a suite's.
	BaselineName string `json:"baselineName,omitempty"`
	// Anchor is the change of the candidate since an earlier baseline that doesn't move, or nil for none.
	// AnchorName says which.
	Anchor     *Compared `json:"anchor,omitempty"`
	AnchorName string    `json:"anchorName,omitempty"`
	// Witness says what the row measures where that is not what its file asks for. Overload is what came back of
	// more than the device carries. It is empty where the row measures what its file asks for.
	Witness string `json:"witness,omitempty"`
	// Beside says what a witness and its search show together, and which of the two decides.
	Beside string `json:"beside,omitempty"`
	// Runs is how many runs were begun, and Voided how many of them don't count, because they came to nothing, were
	// suspended, or another try replaced them.
	Runs   int `json:"runs,omitempty"`
	Voided int `json:"voided,omitempty"`
	// Silent says that the row decides nothing, as it is a witness that is undecided, and its search decides.
	Silent bool `json:"silent,omitempty"`
}

// WitnessOverload is the Witness that measures the forwarding rate at overload.
const WitnessOverload = "Overload"

// Conclude makes outcome, exit code and message of the rows. One failed row fails the gate, and else one undecided
// row leaves the gate undecided.
func (g *Gate) Conclude() {
	count, n := map[Outcome]int{}, 0
	for _, r := range g.Rows {
		if !r.Silent {
			count[r.Outcome]++
			n++
		}
	}
	failed, undecided := count[DidFail], n-count[Passed]-count[DidFail]
	switch {
	case failed > 0 && !g.failedTogether():
		g.Outcome, g.ExitCode = Undecided, ExitNotMeasured
		g.Message = fmt.Sprintf("by itself, %s %s the criteria, but among so many comparisons chance too often shows as much: more runs would decide", shareOfAll(failed, n), wording.Verb(failed, "doesn't meet", "don't meet"))
	case failed > 0:
		g.Outcome, g.ExitCode, g.Message = DidFail, ExitFailed, fmt.Sprintf("%s %s the criteria", shareOfAll(failed, n),
			wording.Verb(failed, "doesn't meet", "don't meet"))
		if undecided > 0 {
			g.Message += fmt.Sprintf(", and %d could not be decided", undecided)
		}
	case undecided > 0 || n == 0:
		g.Outcome, g.ExitCode, g.Message = Undecided, ExitNotMeasured,
			fmt.Sprintf("%s could not be decided: the runs show neither that the criteria are met nor that they aren't",
				shareOfAll(undecided, n))
		if n == 0 {
			g.Message = "nothing was measured"
		}
	default:
		g.Outcome, g.ExitCode, g.Message = Passed, ExitOK, fmt.Sprintf("all criteria are met, in %s",
			wording.Counted(n, "test"))
	}
	runs, voided := 0, 0
	for _, r := range g.Rows {
		runs, voided = runs+r.Runs, voided+r.Voided
	}
	if voided > 0 { // whoever may void runs could go on until those that are left meet the criteria
		g.Message += fmt.Sprintf("; %d of %s were void", voided, wording.Counted(runs, "run"))
	}
}

// failedTogether says that the failures are shown for all rows together, not only for each row by itself.
func (g *Gate) failedTogether() bool {
	var verdicts []*Verdict
	for _, r := range g.Rows {
		verdicts = append(verdicts, &Verdict{Outcome: r.Outcome, Criteria: r.Criteria})
	}
	return FailedTogether(verdicts)
}

// JSON writes the gate as a document, indented.
func (g *Gate) JSON(w io.Writer) error {
	copied := *g
	copied.Version = GateVersion
	return writeDocument(w, &copied)
}

// Doubt adds something that went wrong outside of the measurement. A gate that would have passed is undecided then.
// A failed one stays failed.
func (g *Gate) Doubt(reason string) {
	g.Notes = append(g.Notes, reason)
	if g.Outcome == Passed {
		g.Outcome, g.ExitCode, g.Message = Undecided, ExitNotMeasured, "not all tests were followed to their end: "+
			reason
	}
}

func shareOfAll(part, total int) string {
	if total == 1 {
		return "the test"
	}
	return wording.ShareOf(part, total) + " tests"
}

// Headline is the verdict in one line.
func (g *Gate) Headline() string { return string(g.Outcome) + ": " + g.Message }

// Words is all that a row says.
func (r GateRow) Words() string {
	return joinedWords(joinedWords(Verdict{Criteria: r.Criteria}.Words(), r.Message), r.Beside)
}
