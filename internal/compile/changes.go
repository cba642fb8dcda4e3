package compile

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/profile"
)

// changes says that the device is declared to make a change.
func (d *device) changes(c v1alpha1.FrameChange) bool { return slices.Contains(d.spec.DUT.Changes, c) }

// translatesVersions says that IPv6 packets may leave the device as IPv4 packets, or the other way round. Their headers
// have other lengths.
func (d *device) translatesVersions() bool {
	return d.changes(v1alpha1.ChangeAddresses) && d.changes(v1alpha1.ChangeLength)
}

// checkChanges refuses what a test of a device that changes frames can't have.
//
//	NAT, a tunnel's end, both ways   the way back answers each flow: few of them, in turn, and never forgotten
//	a tunnel's end, NAT64            a generator's mark is in another header: no stream is recognized
func (d *device) checkChanges(both bool) {
	path, traffic := specPath().Child("dut", "changes"), d.spec.Traffic
	if len(d.spec.DUT.Changes) == 0 {
		return
	}
	d.refuseIf(!d.traffic.shapesFrames(), path, noValue,
		"only marked frames show what a device changes, and sessions' kernels send none: remove changes, or use "+
			"traffic.type Frames")
	answers := both && (d.changes(v1alpha1.ChangeAddresses) || d.changes(v1alpha1.ChangeEncapsulation))
	if !answers {
		return
	}
	const instead = ": measure one direction (traffic.directions), or "
	d.refuseIf(d.spec.Procedure.Reset != nil, specPath().Child("procedure", "reset"), noValue,
		"the way back answers flows that the device knows, and forgets at a reset"+instead+"remove reset")
	if flows := traffic.Flows; flows != nil {
		path := specPath().Child("traffic", "flows")
		d.refuseIf(flows.Order == v1alpha1.FlowsRandom, path.Child("order"), flows.Order,
			"the way back answers each flow of the way out, and random ones can't be foretold"+instead+"use Sequential")
		if flows.Count > profile.MostListed {
			d.refusef(path.Child("count"), flows.Count,
				"the way back answers each flow of the way out, %d at most"+instead+"use fewer", profile.MostListed)
		}
	}
}

// hidesMarks is why frames may come back without the mark by which a generator recognizes their stream. It is empty
// where the mark stays.
func (d *device) hidesMarks() string {
	switch {
	case d.changes(v1alpha1.ChangeEncapsulation):
		return "the mark of a stream is in the IP header, and the device wraps that into another (dut.changes: " +
			"Encapsulation)"
	case d.translatesVersions():
		return "the mark of a stream is in the IP header, and the device may replace that by one of the other version " +
			"(dut.changes: Addresses, Length)"
	}
	return ""
}
