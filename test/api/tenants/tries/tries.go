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
	// Name says it in words.
	Name string
	// Spec is the LoadTest's, in YAML, or the part that the function which returns it says.
	Spec string
	// Refusal are words of the refusal.
	Refusal string
}

// Attempt is a user's Try of a whole LoadTest.
type Attempt struct {
	Name, User, Spec string
	// Refusals are all that the refusal says.
	Refusals []string
}

// Attempts are attempts that are to be refused when the LoadTest is created, in a namespace of this name; they
// look for networks in the other one.
func Attempts(namespace, victim string) []Attempt {
	return slices.Concat(templates(namespace), fields(namespace), networks(victim))
}

// templates are of pods that their authors may not have.
func templates(namespace string) []Attempt {
	const wayOut = "more than a plain pod has: remove it, or have an administrator give author the verb privileged"
	var attempts []Attempt
	for _, t := range BeyondAPlainPod() {
		spec := Links + "dut: {type: Pod, pod: {template: {spec: " + t.Spec + "}}}\n"
		attempts = append(attempts,
			Attempt{t.Name, Author, spec, []string{t.Refusal, wayOut}},
			Attempt{t.Name, Tester, spec, []string{"dut.pod", mayNotCreatePods(namespace), "ask for the role edit"}})
	}
	for _, t := range ForeignAccounts() {
		attempts = append(attempts, Attempt{t.Name, Author, Links + "dut: {type: Pod, pod: {template: {spec: " +
			t.Spec + "}}}\n", []string{t.Refusal, "leave it out", "the verb use on that ServiceAccount"}})
	}
	return attempts
}

// fields are parts of a LoadTest that become pods, or settings of pods.
func fields(namespace string) []Attempt {
	var attempts []Attempt
	for _, t := range NeedingPods() {
		attempts = append(attempts, Attempt{t.Name, Tester, Links + device(t.Spec),
			[]string{t.Refusal + ": these become pods, and " + mayNotCreatePods(namespace)}})
	}
	for _, t := range SystemSettings() {
		attempts = append(attempts, Attempt{t.Name, Author, Links + device(t.Spec), []string{t.Refusal}})
	}
	return attempts
}

func networks(victim string) []Attempt {
	var attempts []Attempt
	for _, t := range ForeignNetworks(victim) {
		for _, user := range []string{Tester, Author} {
			attempts = append(attempts, Attempt{t.Name, user, device(t.Spec),
				[]string{t.Refusal, "is in another namespace", "allowedNetworkNamespaces"}})
		}
	}
	return attempts
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
