package chart

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// The server itself is asked what the manager's ServiceAccount may do, in each way to install.
func TestTheServerGrantsWhatTheManagerNeeds(t *testing.T) {
	for _, namespace := range []string{releaseNamespace, "a", "b"} {
		makeNamespace(t, namespace)
	}
	t.Cleanup(func() { removeDefinition(t) })
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	config.QPS = -1 // all of them at once
	server, err := kubernetes.NewForConfig(config)
	must(t, err)
	for _, way := range []struct {
		name, values string
		inB          bool
	}{
		{"cluster-wide", "", true},
		{"in one namespace", "watchNamespaces: [a]", false},
	} {
		t.Run(way.name, func(t *testing.T) {
			must(t, install(t, releaseNamespace, way.values))
			defer func() { must(t, uninstall(t, releaseNamespace)) }()
			for _, asked := range []struct {
				namespace, group, resource, verb string
				want                             bool
			}{
				{"a", "", "pods", "create", true},
				{"b", "", "pods", "create", way.inB},
				{"a", "linerate.dev", "loadtests/status", "patch", true},
				{"a", "linerate.dev", "loadtests", "update", false},
				{"a", "linerate.dev", "loadtests", "create", true},
				{"b", "linerate.dev", "loadtests", "privileged", way.inB},
				{"a", "linerate.dev", "loadtestsuites/status", "patch", true},
				{"a", "linerate.dev", "loadtestsuites", "create", false},
				{"a", "linerate.dev", "loadtestsuites", "patch", false},
				{"a", "rbac.authorization.k8s.io", "roles", "create", false},
				{"a", "rbac.authorization.k8s.io", "roles", "escalate", false},
				{"a", "networking.k8s.io", "networkpolicies", "create", true},
				{"b", "networking.k8s.io", "networkpolicies", "create", way.inB},
				{"a", "networking.k8s.io", "networkpolicies", "delete", false},
				{"a", "policy", "poddisruptionbudgets", "create", true},
				{"a", "", "serviceaccounts", "create", false},
				{"a", "batch", "jobs", "create", false},
				{releaseNamespace, "batch", "jobs", "create", true},
				{releaseNamespace, "", "configmaps", "create", true},
				{releaseNamespace, "", "pods", "delete", true},
				{"a", "", "secrets", "get", false},
				{"", "", "nodes", "watch", true},
				{"", "authentication.k8s.io", "tokenreviews", "create", true},
				{"", "authorization.k8s.io", "subjectaccessreviews", "create", true},
				{"", "", "users", "impersonate", false},
				{releaseNamespace, "coordination.k8s.io", "leases", "update", true},
				{"a", "coordination.k8s.io", "leases", "update", false},
				{releaseNamespace, "coordination.k8s.io", "leases", "list", true},
				{releaseNamespace, "coordination.k8s.io", "leases", "delete", true},
				{"kube-node-lease", "coordination.k8s.io", "leases", "list", false},
				{"kube-node-lease", "coordination.k8s.io", "leases", "delete", false},
			} {
				if got := allowed(t, server, asked.namespace, asked.group, asked.resource, asked.verb); got != asked.want {
					t.Errorf("%s %s.%s in %q: %v", asked.verb, asked.resource, asked.group, asked.namespace, got)
				}
			}
		})
	}
}

func allowed(t *testing.T, server kubernetes.Interface, namespace, group, resource, verb string) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + releaseNamespace + ":linerate", Groups: []string{"system:serviceaccounts", "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: group, Resource: resource, Subresource: subresource, Verb: verb},
	}}
	answer, err := server.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	must(t, err)
	return answer.Status.Allowed
}
