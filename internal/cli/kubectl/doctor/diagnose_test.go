package doctor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the goldens")

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// healthy is a lab that has all.
func healthy() Lab {
	amounts := func(devices string) corev1.ResourceList {
		return corev1.ResourceList{"lab.dev/west": resource.MustParse(devices),
			"hugepages-1Gi": resource.MustParse("8Gi"), "hugepages-2Mi": resource.MustParse("0")}
	}
	return Lab{
		Namespace: "lab", Version: "v0.1.0", Host: "https://lab:6443", Instant: noon(),
		Server: Answer[string]{Value: "v1.36.3"},
		Groups: Answer[[]string]{Value: []string{"v1", "linerate.dev/v1alpha1", "k8s.cni.cncf.io/v1"}},
		Rights: []Right{{Verb: "create", Resource: "loadtests", Purpose: "run", Allowed: true},
			{Verb: "get", Resource: "configmaps", Purpose: "report", Allowed: true}},
		Definition: Answer[*apiextensionsv1.CustomResourceDefinition]{Value: pluginDefinition()},
		OurSchema:  pluginDefinition(),
		Operators: Answer[[]appsv1.Deployment]{Value: []appsv1.Deployment{operatorOf("linerate-system",
			"registry.lab:5000/linerate:v0.1.0", 1)}},
		Leases: map[string]Answer[*coordinationv1.Lease]{"linerate-system": {Value: &coordinationv1.Lease{
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: new("linerate-5d9-x"), RenewTime: &metav1.MicroTime{Time: noon().Add(-5 * time.Second)},
			},
		}}},
		Networks: Answer[[]unstructured.Unstructured]{Value: []unstructured.Unstructured{
			network("west", "lab.dev/west", `{"cniVersion":"1.0.0","type":"sriov"}`),
			network("plain", "", `{"plugins":[{"type":"bridge"},{"type":"tuning"}]}`)}},
		Nodes: Answer[[]corev1.Node]{Value: []corev1.Node{nodeOf("node-1", true, amounts("4")),
			nodeOf("node-2", true, amounts("2"))}},
		Pods: Answer[[]corev1.Pod]{Value: []corev1.Pod{podOf("node-1", corev1.PodRunning, "lab.dev/west", "3"),
			podOf("node-1", corev1.PodSucceeded, "lab.dev/west", "1")}},
		CPUPolicy: map[string]Answer[string]{"node-1": {Value: "static"}, "node-2": {Value: "static"}},
		Home: Answer[*corev1.Namespace]{Value: &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{enforceLabel: "privileged"}},
		}},
		Daemons: Answer[[]appsv1.DaemonSet]{Value: []appsv1.DaemonSet{daemonOf("cilium", 2),
			daemonOf("kube-multus-ds", 2)}},
		Policies: Answer[[]admissionv1.ValidatingAdmissionPolicy]{Value: []admissionv1.ValidatingAdmissionPolicy{
			guard("linerate"), holder("linerate-runners", "linerate-runner"), keeper("pods"), keeper("suites"),
			keeper("kept-reports"),
		}},
		Bindings: Answer[[]admissionv1.ValidatingAdmissionPolicyBinding]{
			Value: []admissionv1.ValidatingAdmissionPolicyBinding{
				binds("linerate"), binds("linerate-runners"), binds("pods"), binds("suites"), binds("kept-reports"),
			},
		},
		Runs: map[types.NamespacedName]Runs{{Namespace: "linerate-system",
			Name: "linerate"}: runsAt("linerate-system")},
	}
}

func operatorOf(namespace, image string, ready int32) appsv1.Deployment {
	d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "linerate"},
		Status: appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: ready}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
	return d
}

// daemonOf is wanted on two nodes.
func daemonOf(name string, ready int32) appsv1.DaemonSet {
	return appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
		Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 2, NumberReady: ready}}
}

