package report

import (
	"io"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// ComparisonVersion is the kind and version of a Comparison as JSON.
const ComparisonVersion = "linerate.dev/comparison.v1alpha1"

// Comparison sets what was measured at several times, or with several releases, side by side. The first side is
// what the others are compared with.
type Comparison struct {
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
	// Answer is the first two lines. It is empty before the document is written in a format.
	Answer Lines    `json:"answer,omitzero"`
	Sides  []string `json:"sides"`
	// MaxRegressionPercent is how much less than the first side another may be. It is nil where nothing is
	// demanded, and there are no verdicts.
	MaxRegressionPercent *units.Percent  `json:"maxRegressionPercent,omitempty"`
	Rows                 []ComparisonRow `json:"rows"`
	Notes                []string        `json:"notes,omitempty"`
}

// ComparisonRow is one product under one loadtest, on all sides.
type ComparisonRow struct {
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Sides are in the order of Comparison.Sides.
	Sides []Compared `json:"sides"`
}

// Compared is a row on one side.
type Compared struct {
	// Figures are the medians of the side's runs that count, or nil where none does.
	Figures *Figures `json:"figures,omitempty"`
	// Absent is a short reason why there are no figures, other than that no run was measured.
	Absent string `json:"absent,omitempty"`
	// Missing are the runs without a figure that were not repeated. Repeated are those that were, and their figure,
	// if any, doesn't count.
	Missing  []Missing `json:"missing,omitempty"`
	Repeated []Missing `json:"repeated,omitempty"`
	// Doubts are reasons to look twice at the figures, which count nevertheless.
	Doubts []string `json:"doubts,omitempty"`
	// SetAside are runs whose figure doesn't count, and why. They are part of neither Figures nor the judgement.
	SetAside []Missing `json:"setAside,omitempty"`
	// Images are what the device's pod ran in all runs of the side. They are empty where they aren't known, or not
	// the same, which Message says then.
	Images []plan.Container `json:"images,omitempty"`
	// Outliers are runs that lie far from the others of this side. They count nevertheless.
	Outliers []string `json:"outliers,omitempty"`
	// Judgement is how it compares with the first side. It is empty on the first side.
	Judgement Judgement `json:"judgement,omitempty"`
	// Environment is the differences between the environment of its runs and the first side's. Message names them,
	// too.
	Environment []EnvironmentDifference `json:"environment,omitempty"`
	// Change is by how much it differs from the first side, or nil where unknown.
	Change *Change `json:"change,omitempty"`
	// Reason is MoreWorkPerFrame where the verdict is of the time per frame, and not of the rate. It is empty for any
	// other verdict.
	Reason CriterionReason `json:"reason,omitempty"`
	// TimePerFrame is by how much longer a frame takes than on the first side, by trains that followed the answers. It
	// is nil where that is unknown.
	TimePerFrame *TimeChange `json:"timePerFrame,omitempty"`
	// SmallestPercent is roughly the smallest regression that runs like these would show to be more than is allowed
	// in 95 of 100 cases. It is nil where no limit was given, no size would show, or it is unknown.
	SmallestPercent *units.Percent `json:"smallestRegressionPercent,omitempty"`
	// Each are the side's runs that count, one by one, in gates.
	Each []ComparedRun `json:"each,omitempty"`
	// Latency are the medians of how long frames were under way at each load, and how each compares with the first
	// side's.
	Latency []LatencyMedian `json:"latency,omitempty"`
	// Verdict is whether the demand is met. It is empty where there is none.
	Verdict Outcome `json:"verdict,omitempty"`
	Message string  `json:"message,omitempty"`
}

// ComparedRun is one run of a side. It is an interval that holds the true value of what is compared, all directions
// together, in packets per second or, for sessions, bits per second.
type ComparedRun struct {
	Test string `json:"test"`
	// Low is the figure as it is shown. High is the same for an exact figure, more where the search left an
	// interval, and empty for a lower bound.
	Low  Number `json:"low"`
	High Number `json:"high,omitempty"`
}

// ReasonNotConfirmed is why a run is set aside whose figure a longer window was to confirm, but didn't.
const ReasonNotConfirmed = "NotConfirmed"

// Change is a difference of packet rates in percent of the first side's, and less is negative.
type Change struct {
	Percent units.Percent `json:"percent"`
	// LowPercent and HighPercent are the interval around it. It is nil where it is open at that end.
	LowPercent  *units.Percent `json:"lowPercent,omitempty"`
	HighPercent *units.Percent `json:"highPercent,omitempty"`
	Confidence  units.Percent  `json:"confidencePercent,omitempty"`
}

// Judgement is what the runs show about a difference.
type Judgement string

// The judgements.
const (
	Less          Judgement = "Less"          // it is less than the first side
	More          Judgement = "More"          // it is more
	NotShown      Judgement = "NotShown"      // the runs show no difference
	TooFew        Judgement = "TooFew"        // the runs are too few to tell a difference from chance
	NotComparable Judgement = "NotComparable" // it was measured in another way, or not at all
)

// JSON writes the comparison as a document, indented.
func (c *Comparison) JSON(w io.Writer) error {
	copied := *c
	copied.Version = ComparisonVersion
	return writeDocument(w, &copied)
}
