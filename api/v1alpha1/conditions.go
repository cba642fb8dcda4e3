package v1alpha1

// The conditions of a LoadTest. Complete and Passed exist from the first reconcile on. Accepted, Scheduled,
// GeneratorsReady and DUTReady exist until the test is complete, and an Accepted that is False stays. Published and
// Kept exist from the Report's copy on. Reconciling and Stalled exist only while they are true.
const (
	// ConditionAccepted is True when the spec can be measured, False when it can't: the message says which field,
	// and the way out.
	ConditionAccepted = "Accepted"
	// ConditionScheduled is True when all pods have their nodes and devices; False says what is missing, and how
	// to mend it.
	ConditionScheduled = "Scheduled"
	// ConditionGeneratorsReady is True when every generator answers; False says which doesn't, and why.
	ConditionGeneratorsReady = "GeneratorsReady"
	// ConditionDUTReady is True when the device under test is ready for traffic, as far as Kubernetes knows.
	ConditionDUTReady = "DUTReady"
	// ConditionComplete is True at the end of every test, good or bad; an invalid one is complete at once.
	ConditionComplete = "Complete"
	// ConditionPassed is the criteria's verdict: True when all are met, False when one isn't, Unknown when there
	// are none or there is nothing to judge.
	ConditionPassed = "Passed"
	// ConditionPublished is True when the test's namespace has a copy of the Report; False says why it hasn't.
	ConditionPublished = "Published"
	// ConditionKept is True when a copy of the Report outlives the test, with spec.reportRetention Keep; False says
	// why none does.
	ConditionKept = "Kept"
	// ConditionReconciling is True while the operator works on the test, or waits for something, as kstatus defines it.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the test ended without a measurement, as kstatus defines it.
	ConditionStalled = "Stalled"
)

// Reasons of Accepted.
const (
	ReasonValid   = "Valid"   // True
	ReasonInvalid = "Invalid" // False: a field is wrong; Complete's reason too then
)

// Reasons of Scheduled.
const (
	ReasonAllScheduled    = "AllScheduled"     // True
	ReasonNothingToPlace  = "NothingToPlace"   // True: the test needs no pods but the runner
	ReasonSuspended       = "Suspended"        // False: spec.suspend
	ReasonMultusMissing   = "MultusMissing"    // False: no NetworkAttachmentDefinitions in this cluster
	ReasonNetworkMissing  = "NetworkMissing"   // False: a network doesn't exist
	ReasonNetworkInvalid  = "NetworkInvalid"   // False: a network exists and can't be read
	ReasonResourceMissing = "ResourceMissing"  // False: no node has the device resource, or enough of it
	ReasonHugepages       = "HugepagesMissing" // False: no node has the huge pages
	ReasonPodRefused      = "PodRefused"       // False: the API server refuses a pod, or what lets the runner write
	ReasonNameTaken       = "NameTaken"        // False: somebody else's object has the name of one of the test's
	ReasonUnschedulable   = "Unschedulable"    // False: the scheduler finds no node
	ReasonNodeRefused     = "NodeRefused"      // False: a node refused a pod; the next attempt avoids it
	ReasonQueued          = "Queued"           // False: other LoadTests have the devices, or come first
	// False: not all pods found nodes; all are given back, and others go first for a while
	ReasonGivenBack = "GivenBack"
	ReasonPending   = "Pending"   // False: pods are being made, or the scheduler hasn't placed them yet
	ReasonSettingUp = "SettingUp" // False: the setup pod runs
	ReasonPortHeld  = "PortHeld"  // False: another test holds a physical port that this one needs
)

// Reasons of GeneratorsReady and DUTReady.
const (
	ReasonReady      = "Ready"        // True
	ReasonStarting   = "Starting"     // False: containers start, or images are pulled
	ReasonImage      = "ImageProblem" // False: an image can't be pulled
	ReasonDelayed    = "ReadyDelay"   // False: the DUT is ready, readyDelay is being waited for
	ReasonNoTunnel   = "NoTunnel"     // False: a tunnel's two gateways run, and don't reach each other
	ReasonLost       = "Lost"         // False: it was ready, and is gone
	ReasonFailed     = "Failed"       // False: it ended by itself
	ReasonNotOurs    = "NotOurs"      // True: it isn't a pod of the test's
	ReasonNotStarted = "NotStarted"   // False: it isn't its turn yet
)

// Reasons of Complete. With the last two it is False, and the test goes on. With the others it is True; but
// False while pods are being given back and while the teardown pod runs.
const (
	ReasonMeasured           = "Measured"         // a figure was measured; result.reason says of what kind
	ReasonNotMeasured        = "NotMeasured"      // the run ended, and nothing can be claimed
	ReasonStopped            = "Stopped"          // spec.stop
	ReasonDeadlineExceeded   = "DeadlineExceeded" // spec.activeDeadline
	ReasonSchedulingDeadline = "SchedulingDeadlineExceeded"
	ReasonSetupFailed        = "SetupFailed"
	ReasonDUTFailed          = "DUTFailed"       // the DUT's pod ended before or in the run
	ReasonGeneratorFailed    = "GeneratorFailed" // a generator ended before the run
	ReasonGeneratorLost      = "GeneratorLost"   // a generator was lost in the run
	ReasonPathNotProven      = "PathNotProven"
	// two ends of the links are on one physical port, and spec.sharedPort isn't Allowed
	ReasonSharedPort    = "SharedPort"
	ReasonPortSpoofed   = "PortSpoofed" // a pod reports other devices than its node gave it
	ReasonRunnerFailed  = "RunnerFailed"
	ReasonNodeLost      = "NodeLost"      // a pod's node is gone
	ReasonEvicted       = "Evicted"       // a pod was deleted by somebody else, or evicted
	ReasonStatusRefused = "StatusRefused" // the API server refuses the test's status
	ReasonWaiting       = "Waiting"       // False
	ReasonRunning       = "Running"       // False
)

// Reasons of Passed.
const (
	ReasonCriteriaMet    = "CriteriaMet"    // True
	ReasonCriteriaNotMet = "CriteriaNotMet" // False
	ReasonUndecided      = "Undecided"      // Unknown: the data aren't enough for a verdict
	ReasonNoCriteria     = "NoCriteria"     // Unknown
)

// Reasons of Published and Kept. Published is NameTaken too, where somebody else's ConfigMap has the copy's name.
const (
	ReasonCopied     = "Copied"     // True
	ReasonRetrying   = "Retrying"   // False: the API server can't make the copy for the moment
	ReasonRefused    = "Refused"    // False: the API server refuses the copy
	ReasonExpired    = "Expired"    // False, of Published: spec.ttlAfterFinished deleted the copy
	ReasonNoFigures  = "NoFigures"  // False, of Kept: a fault acted on what was measured
	ReasonUnreadable = "Unreadable" // False, of Kept: the Report can't be read any more
)
