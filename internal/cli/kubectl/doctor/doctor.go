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

// Level is the result of a check.
type Level string

// The levels. Warn may be intended. Fail prevents tests. Unknown can't be read with the person's rights, or
// from the API.
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
	Fix     string `json:"fix,omitempty"` // advice, or where to look
}

// Answer is the API server's answer to one request.
type Answer[T any] struct {
	Value T
	Err   error
}

// Right is a right that a person or an account needs, and whether it has the right.
type Right struct {
	Verb, Group, Resource string
	Purpose               string // the verb that needs the right
	Allowed               bool
	Err                   error
}

// Lab is what Look read of a cluster.
type Lab struct {
	Namespace string // of the tests
	Version   string // the plugin's own
	Host      string
	Instant   time.Time

	Server     Answer[string]   // Kubernetes' version
	Groups     Answer[[]string] // each group/version that is served
	Rights     []Right
	Definition Answer[*apiextensionsv1.CustomResourceDefinition]
	OurSchema  *apiextensionsv1.CustomResourceDefinition // the plugin's own
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

// Diagnose checks a cluster in the order in which a person would repair it. Without an API server it checks
// nothing else.
func Diagnose(lab Lab) []Finding {
	findings := server(lab)
	if findings[0].Level == Fail {
		return findings
	}
	for _, check := range []func(Lab) []Finding{
		rights, definition, operator, leader, admission, ownership, runners, nodes, multus, networks, hugepages,
		cpuManager, podSecurity, networkPolicy, kueue, wires,
	} {
		findings = append(findings, check(lab)...)
	}
	return findings
}

// Failed reports whether a finding prevents tests.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Fail })
}

func single(level Level, check, message, fix string) []Finding {
	return []Finding{{Level: level, Check: check, Message: message, Fix: fix}}
}

// unreadable says that a subject can't be read, and who could read it.
func unreadable(check, subject string, err error, fix string) []Finding {
	return single(Unknown, check, subject+" can't be read: "+err.Error(), fix)
}
