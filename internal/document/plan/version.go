package plan

import "slices"

// Version and those below it are the document's kind and versions; a reader refuses others. A Plan has the oldest
// version that can express it, so that older runners still carry out older kinds of Plan. A reader ignores members
// that it doesn't know, so a changed meaning needs a new version.
const (
	Version           = "linerate.dev/plan.v1alpha1" // procedure.type is Ramp
	VersionOfUnion    = "linerate.dev/plan.v1alpha2" // any of the procedures
	VersionOfSessions = "linerate.dev/plan.v1alpha3" // traffic may be sessions, and a constant load unlimited
	VersionOfEach     = "linerate.dev/plan.v1alpha4" // a ramp may vary each direction by itself
	VersionOfReset    = "linerate.dev/plan.v1alpha5" // the device may be reset before each trial
	// VersionOfApplications: sessions may have an application, use UDP, and be held at a rate. A runner without
	// these would measure as much as TCP carries instead.
	VersionOfApplications = "linerate.dev/plan.v1alpha6"
	VersionOfLatency      = "linerate.dev/plan.v1alpha7" // latency may be measured after the procedure has its result
	VersionOfEndpoints    = "linerate.dev/plan.v1alpha8" // the device may be an end of sessions itself
)

// VersionOf is the version of a Plan.
func VersionOf(p *Plan) string {
	if p.DUT.Endpoint() {
		return VersionOfEndpoints
	}
	return VersionFor(p.Procedure, p.Sessions)
}

// VersionFor is the version of a Plan with this procedure, of sessions or, where those are nil, of frames, through
// a device.
func VersionFor(p Procedure, sessions *Sessions) string {
	switch {
	case p.Latency != nil:
		return VersionOfLatency
	case sessions != nil && (sessions.Application != "" || sessions.Protocol == UDP || sessions.BitsPerSecond(p) != 0):
		return VersionOfApplications
	case p.Reset != nil:
		return VersionOfReset
	case p.Each != nil:
		return VersionOfEach
	case sessions != nil || p.ConstantLoad != nil && p.ConstantLoad.Unlimited:
		return VersionOfSessions
	case p.Type == TypeRamp || p.Type == "":
		return Version
	}
	return VersionOfUnion
}

// Versions are all that this linerate reads, the newest first.
var Versions = []string{VersionOfEndpoints, VersionOfLatency, VersionOfApplications, VersionOfReset, VersionOfEach,
	VersionOfSessions, VersionOfUnion, Version}

// Readable says whether this linerate reads Plans of a version.
func Readable(version string) bool {
	return slices.Contains(Versions, version)
}
