package compile

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// isEndpoint says that the device is an end of the traffic itself.
func (d *device) isEndpoint() bool { return d.spec.DUT.Role == v1alpha1.RoleEndpoint }

// checkEndpoint refuses what a device that is an end of sessions can't be, or doesn't have.
//
//	generator ──── west ────▶ dut      {from: west, to: dut}
//	          ◀─── west ─────          {from: dut, to: west}
func (d *device) checkEndpoint() {
	if !d.isEndpoint() {
		return
	}
	dut := specPath().Child("dut")
	switch spec := d.spec.DUT; {
	case d.traffic.whyNoEndpoint() != "":
		d.refuse(dut.Child("role"), spec.Role, d.traffic.whyNoEndpoint())
	case !d.isPod():
		d.refuse(dut.Child("type"), spec.Type,
			"only an end on the device counts what the device received, and linerate can't put one on a device of "+
				"type "+string(spec.Type)+
				": use Reference, or Pod, whose network namespace gets an end of linerate's")
	case spec.Reference != nil && spec.Reference.Limit != nil:
		d.refuse(dut.Child("reference", "limit"), noValue,
			"a limit is of what is forwarded, and role Endpoint forwards nothing: remove limit")
	case spec.Reference != nil && spec.Reference.Mode != nil:
		d.refuse(dut.Child("reference", "mode"), noValue,
			"a mode says how the device forwards, and role Endpoint forwards nothing: remove mode")
	}
	for i, o := range d.spec.Observers {
		if o.Type == v1alpha1.ObserverInterfaces && o.Observed == v1alpha1.ObserverOfDUT {
			d.refuse(specPath().Child("observers").Index(i).Child("observed"), o.Observed,
				"linerate doesn't read the interfaces of a device that is an end, and what its end dropped is in the "+
					"result: leave this observer out")
		}
	}
	if l := d.spec.Links[0]; l.Name == plan.DeviceEnd {
		d.refuse(specPath().Child("links").Index(0).Child("name"), l.Name,
			"directions call the device dut: give the link another name, such as west")
	}
}
