package v1alpha1

// Reasons of a LoadTestSuite's condition Complete, besides Measured, NotMeasured, Stopped and Invalid (True),
// and Waiting, Running and Suspended (False). Its other conditions, Accepted, Passed, Reconciling and Stalled,
// have the reasons that a LoadTest's have.
const (
	ReasonPartlyMeasured = "PartlyMeasured" // True: some tests ended without a measurement
	ReasonTestFailed     = "TestFailed"     // True: failurePolicy Stop, and a test ended without a measurement
)
