package plan

import "slices"

// Version and those below it are the document's kind and versions; a reader refuses others. A Plan is of the oldest version that can say it, so that a ramp's is carried out by whoever could carry it
// out before. Members that a reader doesn't know it ignores: a changed meaning changes the version.
const (
	Version           = "linerate.dev/plan.v1alpha1" // procedure.type is Ramp
	VersionOfUnion    = "linerate.dev/plan.v1alpha2" // any of the procedures
	VersionOfSessions = "linerate.dev/plan.v1alpha3" // traffic may be sessions, and a constant load unlimited
	VersionOfEach     = "linerate.dev/plan.v1alpha4" // a ramp may vary each direction by itself
	VersionOfReset    = "linerate.dev/plan.v1alpha5" // the device may be reset before each trial
	// VersionOfApplications: sessions may be of an application, over UDP, and held at a rate. Who knows none of that would measure all that TCP carries.
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

// VersionFor is the version of a Plan with this procedure, of sessions or, where those are nil, of frames, through a device.
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
var Versions = []string{VersionOfEndpoints, VersionOfLatency, VersionOfApplications, VersionOfReset, VersionOfEach, VersionOfSessions, VersionOfUnion, Version}

// Readable says that this linerate reads Plans of the version.
func Readable(version string) bool {
	return slices.Contains(Versions, version)
}
