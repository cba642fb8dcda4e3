package manifests

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// environment are the variables that describe the test and its links to a user's container. Each variable always
// exists. A variable that doesn't apply is empty.
//
//	LINERATE_TEST, LINERATE_NAMESPACE, LINERATE_ATTEMPT
//	LINERATE_FORWARDING       L3, L2, MACRewrite; Nothing of a device that is an end
//	LINERATE_LINKS            "west east"
//	and for each link, its name in capitals with _ for -:
//	LINERATE_WEST_INTERFACE   west
//	LINERATE_WEST_ADDRESS     198.18.0.1/24
//	LINERATE_WEST_VLAN        100; 0 for untagged frames
//	LINERATE_WEST_GENERATORS  "198.18.0.2 198.18.0.3"
//	LINERATE_WEST_NETWORKS    "16.0.0.0/24 16.0.1.0/24"
//	LINERATE_WEST_ROUTES      "16.0.0.0/24 via 198.18.0.2,16.0.1.0/24 via 198.18.0.3"
func environment(input Input) []corev1.EnvVar {
	doc := linksDocument(input)
	var names []string
	for _, l := range doc.Links {
		names = append(names, l.Name)
	}
	variables := []corev1.EnvVar{
		{Name: "LINERATE_TEST", Value: input.Test.Name},
		{Name: "LINERATE_NAMESPACE", Value: input.Test.Namespace},
		{Name: "LINERATE_ATTEMPT", Value: strconv.Itoa(int(input.Attempt))},
		{Name: "LINERATE_FORWARDING", Value: string(doc.Forwarding)},
		{Name: "LINERATE_LINKS", Value: strings.Join(names, " ")},
	}
	for _, l := range doc.Links {
		variables = append(variables, linkVariables(l)...)
	}
	return variables
}

func linkVariables(l plan.LinkEnd) []corev1.EnvVar {
	prefix := "LINERATE_" + strings.ToUpper(strings.ReplaceAll(l.Name, "-", "_")) + "_"
	var generators, networks, routes []string
	for _, g := range l.Generators {
		networks = append(networks, prefixes(g.Networks)...)
		if !g.Address.IsValid() {
			continue // the generator has no address to route them to
		}
		generators = append(generators, g.Address.String())
		if g.IPv6Address.IsValid() {
			generators = append(generators, g.IPv6Address.String())
		}
		for _, n := range g.Networks {
			routes = append(routes, fmt.Sprintf("%s via %s", n, g.NextHop(n)))
		}
	}
	return []corev1.EnvVar{
		{Name: prefix + "INTERFACE", Value: l.Interface},
		{Name: prefix + "ADDRESS", Value: strings.Join(prefixes(l.Addresses), " ")},
		{Name: prefix + "VLAN", Value: strconv.Itoa(int(l.VLAN))},
		{Name: prefix + "GENERATORS", Value: strings.Join(generators, " ")},
		{Name: prefix + "NETWORKS", Value: strings.Join(networks, " ")},
		{Name: prefix + "ROUTES", Value: strings.Join(routes, ",")},
	}
}