func network(name, resource, config string) unstructured.Unstructured {
	n := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": config}}}
	n.SetName(name)
	n.SetNamespace("lab")
	if resource != "" {
		n.SetAnnotations(map[string]string{resourceAnnotation: resource})
	}
	return n
}

func nodeOf(name string, ready bool, resources corev1.ResourceList) corev1.Node {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: resources,
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}}}
}

func podOf(node string, phase corev1.PodPhase, name corev1.ResourceName, amount string) corev1.Pod {
	p := corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	p.Spec.NodeName = node
	requests := corev1.ResourceList{name: resource.MustParse(amount)}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
	return p
}

func guard(name string) admissionv1.ValidatingAdmissionPolicy {
	return policyFor(name, admissionv1.RuleWithOperations{
		Rule: admissionv1.Rule{APIGroups: []string{"linerate.dev"}, Resources: []string{"loadtests", "loadtestsuites"}},
	})
}

// policyFor is a policy with one rule.
func policyFor(
	name string, rule admissionv1.RuleWithOperations, conditions ...admissionv1.MatchCondition,
) admissionv1.ValidatingAdmissionPolicy {
	return admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}},
			},
			MatchConditions: conditions,
		},
	}
}

// holder holds an account's runners to their own documents.
func holder(name, account string) admissionv1.ValidatingAdmissionPolicy {
	return policyFor(name, admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, Resources: []string{"configmaps"}},
	}, admissionv1.MatchCondition{
		Name:       "is-a-runner",
		Expression: "request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':" + account + "'",
	})
}

// keeper is a policy of config/admission that keeps something the operator's.
func keeper(name string) admissionv1.ValidatingAdmissionPolicy {
	text, err := os.ReadFile("../../../../config/admission/" + strings.ReplaceAll(name, "-", "_") + "_policy.yaml")
	if err != nil {
		panic(err)
	}
	var p admissionv1.ValidatingAdmissionPolicy
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		panic(err)
	}
	return p
}

// binds has a policy deny everywhere; the binding has its name.
func binds(policy string) admissionv1.ValidatingAdmissionPolicyBinding {
	return admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
}

// bindsWhere binds the policy of runners in namespaces with a label only.
func (l *Lab) bindsWhere(label, value string) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
	l.Bindings.Value[1].Spec.MatchResources = &admissionv1.MatchResources{NamespaceSelector: selector}
}

// runsAt is all that runs take, in an operator's namespace.
func runsAt(namespace string) Runs {
	account := func(name string, rights ...string) Account {
		a := Account{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
		for _, r := range rights {
			verb, resource, _ := strings.Cut(r, " ")
			a.Rights = append(a.Rights, Right{Verb: verb, Resource: resource, Allowed: true})
		}
		return a
	}
	return Runs{
		Runner: account("linerate-runner", "create configmaps", "update configmaps"),
		Manager: account("linerate", "create jobs", "list jobs", "delete pods", "watch configmaps",
			"create poddisruptionbudgets"),
		Roles: Answer[[]rbacv1.Role]{Value: []rbacv1.Role{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace,
			Name: "linerate-runner"},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"},
				Verbs: []string{"create", "update"}}}}}},
		RoleBindings: Answer[[]rbacv1.RoleBinding]{Value: []rbacv1.RoleBinding{{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "linerate-runner"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "linerate-runner"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "linerate-runner"}}}}},
	}
}

// runs changes what was seen of the operator's runs.
func (l *Lab) runs(change func(*Runs)) {
	for at, r := range l.Runs {
		change(&r)
		l.Runs[at] = r
	}
}

// lacks takes rights away: those that are named, or all.
func (a *Account) lacks(rights ...string) {
	for i := range a.Rights {
		if r := &a.Rights[i]; len(rights) == 0 || slices.Contains(rights, r.Verb+" "+r.Resource) {
			r.Allowed = false
		}
	}
}

