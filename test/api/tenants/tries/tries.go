package tries

import (
	"slices"
	"strings"
)

// The users who try.
const (
	// Tester may create LoadTests in a namespace, and nothing else.
	Tester = "tester"
	// Author may create pods there, too: what people with the role edit may.
	Author = "author"
)

// Links are those of a LoadTest that asks for nothing unusual by them.
const Links = `
links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
`

// Try is a user's request.
type Try struct {
	// What says it in words.
	What string
	// Spec is the LoadTest's, in YAML, or the part that the function which returns it says.
	Spec string
	// Says are words of the refusal.
	Says string
}

// Attempt is a user's Try of a whole LoadTest.
type Attempt struct {
	What, Who, Spec string
	// Says are all that the refusal says.
	Says []string
}

// All are attempts that are to be refused when the LoadTest is created, in a namespace of this name; they look for networks in the other one.
func All(namespace, other string) []Attempt {
	return slices.Concat(templates(namespace), fields(namespace), networks(other))
}

// templates are of pods that their authors may not have.
func templates(namespace string) []Attempt {
	const wayOut = "more than a plain pod has: remove it, or have an administrator give author the verb privileged"
	var all []Attempt
	for _, t := range BeyondAPlainPod() {
		spec := Links + "dut: {type: Pod, pod: {template: {spec: " + t.Spec + "}}}\n"
		all = append(all,
			Attempt{t.What, Author, spec, []string{t.Says, wayOut}},
			Attempt{t.What, Tester, spec, []string{"dut.pod", mayNotCreatePods(namespace), "ask for the role edit"}})
	}
	for _, t := range ForeignAccounts() {
		all = append(all, Attempt{t.What, Author, Links + "dut: {type: Pod, pod: {template: {spec: " + t.Spec + "}}}\n", []string{t.Says, "leave it out", "the verb use on that ServiceAccount"}})
	}
	return all
}

// fields are parts of a LoadTest that become pods, or settings of pods.
func fields(namespace string) []Attempt {
	var all []Attempt
	for _, t := range NeedingPods() {
		all = append(all, Attempt{t.What, Tester, Links + device(t.Spec), []string{t.Says + ": these become pods, and " + mayNotCreatePods(namespace)}})
	}
	for _, t := range SystemSettings() {
		all = append(all, Attempt{t.What, Author, Links + device(t.Spec), []string{t.Says}})
	}
	return all
}

func networks(other string) []Attempt {
	var all []Attempt
	for _, t := range ForeignNetworks(other) {
		for _, who := range []string{Tester, Author} {
			all = append(all, Attempt{t.What, who, device(t.Spec), []string{t.Says, "is in another namespace", "allowedNetworkNamespaces"}})
		}
	}
	return all
}

// device gives a spec a device unless it has one.
func device(spec string) string {
	if strings.Contains(spec, "dut: {type") {
		return spec
	}
	return strings.TrimSpace(spec) + "\ndut: {type: Reference}\n"
}

func mayNotCreatePods(namespace string) string {
	return "tester may not create pods in namespace " + namespace
}
