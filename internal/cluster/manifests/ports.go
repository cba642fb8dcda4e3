package manifests

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// generatorPort is a generator's port on a link.
type generatorPort struct {
	generator string
	port      plan.GeneratorPort
}

// generatorsOn are all generators' ports on a link.
func generatorsOn(input Input, link string) []generatorPort {
	var ports []generatorPort
	for _, g := range input.Compiled.Plan.Generators {
		if p, ok := g.PortOn(link); ok {
			ports = append(ports, generatorPort{g.Name, p})
		}
	}
	return ports
}

// linksOf are a generator's links, in the order of its ports.
func linksOf(g plan.Generator) []string {
	var links []string
	for _, p := range g.Ports {
		links = append(links, p.Link)
	}
	return links
}

func linkNames(input Input) []string {
	var names []string
	for _, l := range input.Compiled.Plan.Links {
		names = append(names, l.Name)
	}
	return names
}

// hasDUTPod says that the device under test is a pod of the test's own.
func hasDUTPod(input Input) bool {
	t := input.Test.Spec.DUT.Type
	return t == v1alpha1.DUTPod || t == v1alpha1.DUTReference
}

// onDevices says that a generator has a device on one of its links, which the engine may drive itself. Otherwise its
// ports are kernel interfaces.
func onDevices(input Input, g plan.Generator) bool {
	return len(devicesOf(input, linksOf(g), generatorNetwork)) > 0
}
