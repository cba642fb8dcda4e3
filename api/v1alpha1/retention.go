package v1alpha1

// ReportRetention says what becomes of a Report when its LoadTest is deleted.
//
// +kubebuilder:validation:Enum=WithTest;Keep
type ReportRetention string

// What becomes of Reports.
const (
	// ReportWithTest deletes the Report with its LoadTest.
	ReportWithTest ReportRetention = "WithTest"
	// ReportKeep keeps a copy of the Report beyond the LoadTest, until the operator's bounds on their number and
	// age prune it.
	ReportKeep ReportRetention = "Keep"
)

// RoleKeptReport is the value of LabelRole on the ConfigMaps that keep Reports beyond their LoadTests.
const RoleKeptReport = "kept-report"

// LabelPlan is on a kept Report: a digest of its method, 32 hexadecimal digits. Reports with the same digest
// can be compared.
const LabelPlan = "linerate.dev/plan"

// LabelDate is on a kept Report: the day on which the run ended, in UTC, such as 2026-03-14.
const LabelDate = "linerate.dev/date"

// LabelPinned is set to "true" on a kept Report by a person: it keeps the Report from being pruned, and from
// counting toward the bound on their number.
const LabelPinned = "linerate.dev/pinned"

// AnnotationFinished is on a kept Report: when the run ended, as RFC 3339 has it.
const AnnotationFinished = "linerate.dev/finished"

// Reasons of events that no condition has.
const (
	// EventReportNotKept warns that a Report that was to be kept isn't, and is deleted with its LoadTest.
	EventReportNotKept = "ReportNotKept"
	// EventReportsPruned reports that kept Reports were deleted because there were too many, or because they
	// were too old.
	EventReportsPruned = "ReportsPruned"
)
