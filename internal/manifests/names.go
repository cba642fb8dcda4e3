package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// longestName is what every kind of ours takes: a pod's name is its host name, and a Job's is a label.
const longestName = 63

// RunnerName is the name of the runner's ServiceAccount, Role and RoleBinding.
func RunnerName(test string) string { return named(test, "runner") }

// ProgressName is the name of the ConfigMap that the runner tells its progress in.
func ProgressName(test string) string { return named(test, "progress") }

// ReportName is the name of the ConfigMap that holds the Report.
func ReportName(test string) string { return named(test, "report") }

// SetupPodName is the name of an attempt's setup pod.
func SetupPodName(test string, attempt int32) string { return ofAttempt(test, attempt, "setup") }

// TeardownPodName is the name of an attempt's teardown pod.
func TeardownPodName(test string, attempt int32) string { return ofAttempt(test, attempt, "teardown") }

// LinksName is the name of the ConfigMap that tells an attempt's pods of their links.
func LinksName(test string, attempt int32) string { return ofAttempt(test, attempt, "links") }

// DUTPodName is the name of an attempt's pod of the device under test.
func DUTPodName(test string, attempt int32) string { return ofAttempt(test, attempt, "dut") }

// VitalsPodName is the name of an attempt's pod that tells how the node of a user's device fares.
func VitalsPodName(test string, attempt int32) string { return ofAttempt(test, attempt, "vitals") }

// GeneratorPodName is the name of an attempt's generator pod; generator is its name in the Plan.
func GeneratorPodName(test string, attempt int32, generator string) string {
	return ofAttempt(test, attempt, generator)
}

// PlanName is the name of the ConfigMap that holds an attempt's Plan and sites.
func PlanName(test string, attempt int32) string { return ofAttempt(test, attempt, "plan") }

// RunnerJobName is the name of an attempt's runner Job.
func RunnerJobName(test string, attempt int32) string { return ofAttempt(test, attempt, "runner") }

func ofAttempt(test string, attempt int32, what string) string {
	return named(test, strconv.Itoa(int(attempt))+"-"+what)
}

// named joins a test's name and what a child is. Where that is too long, the test's name is cut, and its digest keeps tests apart whose
// names begin alike. This happens only to generators of layout PerLink.
func named(test, what string) string {
	name := test + "-" + what
	if len(name) <= longestName {
		return name
	}
	const digits = 6
	sum := sha256.Sum256([]byte(test))
	keep := max(1, longestName-len(what)-digits-2)
	return fmt.Sprintf("%s-%s-%s", test[:min(keep, len(test))], hex.EncodeToString(sum[:])[:digits], what)
}

// Ref names an object of a test's namespace.
type Ref struct{ Kind, Name string }

// String is "Kind/name".
func (r Ref) String() string { return r.Kind + "/" + r.Name }

// NamesOf are the names that the test uses in this attempt: all of the test's own, and all of the attempt's. What bears one of them and isn't the
// test's is in the way. It needs no networks.
func NamesOf(in Input) []Ref {
	test := in.Test.Name
	refs := []Ref{
		{"ServiceAccount", RunnerName(test)},
		{"Role", RunnerName(test)},
		{"RoleBinding", RunnerName(test)},
		{"ConfigMap", ProgressName(test)},
		{"ConfigMap", ReportName(test)},
		{"ConfigMap", LinksName(test, in.Attempt)},
	}
	if in.Compiled.Setup != nil {
		refs = append(refs, Ref{"Pod", SetupPodName(test, in.Attempt)})
	}
	if hasDUTPod(in) {
		refs = append(refs, Ref{"Pod", DUTPodName(test, in.Attempt)})
	}
	if hasVitalsPod(in) {
		refs = append(refs, Ref{"Pod", VitalsPodName(test, in.Attempt)})
	}
	if hasGeneratorPods(in) {
		for _, g := range in.Compiled.Plan.Generators {
			refs = append(refs, Ref{"Pod", GeneratorPodName(test, in.Attempt, g.Name)})
		}
	}
	refs = append(refs, Ref{"ConfigMap", PlanName(test, in.Attempt)}, Ref{"Job", RunnerJobName(test, in.Attempt)})
	if in.Compiled.Teardown != nil {
		refs = append(refs, Ref{"Pod", TeardownPodName(test, in.Attempt)})
	}
	return refs
}
