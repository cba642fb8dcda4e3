package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// endpoint says that the device is an end of the traffic itself.
func (c *compiler) endpoint() bool { return c.spec.DUT.Role == v1alpha1.RoleEndpoint }

// checkEndpoint refuses what a device that is an end of sessions can't be, or doesn't have.
//
//	generator ──── west ────▶ dut      {from: west, to: dut}
//	          ◀─── west ─────          {from: dut, to: west}
func (c *compiler) checkEndpoint() {
	if !c.endpoint() {
		return
	}
	dut := specPath().Child("dut")
	switch d := c.spec.DUT; {
	case c.traffic.whyNoEndpoint() != "":
		c.refuse(dut.Child("role"), d.Role, c.traffic.whyNoEndpoint())
	case !c.hasDUTPod():
		c.refuse(dut.Child("type"), d.Type, "only an end on the device counts what the device received, and linerate can't put one on a device of type "+string(d.Type)+": use Reference, or Pod, whose network namespace gets an end of linerate's")
	case d.Reference != nil && d.Reference.Limit != nil:
		c.refuse(dut.Child("reference", "limit"), field.OmitValueType{}, "a limit is of what is forwarded, and role Endpoint forwards nothing: remove limit")
	case d.Reference != nil && d.Reference.Mode != nil:
		c.refuse(dut.Child("reference", "mode"), field.OmitValueType{}, "a mode says how the device forwards, and role Endpoint forwards nothing: remove mode")
	}
	for i, o := range c.spec.Observers {
		if o.Type == v1alpha1.ObserverInterfaces && o.Of == v1alpha1.ObserverOfDUT {
			c.refuse(specPath().Child("observers").Index(i).Child("of"), o.Of, "linerate doesn't read the interfaces of a device that is an end, and what its end dropped is in the result: leave this observer out")
		}
	}
	if l := c.spec.Links[0]; l.Name == plan.DeviceEnd {
		c.refuse(specPath().Child("links").Index(0).Child("name"), l.Name, "directions call the device dut: give the link another name, such as west")
	}
}
