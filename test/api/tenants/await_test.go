package tenants

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// await waits for what the API server learns by a watch.
func (l *lab) await(what string, holds func() bool) {
	l.t.Helper()
	err := wait.PollUntilContextTimeout(l.t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
}

// allowUse gives a user the verb use on ServiceAccounts.
func (l *lab) allowUse(who string, accounts ...string) {
	l.t.Helper()
	l.grant("use", []string{who}, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: accounts, Verbs: []string{"use"}})
}

// setPolicy binds the policy to the lab's namespace, or not, and waits until that is in force.
func (l *lab) setPolicy(bound bool) {
	l.t.Helper()
	l.bindPolicy("loadtests", bound)
	l.await("the policy", func() bool { return (l.try("author", privileged(l)) != nil) == bound })
}

// bindPolicy binds a policy to the lab's namespace, or not; the API server learns that a moment later.
func (l *lab) bindPolicy(name string, bound bool) {
	l.t.Helper()
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Name: name}, binding))
	binding.Spec.MatchResources = nil
	if !bound {
		binding.Spec.MatchResources = &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{l.namespace}},
		}}}
	}
	l.must(admin.Update(l.t.Context(), binding))
}

func tokenRequest() client.Object { return &authenticationv1.TokenRequest{} }
