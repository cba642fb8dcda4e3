package plan

import (
	"slices"
	"strconv"
	"strings"
)

// Plan is one measurement.
type Plan struct {
	Version string `json:"version"`
	Test    Test   `json:"test"`
	// Engine is the generator's kind, which is TRex or Software.
	Engine     string      `json:"engine"`
	DUT        DUT         `json:"dut"`
	Links      []Link      `json:"links"`
	Directions []Direction `json:"directions"`
	Generators []Generator `json:"generators"`
	// Sending is how the test wants the software engine to send, or nil where it doesn't say. It isn't part of the
	// method, because how frames were sent belongs to the environment.
	Sending *Sending `json:"sending,omitempty"`
	// Sessions is what connections are like, where traffic is sessions. It is nil for frames.
	Sessions  *Sessions   `json:"sessions,omitempty"`
	Procedure Procedure   `json:"procedure"`
	Criteria  []Criterion `json:"criteria,omitempty"`
	// Observers read vital signs beside the traffic. They aren't part of the method, since they change no figure.
	Observers []Observer `json:"observers,omitempty"`
	// Baseline names what relative criteria are compared with ("LoadTest vpp-main"). It is read when the test is
	// run.
	Baseline string `json:"baseline,omitempty"`
	// AllowDifferent are the parts of the environment that may differ from the baseline's, as Generator, Path, NIC,
	// Driver, Node or Processor.
	AllowDifferent []string `json:"allowDifferent,omitempty"`
	// SharedPort says that two ends of the links may share a physical port and its bandwidth. If they do, the
	// result says so.
	SharedPort bool `json:"sharedPort,omitempty"`
	// ActiveDeadline bounds the whole run. 0 is none.
	ActiveDeadline Duration `json:"activeDeadline,omitempty"`
	// Names are the names of a LoadTest's fields where the test was asked for, such as flags. A field without a
	// name can't be set there. It is nil where a LoadTest asked for the test.
	Names map[string]string `json:"names,omitempty"`
}

// DemandsNoLoss says that some criterion allows no lost frame.
func (p *Plan) DemandsNoLoss() bool {
	return slices.ContainsFunc(p.Criteria, func(c Criterion) bool {
		limit, err := strconv.ParseFloat(c.Max, 64)
		return c.Metric == "LossRatio" && err == nil && limit == 0
	})
}

// NameOf is the name of a LoadTest's field where the test was asked for. It is empty where the field can't be set
// there.
func (p *Plan) NameOf(field string) string {
	if p == nil || p.Names == nil {
		return field
	}
	return p.Names[field]
}

// Advice is a way out that sets a field, whose name takes the place of %s. It is empty where the field can't be
// set.
func (p *Plan) Advice(words, field string) string {
	name := p.NameOf(field)
	if name == "" {
		return ""
	}
	return strings.ReplaceAll(words, "%s", name)
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