// unasked is an account whose rights the person may not ask for.
func (a *Account) unasked() {
	for i := range a.Rights {
		a.Rights[i].Allowed, a.Rights[i].Err = false, forbidden()
	}
}

// lines are findings as short as a golden wants them.
func lines(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%-8s%s: %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&b, "        → %s\n", f.Fix)
		}
	}
	return b.String()
}

func TestAHealthyLab(t *testing.T) {
	findings := Diagnose(healthy())
	for _, f := range findings {
		if f.Level != OK {
			t.Errorf("%+v", f)
		}
	}
	golden(t, "healthy.txt", lines(findings))
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("no"))
}

// A lab in which one thing is missing has one finding that isn't ok, or two where one follows from the other,
// and it names the thing.
func TestOneThingIsMissing(t *testing.T) {
	var text strings.Builder
	for _, c := range []struct {
		name         string
		lab          func(*Lab)
		level        Level
		message      string
		consequences int // findings that follow from it
	}{
		{"no server", func(l *Lab) { l.Server.Err = errors.New("connection refused") }, Fail,
			"API server: https://lab:6443 doesn't answer", 0},
		{"no rights", func(l *Lab) { l.Rights[0].Allowed = false }, Fail,
			"your rights: you may not create loadtests in namespace lab, which run needs", 0},
		{"unknown rights", func(l *Lab) { l.Rights[0].Err = forbidden() }, Unknown, "whether you may create loadtests",
			0},
		{"no definition", func(l *Lab) { l.Groups.Value = l.Groups.Value[2:] }, Fail,
			"LoadTest definition: not installed", 0},
		{"a definition of another version", func(l *Lab) { l.Groups.Value[1] = "linerate.dev/v1" }, Fail,
			"other versions of linerate.dev", 0},
		{"another release's definition", func(l *Lab) {
			l.Definition.Value = pluginDefinition()
			l.Definition.Value.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "x"
		}, Warn, "another release's schema", 0},
		{"a definition that may not be read", func(l *Lab) { l.Definition.Err = forbidden() }, Unknown,
			"whether its schema is this plugin's, you may not see", 0},
		{"no operator", func(l *Lab) { l.Operators.Value = nil }, Fail, "no operator is installed", 0},
		{"an operator that isn't ready", func(l *Lab) { l.Operators.Value[0].Status.ReadyReplicas = 0 }, Fail,
			"linerate-system/linerate has no ready pod", 0},
		{"an operator of another release", func(l *Lab) { l.Version = "v0.2.0" }, Warn,
			"linerate-system/linerate runs v0.1.0, and this plugin is v0.2.0", 0},
		{"two operators", func(l *Lab) {
			l.Operators.Value = append(l.Operators.Value, operatorOf("linerate-system", "linerate:v0.1.0", 1))
		}, Warn, "2 operators are installed", 0},
		{"an operator of some namespaces that wasn't told where ports are kept", func(l *Lab) {
			l.Operators.Value[0].Spec.Template.Spec.Containers[0].Args = []string{"--namespaces=lab"}
		}, Fail, "operator linerate-system/linerate looks after some namespaces only, and doesn't know in which " +
			"namespace all operators keep the Leases of physical ports", 0},
		{"operators that keep ports in two places", func(l *Lab) {
			l.Operators.Value = append(l.Operators.Value, operatorOf("second", "linerate:v0.1.0", 1))
			l.Operators.Value[1].Spec.Template.Spec.Containers[0].Args = []string{"--namespaces=other",
				"--port-leases-namespace=second"}
			l.Leases["second"] = l.Leases["linerate-system"]
			l.Runs[types.NamespacedName{Namespace: "second", Name: "linerate"}] = runsAt("second")
		}, Warn, "fail    physical ports: operators keep the Leases of physical ports in different namespaces " +
			"(linerate-system, second)", 1},
		{"Deployments that may not be read", func(l *Lab) { l.Operators = Answer[[]appsv1.Deployment]{Err: forbidden()} }, Unknown, "operator: the cluster's Deployments can't be read", 1},
		{"a leader that stands still", func(l *Lab) { l.Instant = noon().Add(time.Hour) }, Fail,
			"linerate-5d9-x hasn't renewed its Lease for 1h0m5s", 0},
		{"no leader", func(l *Lab) { l.Leases["linerate-system"].Value.Spec.HolderIdentity = new("") }, Warn,
			"no replica in linerate-system works", 0},
		{"no admission policy", func(l *Lab) { l.Policies.Value = l.Policies.Value[1:] }, Warn,
			"admission policy: none guards LoadTests", 0},
		{"an admission policy without a binding", func(l *Lab) { l.Bindings.Value = l.Bindings.Value[1:] }, Warn,
			"it guards nothing", 0},
		{"bindings of policies that may not be read",
			func(l *Lab) { l.Bindings = Answer[[]admissionv1.ValidatingAdmissionPolicyBinding]{Err: forbidden()} },
			Unknown, "whether linerate is bound can't be read", 1},
		{"no account of runners", func(l *Lab) {
			l.runs(func(r *Runs) {
				r.Runner.Object.Err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"},
					"linerate-runner")
			})
		}, Fail, "runners: ServiceAccount linerate-system/linerate-runner, which all runners have, isn't there", 0},
		{"an account of runners that may not be looked at",
			func(l *Lab) { l.runs(func(r *Runs) { r.Runner.Object.Err = forbidden() }) }, Unknown,
			"whether ServiceAccount linerate-system/linerate-runner, which all runners have, is there can't be read",
			0},
		{"a Role of runners that lacks a verb",
			func(l *Lab) { l.runs(func(r *Runs) { r.Runner.lacks("update configmaps") }) }, Fail,
			"ServiceAccount linerate-system/linerate-runner, which all runners have, may not update configmaps in " +
				"namespace linerate-system (RoleBindings there give it Role linerate-runner): no run's Report is written", 0},
		{"no Role of runners", func(l *Lab) { l.runs(func(r *Runs) { r.Runner.lacks(); r.Roles.Value = nil }) }, Fail,
			"may not create, update configmaps in namespace linerate-system (RoleBindings there give it Role " +
				"linerate-runner, which isn't there)", 0},
		{"no RoleBinding of runners", func(l *Lab) { l.runs(func(r *Runs) { r.Runner.lacks(); r.RoleBindings.Value = nil }) }, Fail, "(no RoleBinding there names it)", 0},
		{"runners that may do nothing, for a reason that may not be looked at", func(l *Lab) {
			l.runs(func(r *Runs) { r.Runner.lacks(); r.RoleBindings = Answer[[]rbacv1.RoleBinding]{Err: forbidden()} })
		}, Fail,
			"may not create, update configmaps in namespace linerate-system: no run's Report", 0},
		{"rights of runners that may not be asked for", func(l *Lab) {
			l.runs(func(r *Runs) {
				r.Runner.unasked()
				r.RoleBindings = Answer[[]rbacv1.RoleBinding]{Err: forbidden()}
			})
		}, Unknown,
			"whether ServiceAccount linerate-system/linerate-runner, which all runners have, may create, update " +
				"configmaps in namespace linerate-system can't be read", 0},
		{"an operator that may not make Jobs",
			func(l *Lab) { l.runs(func(r *Runs) { r.Manager.lacks("create jobs") }) }, Fail,
			"operator's rights: ServiceAccount linerate-system/linerate, which the operator has, may not create jobs " +
				"in namespace linerate-system", 0},
		{"an operator that may not see runners",
			func(l *Lab) { l.runs(func(r *Runs) { r.Manager.lacks("list jobs", "watch configmaps") }) }, Fail,
			"may not list jobs; watch configmaps", 0},
		{"an operator that may not clear up", func(l *Lab) { l.runs(func(r *Runs) { r.Manager.lacks("delete pods") }) },
			Fail, "may not delete pods", 0},
		{"an operator that may not guard runners from drains",
			func(l *Lab) { l.runs(func(r *Runs) { r.Manager.lacks("create poddisruptionbudgets") }) }, Warn,
			"may not create poddisruptionbudgets", 0},
		{"an operator whose rights may not be asked for",
			func(l *Lab) { l.runs(func(r *Runs) { r.Manager.unasked() }) }, Unknown,
			"whether ServiceAccount linerate-system/linerate, which the operator has, may create, list jobs; delete " +
				"pods;", 0},
		{"no policy of runners", func(l *Lab) { l.Policies.Value = slices.Delete(l.Policies.Value, 1, 2) }, Warn,
			"runners' policy: none is there for ServiceAccount linerate-system/linerate-runner: tests run all the " +
				"same, but", 0},
		{"no policy of pods", func(l *Lab) { l.Policies.Value = slices.Delete(l.Policies.Value, 2, 3) }, Warn,
			"the operator's own: no policy that denies keeps tests' pods the operator's to make", 0},
		{"a policy of suites' LoadTests that only warns", func(l *Lab) {
			l.Bindings.Value[3].Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Warn}
		}, Warn, "no policy that denies keeps suites' LoadTests the operator's", 0},
		{"a policy of kept Reports without a binding", func(l *Lab) { l.Bindings.Value = l.Bindings.Value[:4] }, Warn,
			"no policy that denies keeps kept Reports the operator's", 0},
		{"a policy of another account's runners",
			func(l *Lab) { l.Policies.Value[1] = holder("others-runners", "others-linerate-runner") }, Warn,
			"runners' policy: none is there for", 0},
		{"a policy of runners without a binding",
			func(l *Lab) { l.Bindings.Value = slices.Delete(l.Bindings.Value, 1, 2) }, Warn,
			"runners' policy: linerate-runners is there, and bound to nothing", 0},
		{"a policy of runners that only warns", func(l *Lab) {
			l.Bindings.Value[1].Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Warn}
		}, Warn, "its binding linerate-runners has it deny nothing", 0},
		{"a policy of runners elsewhere", func(l *Lab) { l.bindsWhere(corev1.LabelMetadataName, "elsewhere") }, Warn,
			"its binding linerate-runners isn't for namespace linerate-system", 0},
		{"a policy of runners in namespaces with a label that may not be looked at", func(l *Lab) {
			l.bindsWhere("team", "lab")
			l.runs(func(r *Runs) { r.Namespace = Answer[*corev1.Namespace]{Err: forbidden()} })
		}, Unknown, "whether binding linerate-runners of linerate-runners is for namespace linerate-system can't be " +
			"told", 0},
		{"no policies at all, as the chart leaves them out",
			func(l *Lab) { l.Policies.Value, l.Bindings.Value = nil, nil }, Warn, "runners' policy: none is there", 4},
		{"no nodes", func(l *Lab) { l.Nodes.Value = nil }, Fail, "nodes: the cluster has none", 2},
		{"a node that isn't Ready", func(l *Lab) {
			l.Nodes.Value[1] = nodeOf("node-2", false,
				l.Nodes.Value[1].Status.Allocatable)
		}, Warn, "1 can take pods; node-2 isn't Ready", 0},
		{"a node that is cordoned", func(l *Lab) { l.Nodes.Value[1].Spec.Unschedulable = true }, Warn,
			"node-2 is cordoned", 0},
		{"no Multus", func(l *Lab) { l.Groups.Value = l.Groups.Value[:2] }, Fail,
			"Multus: the cluster knows no NetworkAttachmentDefinitions", 0},
		{"no networks", func(l *Lab) { l.Networks.Value = nil }, Warn, "namespace lab has none", 0},
		{"a network that isn't JSON", func(l *Lab) { l.Networks.Value[1] = network("plain", "", "{") }, Fail,
			"network plain: its spec.config can't be read", 0},
		{"no resource", func(l *Lab) { l.Networks.Value[0] = network("west", "lab.dev/wset", `{"type":"sriov"}`) },
			Fail, "network west: sriov, and no node has its resource lab.dev/wset", 0},
		{"no free device", func(l *Lab) {
			l.Pods.Value = append(l.Pods.Value, podOf("node-2", corev1.PodPending, "lab.dev/west", "2"),
				podOf("node-1", corev1.PodRunning, "lab.dev/west", "1"))
		}, Warn, "0 of 4 free on node-1, 0 of 2 free on node-2: a new test waits", 0},
		{"no huge pages", func(l *Lab) {
			for i := range l.Nodes.Value {
				delete(l.Nodes.Value[i].Status.Allocatable, "hugepages-1Gi")
			}
		}, Warn, "huge pages: no node has any", 0},
		{"no static CPU manager", func(l *Lab) { l.CPUPolicy["node-2"] = Answer[string]{Value: "none"} }, Warn,
			"generators get no CPUs of their own on node-2", 0},
		{"a CPU manager that can't be asked for",
			func(l *Lab) { l.CPUPolicy = map[string]Answer[string]{"node-1": {Err: forbidden()}} }, Unknown,
			"CPU manager: of node-1 can't be read", 0},
		{"a port that is held for a test that is gone", func(l *Lab) {
			l.holdWire("gone", nil, apierrors.NewNotFound(schema.GroupResource{Resource: "loadtests"}, "first"))
		}, Warn,
			"port 0000:3b:00.0 of node node-1 is held for LoadTest gone/first, whose namespace the operator in " +
				"linerate-system doesn't look after: it is never given back, and no other test gets it; that test is " +
				"gone, and nothing of it can send", 0},
		{"a port that is held for a test that is complete",
			func(l *Lab) { l.holdWire("gone", loadTest("uid", true), nil) }, Warn,
			"that test is complete, and nothing of it can send", 0},
		{"a port that is held for another's namesake",
			func(l *Lab) { l.holdWire("gone", loadTest("another", false), nil) }, Warn,
			"that test is gone (another one has its name)", 0},
		{"a port on which pods of a test that is gone may send", func(l *Lab) {
			l.holdWire("gone", loadTest("uid", true), nil)
			l.Pods.Value = append(l.Pods.Value, sender("first-1-generator-0", corev1.PodRunning),
				sender("first-1-runner-x", corev1.PodSucceeded))
		}, Warn, "that test is complete, and may still send: gone/first-1-generator-0", 0},
		{"a port that is held for a test that goes on",
			func(l *Lab) { l.holdWire("gone", loadTest("uid", false), nil) }, Warn, "that test isn't complete", 0},
		{"a port of a test that may not be looked at", func(l *Lab) { l.holdWire("gone", nil, forbidden()) }, Warn,
			"whether that test is over can't be read", 0},
		{"a port of a test whose pods may not be looked at", func(l *Lab) {
			l.holdWire("gone", loadTest("uid", true), nil)
			l.Pods.Err = forbidden()
		}, Warn, "when kubectl get pods -n gone -l linerate.dev/test-uid=uid shows none: kubectl delete lease -n " +
			"linerate-system linerate-wire-1", 0},
		{"a port that is held for nobody knows whom", func(l *Lab) { l.holdWire("", nil, nil) }, Warn,
			"Lease linerate-system/linerate-wire-1, which doesn't say for which test", 0},
		{"Leases that may not be read", func(l *Lab) { l.Wires = map[string]Answer[[]Wire]{"linerate-system": {Err: forbidden()}} }, Unknown, "the Leases of namespace linerate-system can't be read", 0},
		{"no namespace", func(l *Lab) {
			l.Home.Err = apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"},
				"lab")
		}, Fail, "namespace lab: doesn't exist", 0},
		{"a restricted namespace", func(l *Lab) { l.Home.Value.Labels[enforceLabel] = "restricted" }, Fail,
			"Pod Security restricted refuses generators", 0},
		{"a CNI that ignores NetworkPolicy", func(l *Lab) { l.Daemons.Value[0].Name = "kube-flannel-ds" }, Warn,
			"flannel ignores it", 0},
		{"a CNI whose agents don't run", func(l *Lab) { l.Daemons.Value[0] = daemonOf("calico-node", 0) }, Warn,
			"Calico would enforce it, and DaemonSet kube-system/calico-node has no ready pod", 0},
		{"a CNI that isn't known", func(l *Lab) { l.Daemons.Value = l.Daemons.Value[1:] }, Unknown,
			"whether the CNI enforces it isn't known", 0},
		{"a CNI without agents", func(l *Lab) { l.Daemons.Value, l.Pods.Value = nil, attached() }, Warn,
			"a plugin alone (bridge, ptp, macvlan) ignores it", 0},
		{"Multus whose agents don't run", func(l *Lab) { l.Daemons.Value[1] = daemonOf("kube-multus-ds", 0) }, Fail,
			"kube-multus-ds is ready on 0 of 2 nodes", 0},
		{"Multus on some nodes", func(l *Lab) { l.Daemons.Value[1] = daemonOf("multus", 1) }, Warn,
			"multus is ready on 1 of 2 nodes", 0},
		{"Multus' kind and nothing else of it", func(l *Lab) { l.Daemons.Value = l.Daemons.Value[:1] }, Warn,
			"nothing is seen of Multus itself", 0},
		{"Kueue without pods", func(l *Lab) { l.kueue(`{frameworks: ["batch/job"]} # "pod"`) }, Warn,
			"doesn't look after plain pods", 0},
		{"Kueue that holds back all that names no queue", func(l *Lab) {
			l.kueue("{frameworks: [pod, batch/job]}\nmanageJobsWithoutQueueName: true")
		}, Warn, "in namespace linerate-system: the runners of LoadTests don't start", 0},
		{"Kueue that passes the namespace over", func(l *Lab) {
			l.kueue(`{frameworks: [pod], podOptions: {namespaceSelector: {matchLabels: {queued: "yes"}}}}`)
		}, Warn, "but not in namespace lab", 0},
		{"Kueue whose configuration isn't YAML", func(l *Lab) { l.kueue("[") }, Unknown,
			"its configuration isn't understood", 0},
		{"Kueue that may not be looked at", func(l *Lab) { l.kueue("{}"); l.Kueue.Err = forbidden() }, Unknown,
			"whether it looks after plain pods can't be read", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := healthy()
			c.lab(&lab)
			var ill []Finding
			for _, f := range Diagnose(lab) {
				if f.Level != OK {
					ill = append(ill, f)
				}
			}
			if len(ill) != 1+c.consequences || ill[0].Level != c.level || !strings.Contains(lines(ill), c.message) ||
				ill[0].Fix == "" {
				t.Errorf("got\n%swant %s, %q and its fix", lines(ill), c.level, c.message)
			}
			fmt.Fprintf(&text, "# %s\n%s", c.name, lines(ill))
		})
	}
	golden(t, "missing.txt", text.String())
}

