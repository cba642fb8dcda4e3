// Package plan is the Plan document: everything needed to run a measurement, and to repeat it. The compiler writes it, the runner
// reads it, the Report carries it. It holds no secret and no address that is found out only at run time.
package plan

// Plan is one measurement.
type Plan struct {
	Version string `json:"version"`
	Test    Test   `json:"test"`
	// Engine is the generator's kind: TRex, Software or External.
	Engine     string      `json:"engine"`
	DUT        DUT         `json:"dut"`
	Links      []Link      `json:"links"`
	Directions []Direction `json:"directions"`
	Generators []Generator `json:"generators"`
	// Sending is how the software engine is to send, as far as the test says it; nil: it doesn't. It is no part of the method: what sent, and how, is the environment's.
	Sending *Sending `json:"sending,omitempty"`
	// Sessions is what connections are like, where traffic is sessions; nil: it is frames.
	Sessions  *Sessions   `json:"sessions,omitempty"`
	Procedure Procedure   `json:"procedure"`
	Criteria  []Criterion `json:"criteria,omitempty"`
	// Observers read vital signs beside the traffic. They are no part of the method: a figure is the same whoever looks on.
	Observers []Observer `json:"observers,omitempty"`
	// Baseline names what relative criteria are to be compared with ("LoadTest vpp-main"); what it is worth is found out when the test is run.
	Baseline string `json:"baseline,omitempty"`
	// AllowDifferent is what of the baseline's environment may be another: Generator, Path, NIC, Driver, Node, Processor.
	AllowDifferent []string `json:"allowDifferent,omitempty"`
	// SharedPort: two ends of the links may be on one physical port, and share its bandwidth. Where they do, the result says so.
	SharedPort bool `json:"sharedPort,omitempty"`
	// ActiveDeadline bounds the whole run; 0 none.
	ActiveDeadline Duration `json:"activeDeadline,omitempty"`
}

// Test names the run. Product and Loadtest are its row and column in a table of many ("VPP", "imix").
type Test struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	Attempt   int    `json:"attempt"`
	Product   string `json:"product"`
	Loadtest  string `json:"loadtest"`
}
