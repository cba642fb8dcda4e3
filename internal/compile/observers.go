package compile

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// seriesOf are the series that an observer of each type has, and whether it has those of all processors together, too.
var seriesOf = map[v1alpha1.ObserverType]struct {
	names []string
	ofAll bool
}{
	v1alpha1.ObserverProcessors: {[]string{"busy", "softirq", "stolen"}, true},
	v1alpha1.ObserverLimiter:    {[]string{"passed", "dropped"}, false},
	v1alpha1.ObserverInterfaces: {[]string{"received", "sent", "dropped"}, false},
}

// observers are the observers of the Plan, on one machine and in a cluster alike. In a cluster a Reference reports its node's vital signs itself, and a vitals
// pod is put beside a device of the user's. An observer that nothing could read is refused.
func (c *compiler) observers() []plan.Observer {
	var all []plan.Observer
	for i, o := range c.spec.Observers {
		path := specPath().Child("observers").Index(i)
		reference := c.spec.DUT.Type == v1alpha1.DUTReference
		elsewhere := !c.hasDUTPod() // nobody can be put there
		switch {
		case o.Type == v1alpha1.ObserverLimiter && (!reference || c.spec.DUT.Reference == nil || c.spec.DUT.Reference.Limit == nil):
			c.refuse(path.Child("type"), o.Type, "only a Reference with a limit has a Limiter: set dut to {type: Reference, reference: {limit: ...}}, or leave this observer out")
		case o.Type == v1alpha1.ObserverProcessors && o.Of == v1alpha1.ObserverOfDUT && elsewhere:
			c.refuse(path.Child("of"), o.Of, "nobody of linerate's is on a device of type "+string(c.spec.DUT.Type)+" to read its processors: say of: Generator, or Node for every machine that somebody of ours is on, or leave this observer out")
		case o.Type == v1alpha1.ObserverInterfaces && c.engine != nil && c.engine.uncounted() != "":
			c.refuse(path.Child("type"), o.Type, c.engine.uncounted())
		}
		all = append(all, plan.Observer{Name: o.Name, Of: string(o.Of), Type: string(o.Type)})
	}
	return all
}
