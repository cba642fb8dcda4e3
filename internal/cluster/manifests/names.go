package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// longestName is the longest name that all our kinds accept. A pod's name is its host name, and a Job's is a label.
const longestName = 63

// ReportName is the name of the ConfigMap in the test's namespace that holds a copy of the Report.
func ReportName(test string) string { return nameWith(test, "report") }

// SetupPodName is the name of an attempt's setup pod.
func SetupPodName(test string, attempt int32) string { return attemptName(test, attempt, "setup") }

// TeardownPodName is the name of an attempt's teardown pod.
func TeardownPodName(test string, attempt int32) string {
	return attemptName(test, attempt, "teardown")
}

// LinksName is the name of the ConfigMap that describes the links to an attempt's pods.
func LinksName(test string, attempt int32) string { return attemptName(test, attempt, "links") }

// DUTPodName is the name of an attempt's pod of the device under test.
func DUTPodName(test string, attempt int32) string { return attemptName(test, attempt, "dut") }

// FarEndPodName is the name of an attempt's pod of the second gateway of a tunnel.
func FarEndPodName(test string, attempt int32) string { return attemptName(test, attempt, "dut-far") }

// VitalsPodName is the name of an attempt's pod that reports the vital signs of the node of a user's device.
func VitalsPodName(test string, attempt int32) string { return attemptName(test, attempt, "vitals") }

// CollectorPodName is the name of an attempt's pod that asks sources over the network for observers.
func CollectorPodName(test string, attempt int32) string {
	return attemptName(test, attempt, "collector")
}

// OwnRunnerPolicyName is the name of the NetworkPolicy of a test whose pods admit their own runner alone.
func OwnRunnerPolicyName(test *v1alpha1.LoadTest) string {
	return nameWith(test.Name, shortUID(test)+"-runner")
}

// GeneratorPodName is the name of an attempt's generator pod, and generator is its name in the Plan.
func GeneratorPodName(test string, attempt int32, generator string) string {
	return attemptName(test, attempt, generator)
}

// The following objects are in the operator's own namespace, together with those of all other namespaces' tests. A
// digest of the test's UID separates tests of the same name.

// PlanName is the name of the ConfigMap that holds an attempt's Plan and sites.
func PlanName(test *v1alpha1.LoadTest, attempt int32) string { return runName(test, attempt) + "-plan" }

// ProgressName is the name of the ConfigMap in which an attempt's runner reports its progress.
func ProgressName(test *v1alpha1.LoadTest, attempt int32) string {
	return runName(test, attempt) + "-progress"
}

// OriginalName is the name of the ConfigMap that an attempt's runner writes its Report to.
func OriginalName(test *v1alpha1.LoadTest, attempt int32) string {
	return runName(test, attempt) + "-report"
}

// RunnerJobName is the name of an attempt's runner Job.
func RunnerJobName(test *v1alpha1.LoadTest, attempt int32) string {
	return runName(test, attempt) + "-runner"
}

// longestRun leaves room for "-runner-" in the 58 characters of a Job's name that Kubernetes keeps in the names of its
// pods. So a pod's name begins with its Job's, and the runners' admission policy can tell by the name which documents
// are the pod's.
const longestRun = 50

// runName is what the names of an attempt's run begin with.
func runName(test *v1alpha1.LoadTest, attempt int32) string {
	suffix := fmt.Sprintf("-%s-%d", shortUID(test), attempt)
	first := test.Name[:min(len(test.Name), longestRun-len(suffix))]
	return strings.TrimRight(first, "-.") + suffix
}

// shortUID is a digest of the test's UID, short enough for names.
func shortUID(test *v1alpha1.LoadTest) string {
	const digits = 8
	return DigestOfUID(string(test.UID))[:digits]
}

// DigestOfUID is a digest of a test's UID. The names of the objects of the test's runs have its first eight digits.
func DigestOfUID(uid string) string {
	const digits = 32
	sum := sha256.Sum256([]byte(uid))
	return hex.EncodeToString(sum[:])[:digits]
}

func attemptName(test string, attempt int32, suffix string) string {
	return nameWith(test, strconv.Itoa(int(attempt))+"-"+suffix)
}

// nameWith joins a test's name and a suffix. If that is too long, it cuts the test's name, and adds a digest that
// separates tests whose names begin alike. This happens only for generators of layout PerLink.
func nameWith(test, suffix string) string {
	name := test + "-" + suffix
	if len(name) <= longestName {
		return name
	}
	const digits = 6
	sum := sha256.Sum256([]byte(test))
	keep := max(1, longestName-len(suffix)-digits-2)
	return fmt.Sprintf("%s-%s-%s", test[:min(keep, len(test))], hex.EncodeToString(sum[:])[:digits], suffix)
}

// IsRunnerOf says whether an attempt's Job made a pod of the operator's own namespace, by the pod's name. That is the
// Job's name, a hyphen, and a random part without hyphens. The random part must be checked, since a LoadTest may be
// named so that its runner's pods begin like another test's.
func IsRunnerOf(pod string, test *v1alpha1.LoadTest, attempt int32) bool {
	drawn, found := strings.CutPrefix(pod, RunnerJobName(test, attempt)+"-")
	return found && drawn != "" && !strings.Contains(drawn, "-")
}
