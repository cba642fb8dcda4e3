package compile

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/signs"
)

// seriesOf are the series that an observer has, and whether it has those of all processors together, too.
func seriesOf(o v1alpha1.Observer) (names []string, ofAll bool) {
	switch {
	case o.Type == v1alpha1.ObserverProcessors:
		return []string{"busy", "softirq", "stolen"}, true
	case o.Type == v1alpha1.ObserverLimiter:
		return []string{"passed", "dropped"}, false
	case o.Type == v1alpha1.ObserverInterfaces && o.Of == v1alpha1.ObserverOfGenerator:
		return []string{"received", "sent", "dropped"}, false
	}
	for _, s := range signs.Kinds[string(o.Type)].Series {
		names, ofAll = append(names, s.Name), ofAll || s.OfAll
	}
	return names, ofAll
}

// observers are the observers of the Plan, on one machine and in a cluster alike. In a cluster a Reference reports its node's vital signs itself, and a vitals
// pod is put beside a device of the user's. An observer that nothing could read is refused.
func (c *compiler) observers() []plan.Observer {
	var all []plan.Observer
	for i, o := range c.spec.Observers {
		c.checkObserver(i, o)
		all = append(all, plan.Observer{Name: o.Name, Of: string(o.Of), Type: string(o.Type)})
	}
	return all
}

func (c *compiler) checkObserver(i int, o v1alpha1.Observer) {
	path := specPath().Child("observers").Index(i)
	reference := c.spec.DUT.Type == v1alpha1.DUTReference
	ofDevice := o.Of == v1alpha1.ObserverOfDUT
	switch {
	case o.Type == v1alpha1.ObserverLimiter && (!reference || c.spec.DUT.Reference == nil || c.spec.DUT.Reference.Limit == nil):
		c.refuse(path.Child("type"), o.Type, "only a Reference with a limit has a Limiter: set dut to {type: Reference, reference: {limit: ...}}, or leave this observer out")
	case o.Type == v1alpha1.ObserverInterfaces && ofDevice && !reference:
		c.refuse(path.Child("of"), o.Of, "nobody of linerate's is in the network namespace of a device of type "+string(c.spec.DUT.Type)+" to read its interfaces: say of: Generator for the other end of its links, or leave this observer out")
	case o.Type != v1alpha1.ObserverLimiter && ofDevice && !c.hasDUTPod(): // nobody can be put there
		c.refuse(path.Child("of"), o.Of, "nobody of linerate's is on a device of type "+string(c.spec.DUT.Type)+" to read its machine: say of: Generator, or Node for every machine that somebody of ours is on, or leave this observer out")
	case o.Type == v1alpha1.ObserverInterfaces && !ofDevice && c.engine != nil && c.engine.uncounted() != "":
		c.refuse(path.Child("type"), o.Type, c.engine.uncounted())
	}
}
