package tenants

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestTheRunnersToken(t *testing.T) {
	l := newLab(t)
	l.node()
	l.network(l.namespace, "west")
	l.network(l.namespace, "east")
	for _, name := range []string{"mine", "theirs"} {
		l.create("tester", written(t, name, links))
		l.operate(name)
	}
	runner := asAccount(t, l.namespace, "mine-runner")
	own := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: l.namespace, Name: name} }
	l.await("the runner's rights", func() bool {
		return runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mine-progress"}, &corev1.ConfigMap{}) == nil
	})

	t.Run("writes two ConfigMaps, and that is all that it is told it may do", func(t *testing.T) {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: l.namespace}}
		l.must(runner.Create(t.Context(), review))
		found := false
		for _, rule := range review.Status.ResourceRules {
			switch {
			case rule.APIGroups[0] == "authorization.k8s.io" || rule.APIGroups[0] == "authentication.k8s.io": // everybody's: who am I, what may I do
			case rule.APIGroups[0] == "certificates.k8s.io" && rule.Resources[0] == "clustertrustbundles": // every ServiceAccount's, since Kubernetes 1.37: certificates to trust
			case rule.Resources[0] == "configmaps" && len(rule.ResourceNames) == 2 && len(rule.Verbs) == 3:
				found = true
			default:
				t.Errorf("it may %v %v %v", rule.Verbs, rule.Resources, rule.ResourceNames)
			}
		}
		if !found {
			t.Errorf("it may not write its ConfigMaps: %+v", review.Status.ResourceRules)
		}
	})
	t.Run("is refused all else", func(t *testing.T) {
		newTest := written(t, "new", links)
		newTest.Namespace = l.namespace
		for what, err := range map[string]error{
			"get a secret":              runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "s"}, &corev1.Secret{}),
			"list secrets":              runner.List(t.Context(), &corev1.SecretList{}, client.InNamespace(l.namespace)),
			"get another test's report": runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "theirs-report"}, &corev1.ConfigMap{}),
			"get its own plan's object": runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mine-1-plan"}, &corev1.ConfigMap{}),
			"list ConfigMaps":           runner.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(l.namespace)),
			"create a ConfigMap":        runner.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: own("new")}),
			"delete its progress":       runner.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: own("mine-progress")}),
			"delete its report":         runner.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: own("mine-report")}),
			"one in another namespace":  runner.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "mine-report"}, &corev1.ConfigMap{}),
			"list pods":                 runner.List(t.Context(), &corev1.PodList{}, client.InNamespace(l.namespace)),
			"create a pod":              runner.Create(t.Context(), &corev1.Pod{ObjectMeta: own("p"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}),
			"delete a generator":        runner.Delete(t.Context(), &corev1.Pod{ObjectMeta: own("mine-1-generator-0")}),
			"delete its Job":            runner.Delete(t.Context(), &batchv1.Job{ObjectMeta: own("mine-1-runner")}),
			"widen its Role":            runner.Update(t.Context(), &rbacv1.Role{ObjectMeta: own("mine-runner")}),
			"read its test":             runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mine"}, &v1alpha1.LoadTest{}),
			"create a test":             runner.Create(t.Context(), newTest),
			"list nodes":                runner.List(t.Context(), &corev1.NodeList{}),
			"get a token":               runner.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: own("mine-runner")}, tokenRequest()),
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("to %s: %v; it should be forbidden", what, err)
			}
		}
	})
	t.Run("is in no other pod", func(t *testing.T) {
		var pods corev1.PodList
		l.must(admin.List(t.Context(), &pods, client.InNamespace(l.namespace)))
		if len(pods.Items) < 4 {
			t.Fatalf("only %d pods", len(pods.Items))
		}
		for _, p := range pods.Items {
			if p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken || p.Spec.ServiceAccountName != "" {
				t.Errorf("%s has the token of %s", p.Name, p.Spec.ServiceAccountName)
			}
			for _, v := range p.Spec.Volumes {
				if v.Projected != nil {
					t.Errorf("%s has the projected volume %s", p.Name, v.Name)
				}
			}
		}
	})
}
