package manifests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// Check says what of a test can't be had on these networks, each with the way out; nil: all can.
func Check(in Input) []error {
	return slices.Concat(checkPorts(in), checkSpeed(in), checkRewriting(in))
}

// checkPorts refuses ports that no TRex drives together.
func checkPorts(in Input) []error {
	spec := in.Test.Spec.Generator
	if spec.Engine != v1alpha1.EngineTRex || spec.Layout == v1alpha1.LayoutPerLink {
		return nil
	}
	var devices, kernel []string
	for _, link := range linkNames(in) {
		if n, ok := generatorNetwork(in, link); ok && n.Resource != "" {
			devices = append(devices, link)
		} else if ok {
			kernel = append(kernel, link)
		}
	}
	if len(devices) == 0 || len(kernel) == 0 {
		return nil
	}
	return []error{fmt.Errorf("the networks of links %s have a device resource (annotation %s), those of links %s have none: TRex drives all its ports alike, so give all links networks of one kind",
		strings.Join(devices, ", "), annotationResource, strings.Join(kernel, ", "))}
}

// checkSpeed refuses percent of a line rate that nobody knows: a virtual interface has no speed of its own. An interface of the node's that is moved into
// the pod may have one, which only the software engine asks for.
func checkSpeed(in Input) []error {
	var errs []error
	for _, link := range in.Compiled.SpeedOf {
		n, ok := generatorNetwork(in, link)
		physical := n.Resource != "" || n.Plugin == "host-device" && in.Test.Spec.Generator.Engine == v1alpha1.EngineSoftware
		if ok && !physical {
			errs = append(errs, fmt.Errorf("link %s: the test asks for percent of line rate, and the interfaces of network %s have no speed of their own: say what 100 %% is, such as lineRate: 10gbps", link, n.Key))
		}
	}
	return errs
}

// checkRewriting: a Reference that rewrites MAC addresses has to know where frames go before the generators run.
func checkRewriting(in Input) []error {
	p := in.Compiled.Plan
	if in.Test.Spec.DUT.Type != v1alpha1.DUTReference || p.DUT.Forwarding != plan.MACRewrite {
		return nil
	}
	var errs []error
	for _, d := range p.Directions {
		if n, ok := generatorNetwork(in, d.To); ok && !n.MAC {
			errs = append(errs, fmt.Errorf("link %s: with forwarding MACRewrite the Reference must know the generator's MAC address before it runs, and network %s takes none: give it the capability mac (\"capabilities\": {\"mac\": true}), or use forwarding L3", d.To, n.Key))
		}
	}
	return errs
}
