package manifests

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// Check says what of a test can't be had on these networks, each with the way out; nil: all can.
func Check(in Input) []error {
	return slices.Concat(checkTemplate(in), checkPorts(in), checkRewriting(in))
}

// checkTemplate reads the template's own list of networks.
func checkTemplate(in Input) []error {
	if in.Compiled.DUT == nil {
		return nil
	}
	if _, err := readAttachments(in.Compiled.DUT.Annotations[annotationNetworks]); err != nil {
		return []error{fmt.Errorf("spec.dut.pod.template: %w", err)}
	}
	return nil
}

// checkPorts refuses ports that no TRex drives together, or not with so many cores.
func checkPorts(in Input) []error {
	spec := in.Test.Spec.Generator
	if spec.Engine != v1alpha1.EngineTRex {
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
	switch {
	case len(devices) > 0 && len(kernel) > 0 && spec.Layout != v1alpha1.LayoutPerLink:
		return []error{fmt.Errorf("links %s are on networks with a device resource and links %s on networks without: TRex drives all its ports alike, so give all links networks of one kind (annotation %s)",
			strings.Join(devices, ", "), strings.Join(kernel, ", "), annotationResource)}
	case len(kernel) > 0 && spec.CoresPerPortPair > 1:
		return []error{fmt.Errorf("spec.generator.coresPerPortPair is %d, and links %s are on networks without a device resource: there TRex sends with one core, so set it to 1, or use networks with devices (annotation %s)",
			spec.CoresPerPortPair, strings.Join(kernel, ", "), annotationResource)}
	}
	return nil
}

// checkRewriting: a Reference that rewrites MAC addresses has to know where frames go before the generators run.
func checkRewriting(in Input) []error {
	p := in.Compiled.Plan
	if in.Test.Spec.DUT.Type != v1alpha1.DUTReference || p.DUT.Forwarding != plan.MACRewrite {
		return nil
	}
	if in.Test.Spec.Generator.Replicas > 1 {
		return []error{errors.New("spec.generator.replicas: the Reference rewrites all of a link's frames to one generator's MAC address: set it to 1, or use forwarding L3")}
	}
	var errs []error
	for _, d := range p.Directions {
		if n, ok := generatorNetwork(in, d.To); ok && !n.MAC {
			errs = append(errs, fmt.Errorf("link %s: with forwarding MACRewrite the Reference must know the generator's MAC address before it runs, and network %s takes none: give it the capability mac (\"capabilities\": {\"mac\": true}), or use forwarding L3", d.To, n.Key))
		}
	}
	return errs
}
