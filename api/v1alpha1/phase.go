package v1alpha1

// Phase is the state of a LoadTest or a LoadTestSuite in a word, for tables. It follows from the conditions, which
// programs wait for.
//
//	Waiting ──▶ Starting ──▶ Running ──▶ Ending ──▶ Measured | Stopped | Failed
//	   ▲           │            │
//	   └─ Suspended ◀───────────┘
//
// +kubebuilder:validation:Enum=Waiting;Starting;Running;Ending;Suspended;Measured;Stopped;Failed
type Phase string

// The phases. A suite has no Starting.
const (
	// PhaseWaiting means that some pods have no node yet.
	PhaseWaiting Phase = "Waiting"
	// PhaseStarting means that all pods have nodes, and some aren't ready.
	PhaseStarting Phase = "Starting"
	// PhaseRunning means that the runner measures, or is being made.
	PhaseRunning Phase = "Running"
	// PhaseEnding means that the end is decided, and pods and device are given back.
	PhaseEnding Phase = "Ending"
	// PhaseSuspended means spec.suspend.
	PhaseSuspended Phase = "Suspended"
	// PhaseMeasured means that there are figures, PhaseStopped that spec.stop ended it, and PhaseFailed neither.
	PhaseMeasured Phase = "Measured"
	PhaseStopped  Phase = "Stopped"
	PhaseFailed   Phase = "Failed"
)
