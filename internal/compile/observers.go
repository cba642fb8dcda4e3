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
}

// observers are what is read beside the traffic. What nobody could read is refused.
func (c *compiler) observers() []plan.Observer {
	var all []plan.Observer
	for i, o := range c.spec.Observers {
		path := specPath().Child("observers").Index(i)
		reference := c.spec.DUT.Type == v1alpha1.DUTReference
		switch {
		case o.Type == v1alpha1.ObserverLimiter && (!reference || c.spec.DUT.Reference == nil || c.spec.DUT.Reference.Limit == nil):
			c.refuse(path.Child("type"), o.Type, "only a Reference with a limit has a Limiter: set dut to {type: Reference, reference: {limit: ...}}, or leave this observer out")
		case o.Type == v1alpha1.ObserverProcessors && o.Of == v1alpha1.ObserverOfDUT && !reference:
			c.refuse(path.Child("of"), o.Of, "nobody of linerate's is on a device of type "+string(c.spec.DUT.Type)+" to read its processors: say of: Generator, or leave this observer out")
		}
		all = append(all, plan.Observer{Name: o.Name, Of: string(o.Of), Type: string(o.Type)})
	}
	return all
}

// checkObservers refuses what can't be read of pods.
func (c *compiler) checkObservers() {
	for i, o := range c.spec.Observers {
		if o.Of == v1alpha1.ObserverOfDUT {
			c.refuse(specPath().Child("observers").Index(i).Child("of"), o.Of,
				"in a cluster nobody reads the device's pod yet: say of: Generator, or leave this observer out; linerate run, on one machine, has it")
		}
	}
}