// held is a port that a Lease keeps for a test in a namespace that the operator doesn't look after.
func (l *Lab) holdWire(namespace string, test *v1alpha1.LoadTest, err error) {
	w := Wire{Lease: types.NamespacedName{Namespace: "linerate-system", Name: "linerate-wire-1"}, Node: "node-1",
		Port: "0000:3b:00.0", UID: "uid", Holder: Answer[*v1alpha1.LoadTest]{test, err}}
	if namespace != "" {
		w.Test = types.NamespacedName{Namespace: namespace, Name: "first"}
	}
	l.Wires = map[string]Answer[[]Wire]{"linerate-system": {Value: []Wire{w}}}
}

func loadTest(uid types.UID, complete bool) *v1alpha1.LoadTest {
	t := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "gone", Name: "first", UID: uid}}
	if complete {
		t.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonMeasured}}
	}
	return t
}

// sender is a pod of the test that holds a port: a generator, or the runner.
func sender(name string, phase corev1.PodPhase) corev1.Pod {
	role := "generator"
	if strings.Contains(name, "runner") {
		role = "runner"
	}
	labels := map[string]string{v1alpha1.LabelUID: "uid", v1alpha1.LabelRole: role}
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "gone", Name: name, Labels: labels},
		Status: corev1.PodStatus{Phase: phase}}
}

