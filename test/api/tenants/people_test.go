package tenants

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/api/tenants/tries"
)

const (
	managerNamespace = "linerate-system"
	managerAccount   = "linerate-manager"
	runnerAccount    = "linerate-runner"
)

// lab is a namespace of its own with people of different rights.
//
//	tester    may create LoadTests, and nothing else
//	author    may create pods, too: what most people with the role edit may
//	engineer  has the verb privileged besides
type lab struct {
	t         *testing.T
	namespace string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}
	l.must(admin.Create(t.Context(), namespace))
	l.namespace = namespace.Name
	l.grant("pods", []string{"author", "engineer"}, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create", "get"}})
	l.bind("loadtest-editor-role", "tester", "author", "engineer")
	l.bind("loadtest-privileged-role", "engineer")
	l.awaitThePolicy()
	return l
}

// grant gives people a right in the lab.
func (l *lab) grant(name string, people []string, rules ...rbacv1.PolicyRule) {
	l.t.Helper()
	l.must(admin.Create(l.t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}, Rules: rules}))
	l.bindTo("Role", name, people...)
}

func (l *lab) bind(role string, people ...string) {
	l.t.Helper()
	l.bindTo("ClusterRole", role, people...)
}

func (l *lab) bindTo(kind, role string, people ...string) {
	l.t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
	}
	for _, name := range people {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: name})
	}
	l.must(admin.Create(l.t.Context(), binding))
}

// awaitThePolicy waits until the API server has learnt of the policy and of the people's rights, both by a watch.
func (l *lab) awaitThePolicy() {
	l.t.Helper()
	test := withPod(l.t, "{containers: [{name: c, image: i}]}")
	err := wait.PollUntilContextTimeout(l.t.Context(), 100*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		refused, granted := l.try("tester", test), l.try("engineer", privileged(l))
		return refused != nil && strings.Contains(refused.Error(), "may not create pods") && granted == nil && l.try("author", test) == nil, nil
	})
	if err != nil {
		l.t.Fatalf("the policy isn't in force: tester %v, author %v, engineer %v", l.try("tester", test), l.try("author", test), l.try("engineer", privileged(l)))
	}
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// as is a client with a user's rights.
func as(t *testing.T, who string, groups ...string) client.Client {
	t.Helper()
	config := rest.CopyConfig(adminConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: who, Groups: append(groups, "system:authenticated")}
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asAccount is the cluster as a ServiceAccount sees it.
func asAccount(t *testing.T, namespace, name string) client.Client {
	t.Helper()
	return as(t, "system:serviceaccount:"+namespace+":"+name, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// try creates a LoadTest as a user, or tries to.
func (l *lab) try(who string, test *v1alpha1.LoadTest, options ...client.CreateOption) error {
	l.t.Helper()
	made := test.DeepCopy()
	made.Namespace = l.namespace
	if len(options) == 0 {
		options = []client.CreateOption{client.DryRunAll}
	}
	return as(l.t, who).Create(l.t.Context(), made, options...)
}

// sample reads a LoadTest of config/samples.
func (l *lab) sample(file string) *v1alpha1.LoadTest {
	l.t.Helper()
	text, err := os.ReadFile("../../../config/samples/" + file)
	l.must(err)
	test := &v1alpha1.LoadTest{}
	l.must(yaml.UnmarshalStrict(text, test))
	return test
}

// written reads a LoadTest as a person writes it: the spec alone.
func written(t *testing.T, name, spec string) *v1alpha1.LoadTest {
	t.Helper()
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := yaml.UnmarshalStrict([]byte(spec), &test.Spec); err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	test.Spec.DUT.Type = cmp.Or(test.Spec.DUT.Type, v1alpha1.DUTReference)
	return test
}

const links = tries.Links

// withPod is a test of a pod with this spec, in YAML's flow form.
func withPod(t *testing.T, podSpec string) *v1alpha1.LoadTest {
	t.Helper()
	return withTemplate(t, "{spec: "+podSpec+"}")
}

func withTemplate(t *testing.T, template string) *v1alpha1.LoadTest {
	t.Helper()
	return written(t, "attempt", links+"dut: {type: Pod, pod: {template: "+template+"}}\n")
}

func privileged(l *lab) *v1alpha1.LoadTest {
	return withPod(l.t, "{containers: [{name: c, image: i, securityContext: {privileged: true}}]}")
}
