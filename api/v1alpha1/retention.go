package v1alpha1

// ReportRetention says what becomes of a Report when its LoadTest is deleted.
//
// +kubebuilder:validation:Enum=WithTest;Keep
type ReportRetention string

// What becomes of Reports.
const (
	// ReportWithTest deletes the Report with its LoadTest.
	ReportWithTest ReportRetention = "WithTest"
	// ReportKeep keeps a copy of the Report beyond the LoadTest, until the operator's bounds on their number and age prune it.
	ReportKeep ReportRetention = "Keep"
)

// RoleKeptReport is the value of LabelRole on the ConfigMaps that keep Reports beyond their LoadTests.
const RoleKeptReport = "kept-report"

// LabelPlan is on a kept Report: by which method its Plan measures, as 32 hexadecimal digits. Reports that have it in common can be compared.
const LabelPlan = "linerate.dev/plan"

// LabelDate is on a kept Report: the day on which the run ended, in UTC, such as 2026-03-14.
const LabelDate = "linerate.dev/date"

// LabelPinned on a kept Report, set to "true" by a person, keeps it from being pruned; it doesn't count among the others either.
const LabelPinned = "linerate.dev/pinned"

// AnnotationFinished is on a kept Report: when the run ended, as RFC 3339 has it.
const AnnotationFinished = "linerate.dev/finished"

// Events that tell of no condition.
const (
	// EventReportNotKept warns that a Report which was to be kept isn't; it goes with its LoadTest.
	EventReportNotKept = "ReportNotKept"
	// EventReportsPruned tells that kept Reports were deleted: there were too many, or they were too old.
	EventReportsPruned = "ReportsPruned"
)
