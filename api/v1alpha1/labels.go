package v1alpha1

// FinalizerTeardown is on a LoadTest with dut.teardown from when something is made that the teardown may have
// to undo, until the teardown ran, or its time is over: so the teardown runs even if the LoadTest is deleted.
const FinalizerTeardown = "linerate.dev/teardown"

// LabelProduct names the device under test in tables of many tests: the row ("VPP", "OpenBSD-7.9"). Without it
// the row is named after spec.dut.type.
const LabelProduct = "linerate.dev/product"

// LabelLoadTest names the load in tables of many tests: the column ("imix", "64b"). Without it the column is
// named after spec.traffic.
const LabelLoadTest = "linerate.dev/loadtest"

// LabelTest is on every object that belongs to a LoadTest: its name.
const LabelTest = "linerate.dev/test"

// LabelNamespace is on every object of a LoadTest's or a LoadTestSuite's in the operator's own namespace: the
// namespace of that.
const LabelNamespace = "linerate.dev/test-namespace"

// LabelUID is on every object that belongs to a LoadTest: its UID, which tells the LoadTest from a later one of
// the same name.
const LabelUID = "linerate.dev/test-uid"

// LabelRole is on every object that belongs to a LoadTest: generator, dut, vitals, collector, setup, teardown,
// runner, external-runner, network-policy, plan, links, progress or report.
const LabelRole = "linerate.dev/role"

// LabelAttempt is on every object that belongs to one attempt of a LoadTest: its number.
const LabelAttempt = "linerate.dev/attempt"

// LabelGenerator is on a generator's pod: the generator's name in the Plan.
const LabelGenerator = "linerate.dev/generator"

// LabelVitals is on each pod that serves readings of observers (TCP 4504), with the value VitalsServed: the
// built-in Reference's, the one beside a user's device, which both read their node, and the collector, which
// asks others over the network.
const LabelVitals = "linerate.dev/vitals"

// VitalsServed is the value of LabelVitals.
const VitalsServed = "told"

// LabelEnd is on the pod of a device that is itself an end of sessions (dut.role Endpoint), with the value
// EndOfDevice: the runner reaches it at TCP 4501.
const LabelEnd = "linerate.dev/end"

// EndOfDevice is the value of LabelEnd.
const EndOfDevice = "device"

// LabelAdmits is on the pods that only their own test's runner may reach, with the value AdmitsOwnRunner. One
// kind is a real TRex, which can't ask its callers for a secret. The other is what the runner of servers that run
// already reads, since only its own test's NetworkPolicy admits that runner.
const LabelAdmits = "linerate.dev/admits"

// AdmitsOwnRunner is the value of LabelAdmits.
const AdmitsOwnRunner = "own-runner"

// LabelSuite is on every object that a LoadTestSuite made: the suite's name.
const LabelSuite = "linerate.dev/suite"

// LabelSuiteUID is on every object that a LoadTestSuite made: its UID, which tells the suite from a later one
// of the same name.
const LabelSuiteUID = "linerate.dev/suite-uid"

// LabelCell is on every LoadTest of a suite: the cell that it measures, as status.table names it.
const LabelCell = "linerate.dev/cell"

// LabelRepetition is on every LoadTest of a suite: which of the cell's repetitions it is, from 1.
const LabelRepetition = "linerate.dev/repetition"

// LabelTry is on every LoadTest of a suite: which try of its repetition it is, from 1. There are further tries
// where earlier ones ended without a measurement, or were disturbed.
const LabelTry = "linerate.dev/try"

// LabelKueueQueue on a LoadTest names the LocalQueue of Kueue (kueue.x-k8s.io) in which its pods are queued:
// each attempt's pods are then one plain pod group, and Kueue decides when they run. Without the label
// linerate's own queue decides.
const LabelKueueQueue = "kueue.x-k8s.io/queue-name"

// LabelKueuePriority on a LoadTest is handed on to its pods: the WorkloadPriorityClass by which Kueue orders them.
const LabelKueuePriority = "kueue.x-k8s.io/priority-class"

// LabelKueueManaged is on each pod that Kueue looks after. Kueue sets it.
const LabelKueueManaged = "kueue.x-k8s.io/managed"

// GateKueue is the scheduling gate that Kueue takes off a pod when its group is admitted.
const GateKueue = "kueue.x-k8s.io/admission"

// LabelWire is on the Lease of each physical port that a test holds, in the operator's own namespace, and on no
// other Lease there.
const LabelWire = "linerate.dev/wire"

// AnnotationWireNode and AnnotationWirePort are on such a Lease: the node, and the port's name there.
// AnnotationWirePods are the generators' pods of the test that holds it, as NAME/UID with commas between: once
// the test is gone, the port is free when none of these pods is left, whatever labels other pods have.
const (
	AnnotationWireNode = "linerate.dev/node"
	AnnotationWirePort = "linerate.dev/port"
	AnnotationWirePods = "linerate.dev/pods"
)

// AnnotationGate is on a LoadTestSuite that a gate made (kubectl linerate gate): a digest of what is measured
// and how it is judged, so that the same gate, asked again, finds it.
const AnnotationGate = "linerate.dev/gate"
