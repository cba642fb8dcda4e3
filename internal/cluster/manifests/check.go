package manifests

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Check says what a test can't have on these networks, each with the way out. Nil means that it can have everything.
func Check(input Input) []error {
	return slices.Concat(checkEngine(input), checkSpeed(input), checkRewriting(input), checkTunnel(input))
}

// checkSpeed refuses percent of an unknown line rate. A virtual interface has no speed. An interface of the node that
// is moved into the pod may have one, but not every engine asks for it.
func checkSpeed(input Input) []error {
	e, ok := engineOf(input.Test)
	asks := ok && e.asksSpeed()
	var errs []error
	for _, link := range input.Compiled.SpeedOf {
		n, ok := generatorNetwork(input, link)
		physical := n.Resource != "" || n.Plugin == "host-device" && asks
		if ok && !physical {
			errs = append(errs, fmt.Errorf("link %s: the test asks for percent of line rate, and the interfaces of "+
				"network %s have no speed of their own: say what 100 %% is, such as lineRate: 10gbps", link, n.Key))
		}
	}
	return errs
}

// checkRewriting refuses a Reference that rewrites MAC addresses if it can't know the generators' addresses
// before they run.
func checkRewriting(input Input) []error {
	p := input.Compiled.Plan
	if input.Test.Spec.DUT.Type != v1alpha1.DUTReference || p.DUT.Forwarding != plan.MACRewrite {
		return nil
	}
	instead := "use forwarding L3"
	if p.DUT.Mode() != nil {
		instead = "use another mode"
	}
	var errs []error
	for _, d := range p.Directions {
		if n, ok := generatorNetwork(input, d.To); ok && !n.MAC {
			errs = append(errs, fmt.Errorf("link %s: with forwarding MACRewrite the Reference must know the "+
				"generator's MAC address before it runs, and network %s accepts none: give it the capability mac "+
				"(\"capabilities\": {\"mac\": true}), or %s", d.To, n.Key, instead))
		}
	}
	return errs
}
