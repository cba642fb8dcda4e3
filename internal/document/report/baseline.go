package report

import (
	"slices"
	"time"
)

// Baseline is what a test or a suite was compared with.
type Baseline struct {
	Kind string `json:"kind"` // LoadTest, LoadTestSuite, Report, File
	Name string `json:"name"`
	// Digest of the document that served, or empty where it is no single document.
	Digest string `json:"digest,omitempty"`
	// Message says why nothing can be compared with it, because it doesn't exist, or was not measured. It is empty
	// where its Runs can be compared with.
	Message string `json:"message,omitempty"`
	// AllowDifferent are the parts of its runs' environment that may differ from the candidate's.
	AllowDifferent []EnvironmentPart `json:"allowDifferent,omitempty"`
	// Runs are its runs. They are empty for a suite, whose cells have runs of their own.
	Runs []BaselineRun `json:"runs,omitempty"`
}

// BaselineRun is one run of a baseline, with as much of its Report as a comparison needs.
type BaselineRun struct {
	Test    string    `json:"test"`
	Report  string    `json:"report,omitempty"` // the Report's digest, where it is known
	Started time.Time `json:"started,omitzero"`
	// Message says why this run can't be compared, because it has no figure, or was measured in another way. It is
	// empty where it can.
	Message string `json:"message,omitempty"`
	// LineRates are the line rates it was measured at. Figures at other line rates can't be compared.
	LineRates []LineRate `json:"lineRates,omitempty"`
	// Environment is what it was measured in, or nil where unknown.
	Environment *Environment `json:"environment,omitempty"`
	Answer      Answer       `json:"answer,omitzero"`
}

// String names it in a sentence, as in "LoadTest vpp-main".
func (b Baseline) String() string {
	switch b.Kind {
	case "Report":
		return "Report " + b.Name
	case "File":
		return b.Name
	}
	return b.Kind + " " + b.Name
}

// ForGoal is the baseline as if the named goal of its runs' searches were the only one. A run without that goal
// says so. Without a name it is the baseline. The baseline itself is unchanged.
func (b Baseline) ForGoal(name string) Baseline {
	if name == "" {
		return b
	}
	runs := slices.Clone(b.Runs)
	for i := range runs {
		goalReport, ok := (&Report{Answer: runs[i].Answer}).ForGoal(name)
		runs[i].Answer = goalReport.Answer
		if !ok && runs[i].Message == "" {
			runs[i].Message = "it has no goal " + name
		}
	}
	b.Runs = runs
	return b
}
