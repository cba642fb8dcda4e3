package v1alpha1

// Reasons of a LoadTestSuite's condition Complete, besides Measured, NotMeasured, Stopped and Invalid (True),
// and Waiting, Running and Suspended (False). Its other conditions, Accepted, Passed, Reconciling and Stalled,
// have the reasons that a LoadTest's have.
const (
	ReasonPartlyMeasured = "PartlyMeasured" // True: some tests ended without a measurement
	ReasonTestFailed     = "TestFailed"     // True: failurePolicy Stop, and a test ended without a measurement
)

// ConditionComparable says whether the suite's comparisons can be decided, as far as that is known before the first
// run. A suite has it if its criteria compare with a baseline.
const ConditionComparable = "Comparable"

// Reasons of Comparable.
const (
	ReasonComparable       = "Comparable"       // True: nothing speaks against it
	ReasonOtherEnvironment = "OtherEnvironment" // False: the baseline is of another environment
	ReasonNodeUnavailable  = "NodeUnavailable"  // False: a node of the baseline's runs takes no pods
	ReasonUndecidable      = "Undecidable"      // False: too few runs, or a baseline that spreads or has no figure
	ReasonBaselineUnread   = "BaselineUnread"   // Unknown: the earlier suite isn't complete
)
