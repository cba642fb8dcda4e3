//go:build full

package e2e

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/api/tenants/tries"
)

// installed is what the chart calls its own that belongs to no namespace.
const installed = "linerate-linerate-system"

// TestTenants: people with few rights, held to them by what the chart installs.
func TestTenants(t *testing.T) {
	t.Run("who may create LoadTests gets no more by them, and each refusal says why", func(t *testing.T) {
		s := begin(t)
		other := s.people()
		refusals := 0
		for _, try := range tries.Attempts(s.namespace, other) {
			if s.refused(try) {
				refusals++
			}
		}
		t.Logf("%d attempts refused", refusals)
		s.holdsNothing()
	})
	t.Run("nor beside them", func(t *testing.T) {
		s := begin(t)
		s.people()
		tester, own := s.as(tries.Tester), metav1.ObjectMeta{Namespace: s.namespace, Name: "attempt"}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "default"}}
		for what, err := range map[string]error{
			"create a pod":         tester.Create(t.Context(), &corev1.Pod{ObjectMeta: own, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}),
			"read Secrets":         tester.List(t.Context(), &corev1.SecretList{}, client.InNamespace(s.namespace)),
			"get a token":          tester.SubResource("token").Create(t.Context(), account, &authenticationv1.TokenRequest{}),
			"create a Role":        tester.Create(t.Context(), &rbacv1.Role{ObjectMeta: own}),
			"see others' tests":    tester.List(t.Context(), &lineratev1alpha1.LoadTestList{}),
			"write a test's state": tester.Status().Update(t.Context(), s.make("attempt", tries.Links)),
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("to %s: %v; it should be forbidden", what, err)
			}
		}
	})
	t.Run("a network of another namespace in a template's annotation keeps the test from having pods", func(t *testing.T) {
		s := begin(t)
		other := s.people()
		for _, try := range tries.ForeignAnnotations(other) {
			if err := s.as(tries.Author).Create(t.Context(), s.make(try.Name, tries.Links, tries.WithAnnotation("pod", try.Spec))); err != nil {
				t.Fatal(err)
			}
			test := s.condition(try.Name, "Scheduled=False NetworkInvalid")
			refusal := "tests of namespace " + s.namespace + " may use networks of " + s.namespace + ", default only"
			if words := message(test, "Scheduled"); !strings.Contains(words, try.Refusal) || !strings.Contains(words, refusal) || !strings.Contains(words, "allowedNetworkNamespaces") {
				t.Errorf("the message doesn't say %q and %q: %s", try.Refusal, refusal, words)
			}
			s.hasNoPods(try.Name)
		}
	})
}

// people gives Tester the chart's role for LoadTests, and Author the cluster's role edit, of which that is a part. It returns another namespace, in
// which nobody has rights, with networks as good as any. A LoadTest like theirs, and no more to it, is taken from both.
func (s *scene) people() (other string) {
	s.Helper()
	s.bind(installed+"-edit", tries.Tester)
	s.bind("edit", tries.Author)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-other-"}}
	s.must(lab.Client.Create(s.Context(), namespace))
	s.Cleanup(func() { s.must(lab.Client.Delete(context.WithoutCancel(s.Context()), namespace)) })
	for _, wire := range []string{"west", "east"} {
		s.networkIn(namespace.Name, wire, s.resource(wire))
		s.network(wire, s.resource(wire))
	}
	plain := map[string]string{tries.Tester: "dut: {type: Reference}", tries.Author: "dut: {type: Pod, pod: {template: {spec: {containers: [{name: c, image: i}]}}}}"}
	s.until("people have their rights", func() bool {
		for who, spec := range plain {
			if s.as(who).Create(s.Context(), s.make("plain", tries.Links, spec), client.DryRunAll) != nil {
				return false
			}
		}
		return true
	})
	return namespace.Name
}

// refused fails unless the chart's policy refuses a user's LoadTest, with all that its message should say.
func (s *scene) refused(try tries.Attempt) bool {
	s.Helper()
	err := s.as(try.User).Create(s.Context(), s.make("attempt", try.Spec))
	if err == nil {
		s.Errorf("%s asks for %s, and it is taken", try.User, try.Name)
		s.delete("attempt")
		return false
	}
	if !strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"+installed+"'") || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		s.Errorf("%s asks for %s, and it isn't the policy that refuses: %v", try.User, try.Name, err)
		return false
	}
	for _, words := range try.Refusals {
		if !strings.Contains(err.Error(), words) {
			s.Errorf("%s asks for %s: it should say %q, and says: %v", try.User, try.Name, words, err)
		}
	}
	return true
}

// holdsNothing fails if there is a LoadTest or a pod in the namespace.
func (s *scene) holdsNothing() {
	s.Helper()
	for _, list := range []client.ObjectList{&lineratev1alpha1.LoadTestList{}, &corev1.PodList{}} {
		s.must(lab.Client.List(s.Context(), list, client.InNamespace(s.namespace)))
		if there := names(list); len(there) > 0 {
			s.Errorf("there is %q", there)
		}
	}
}

// bind gives a user a role in the scene's namespace, for as long as the scene plays.
func (s *scene) bind(role, who string) {
	s.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: who},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: who}},
	}
	s.must(lab.Client.Create(s.Context(), binding))
	s.Cleanup(func() { s.must(lab.Client.Delete(context.WithoutCancel(s.Context()), binding)) })
}

// as is a client with a user's rights.
func (s *scene) as(who string) client.Client {
	s.Helper()
	c, err := lab.ClientAs(who)
	s.must(err)
	return c
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