// kueue installs it, with these integrations.
func (l *Lab) kueue(integrations string) {
	l.Groups.Value = append(l.Groups.Value, "kueue.x-k8s.io/v1beta1")
	l.Kueue.Value = "integrations: " + integrations
}

// attached is a pod that Multus attached.
func attached() []corev1.Pod {
	return []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "attached",
		Annotations: map[string]string{statusAnnotation: "[]"}}}}
}

func TestKueueWithPods(t *testing.T) {
	lab := healthy()
	lab.kueue(`{frameworks: ["batch/job", "pod"], podOptions: {namespaceSelector: {matchExpressions: [{key: queued, operator: DoesNotExist}]}}}`)
	for want, queues := range map[string]Answer[[]string]{
		"looks after plain pods; queues of namespace lab: day, night":                                                 {Value: []string{"day", "night"}},
		"looks after plain pods; namespace lab has no LocalQueue that the label kueue.x-k8s.io/queue-name could name": {},
		"installed, and looks after plain pods":                                                                       {Err: forbidden()},
	} {
		lab.Queues = queues
		if got := kueue(lab); got[0].Level != OK || !strings.HasSuffix(got[0].Message, want) {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
}

// Where no DaemonSet tells, something else may.
func TestWhatNoDaemonSetTells(t *testing.T) {
	lab := healthy()
	lab.Daemons.Value, lab.Pods.Value, lab.Server.Value = nil, attached(), "v1.36.1+k3s1"
	for _, f := range append(multus(lab), networkPolicy(lab)...) {
		if f.Level != OK {
			t.Errorf("%+v", f)
		}
	}
}

func TestWhoMaySeeNothingIsToldSo(t *testing.T) {
	lab := healthy()
	refused := forbidden()
	lab.Definition.Err, lab.Operators, lab.Networks.Err, lab.Home.Err = refused,
		Answer[[]appsv1.Deployment]{Err: refused}, refused, refused
	lab.Nodes, lab.Pods = Answer[[]corev1.Node]{Err: refused}, Answer[[]corev1.Pod]{Err: refused}
	lab.Daemons, lab.Policies.Err, lab.CPUPolicy = Answer[[]appsv1.DaemonSet]{Err: refused}, refused, nil
	findings := Diagnose(lab)
	if Failed(findings) {
		t.Errorf("what can't be seen is no failure:\n%s", lines(findings))
	}
	golden(t, "unseen.txt", lines(findings))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s", file, got)
	}
}

// TestRunnersThatNameAQueueAreNotHeldBack: Kueue admits their Jobs as their queue's quota lets it.
func TestRunnersThatNameAQueueAreNotHeldBack(t *testing.T) {
	lab := healthy()
	lab.kueue("{frameworks: [pod, batch/job]}\nmanageJobsWithoutQueueName: true")
	if got := kueue(lab); got[0].Level != Warn || !strings.Contains(got[0].Fix, "runners.queueName") {
		t.Errorf("runners without a queue: %+v", got)
	}
	lab.Operators.Value[0].Spec.Template.Spec.Containers[0].Args = []string{"--runner-queue=runners"}
	if got := kueue(lab); got[0].Level != OK {
		t.Errorf("runners with a queue: %+v", got)
	}
}
