package doctor

import (
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Level is how it stands with one thing.
type Level string

// The levels. Warn may be as it should; Fail keeps tests from running; Unknown can't be seen with these rights, or not from the API.
const (
	OK      Level = "ok"
	Warn    Level = "warn"
	Fail    Level = "fail"
	Unknown Level = "unknown"
)

// Finding is one line of the diagnosis.
type Finding struct {
	Level   Level  `json:"level"`
	Check   string `json:"check"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what to do, or where to look
}

// Answer is what the cluster answered to one question.
type Answer[T any] struct {
	Value T
	Err   error
}

// Right is something that the person must be allowed to do, and whether they are.
type Right struct {
	Verb, Group, Resource string
	For                   string // what it is needed for
	Allowed               bool
	Err                   error
}

// Lab is what was seen of a cluster.
type Lab struct {
	Namespace string // that tests are to run in
	Version   string // the plugin's own
	Host      string
	Now       time.Time

	Server     Answer[string]   // Kubernetes' version
	Groups     Answer[[]string] // group/version of all that is served
	Rights     []Right
	Definition Answer[*apiextensionsv1.CustomResourceDefinition]
	OurSchema  *apiextensionsv1.CustomResourceDefinition // that this plugin knows
	Operators  Answer[[]appsv1.Deployment]
	Leases     map[string]Answer[*coordinationv1.Lease] // by namespace
	Wires      map[string]Answer[[]Wire]                // by the operator's namespace
	Runs       map[types.NamespacedName]Runs            // by the operator's Deployment
	Networks   Answer[[]unstructured.Unstructured]
	Nodes      Answer[[]corev1.Node]
	Pods       Answer[[]corev1.Pod]
	CPUPolicy  map[string]Answer[string] // by node
	Home       Answer[*corev1.Namespace]
	Daemons    Answer[[]appsv1.DaemonSet]
	Policies   Answer[[]admissionv1.ValidatingAdmissionPolicy]
	Bindings   Answer[[]admissionv1.ValidatingAdmissionPolicyBinding]
	Kueue      Answer[string]   // its configuration
	Queues     Answer[[]string] // its LocalQueues in the namespace
}

// Diagnose judges all, in the order in which a person would mend it. Without an API server there is nothing else to say.
func Diagnose(lab Lab) []Finding {
	findings := server(lab)
	if findings[0].Level == Fail {
		return findings
	}
	for _, check := range []func(Lab) []Finding{
		rights, definition, operator, leader, admission, ownership, runners, nodes, multus, networks, hugepages, cpuManager, podSecurity, networkPolicy, kueue, wires,
	} {
		findings = append(findings, check(lab)...)
	}
	return findings
}

// Failed says whether tests can't run.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Fail })
}

func one(level Level, check, message, fix string) []Finding {
	return []Finding{{Level: level, Check: check, Message: message, Fix: fix}}
}

// unseen says what couldn't be seen, and who could see it.
func unseen(check, what string, err error, fix string) []Finding {
	return one(Unknown, check, what+" can't be read: "+err.Error(), fix)
}
