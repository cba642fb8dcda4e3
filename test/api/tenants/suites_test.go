package tenants

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
	"github.com/linerate-dev/linerate/test/api/tenants/tries"
)

// suiteOf reads a suite as a person writes it: its spec alone.
func suiteOf(t *testing.T, spec string) *v1alpha1.LoadTestSuite {
	t.Helper()
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: "attempt"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &s.Spec); err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	return s
}

// inTemplate is a suite whose template has this spec.
func inTemplate(t *testing.T, spec string) *v1alpha1.LoadTestSuite {
	t.Helper()
	return suiteOf(t, "template: {spec: "+flow(t, "dut: {type: Reference}\n", links+spec)+"}\n")
}

// inPatch is a suite in which one of many patches has this spec: the last value's of the last axis.
func inPatch(t *testing.T, spec string) *v1alpha1.LoadTestSuite {
	t.Helper()
	return suiteOf(t, "template: {spec: "+flow(t, links+"dut: {type: Reference}\n")+"}\naxes:\n"+
		"- {name: a, values: [{name: x}, {name: y, patch: {traffic: {profile: IMIX}}}]}\n- {name: b, values: [{name: x}]}\n- {name: c, values: [{name: x}]}\n"+
		"- {name: d, values: [{name: x, patch: {dut: null, generator: null, links: null}}, {name: y, patch: "+flow(t, spec)+"}]}\n")
}

// flow is YAML as JSON; of mappings with the same key the later one counts.
func flow(t *testing.T, parts ...string) string {
	t.Helper()
	all := map[string]any{}
	for _, text := range parts {
		part := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &part); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for k, v := range part {
			all[k] = v
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// everywhere are the places of a suite where something of a LoadTest's spec may stand.
func everywhere() map[string]func(*testing.T, string) *v1alpha1.LoadTestSuite {
	return map[string]func(*testing.T, string) *v1alpha1.LoadTestSuite{"the template": inTemplate, "a patch": inPatch}
}

// trySuite creates a suite as a user, or tries to.
func (l *lab) trySuite(who string, s *v1alpha1.LoadTestSuite, options ...client.CreateOption) error {
	l.t.Helper()
	made := s.DeepCopy()
	made.Namespace = l.namespace
	if len(options) == 0 {
		options = []client.CreateOption{client.DryRunAll}
	}
	return as(l.t, who).Create(l.t.Context(), made, options...)
}

// The manager makes the LoadTests of a suite, and may do more than the suite's author: so the author is held to the same as if the LoadTests were theirs.
func TestASuiteAsksForNoMoreThanItsAuthorHas(t *testing.T) {
	l := newLab(t)
	for place, in := range everywhere() {
		for _, part := range []string{"type: Pod, pod", "type: Reference, setup", "type: Reference, teardown"} {
			for _, try := range tries.BeyondAPlainPod() {
				s := in(t, "dut: {"+part+": {template: {spec: "+try.Spec+"}}}")
				t.Log(place, part, try.Name)
				refused(t, l.trySuite("author", s), try.Refusal, "more than a plain pod has")
				refused(t, l.trySuite("tester", s), "these become pods, and tester may not create pods in namespace "+l.namespace)
				allowed(t, l.trySuite("engineer", s))
			}
		}
	}
}

func TestWhichSuitesNeedTheRightToCreatePods(t *testing.T) {
	l := newLab(t)
	for place, in := range everywhere() {
		for _, try := range tries.NeedingPods() {
			t.Run(try.Name+" in "+place, func(t *testing.T) {
				refused(t, l.trySuite("tester", in(t, try.Spec)), try.Refusal+": these become pods")
				allowed(t, l.trySuite("author", in(t, try.Spec)))
			})
		}
		t.Run("none of it in "+place, func(t *testing.T) {
			allowed(t, l.trySuite("tester", in(t, "traffic: {profile: FixedSize, frameSize: 64}")))
		})
	}
}

// What is harmless in the template and in each patch is in what they make together: these are the ways in which it could fail to be.
func TestPartsThatExceedTheBoundTogether(t *testing.T) {
	l := newLab(t)
	const (
		template = "template: {spec: {dut: {type: Pod, pod: {template: {spec: {containers: [{name: c, image: i}]%s}}}}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}}\n"
		patch    = "axes: [{name: a, values: [{name: x, patch: {dut: {pod: {template: {spec: %s}}}}}]}]\n"
	)
	l.allowUse("author", "mine")
	l.await("the right to use an account", func() bool {
		return l.trySuite("author", suiteOf(t, fmt.Sprintf(template, ", serviceAccountName: mine"))) == nil
	})
	for what, c := range map[string]struct{ template, patch, says string }{
		"a patch of a single field":                           {"", "{hostNetwork: true}", "hostNetwork"},
		"an account that shows when another is removed":       {", serviceAccountName: mine, serviceAccount: deployer", "{serviceAccountName: null}", "deployer"},
		"an account beside one that hides it":                 {", serviceAccountName: mine", "{serviceAccount: deployer}", "deployer"},
		"half of a security context":                          {", securityContext: {seccompProfile: {localhostProfile: p}}", "{securityContext: {seccompProfile: {type: Unconfined}}}", "seccompProfile"},
		"containers in place of others":                       {"", "{containers: [{name: d, image: i, securityContext: {privileged: true}}]}", "securityContext.privileged"},
		"containers in place of none":                         {"", "{containers: null, initContainers: [{name: d, image: i, securityContext: {privileged: true}}]}", "securityContext.privileged"},
		"a volume besides a list that is removed":             {", volumes: [{name: v, emptyDir: {}}]", "{volumes: [{name: v, hostPath: {path: /}}]}", "a hostPath volume"},
		"a text where a list belongs, which can't be checked": {"", "{containers: everything}", ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := suiteOf(t, fmt.Sprintf(template, c.template)+fmt.Sprintf(patch, c.patch))
			refused(t, l.trySuite("author", s), c.says)
		})
	}
	t.Run("what a patch removes isn't asked for by it", func(t *testing.T) {
		allowed(t, l.trySuite("tester", suiteOf(t, "template: {spec: "+flow(t, links+"dut: {type: Reference}")+"}\naxes: [{name: a, values: [{name: x, patch: {generator: {pod: null, trex: null}, dut: {pod: null, setup: null}}}]}]\n")))
		allowed(t, l.trySuite("author", suiteOf(t, fmt.Sprintf(template, "")+fmt.Sprintf(patch, "{volumes: null, initContainers: null, securityContext: null, serviceAccountName: null}"))))
	})
}

func TestServiceAccountsOfASuite(t *testing.T) {
	l := newLab(t)
	l.allowUse("author", "one", "two", "three", "four")
	suite := func(accounts ...string) *v1alpha1.LoadTestSuite {
		values := ""
		for i, name := range accounts {
			values += fmt.Sprintf("{name: v%d, patch: {dut: {type: Pod, pod: {template: {spec: {serviceAccountName: %s, containers: [{name: c, image: i}]}}}}}}, ", i, name)
		}
		return suiteOf(t, "template: {spec: "+flow(t, links+"dut: {type: Reference}")+"}\naxes: [{name: a, values: ["+strings.TrimSuffix(values, ", ")+"]}]\n")
	}
	l.await("the right to use them", func() bool { return l.trySuite("author", suite("one", "two", "three")) == nil })
	allowed(t, l.trySuite("author", suite("one", "two", "one", "three", "two", "three")))
	refused(t, l.trySuite("author", suite("one", "two", "deployer")), "deployer", "the verb use")
	refused(t, l.trySuite("author", suite("one", "one", "deployer", "two")), "deployer")
	refused(t, l.trySuite("author", suite("one", "two", "three", "four")), "a suite may name three")
	allowed(t, l.trySuite("engineer", suite("one", "two", "three", "four", "deployer")))
}

func TestNetworksOfASuite(t *testing.T) {
	l := newLab(t)
	for place, in := range everywhere() {
		for _, who := range []string{"tester", "engineer"} {
			refused(t, l.trySuite(who, in(t, "links: [{name: west, network: other/west}, {name: east, network: east}]")), "network other/west is in another namespace")
			refused(t, l.trySuite(who, in(t, "links: [{name: west, network: west}, {name: east, network: east, dut: {network: other/east}}]")), "network other/east is in another namespace")
		}
		t.Log(place)
		allowed(t, l.trySuite("tester", in(t, "links: [{name: west, network: default/west}, {name: east, network: "+l.namespace+"/east}]")))
	}
	calibrated := func(network string) *v1alpha1.LoadTestSuite {
		s := inTemplate(t, "")
		s.Spec.Calibration = &v1alpha1.CalibrationSpec{Network: v1alpha1.NetworkName(network)}
		return s
	}
	for _, who := range []string{"tester", "engineer"} {
		refused(t, l.trySuite(who, calibrated("other/wire")), "network other/wire is in another namespace")
	}
	for _, network := range []string{"", "wire", "default/wire", l.namespace + "/wire"} {
		allowed(t, l.trySuite("tester", calibrated(network)))
	}
}

func TestASuiteTakesTheRightToCreateLoadTests(t *testing.T) {
	l := newLab(t)
	l.grant("suites", []string{"planner"}, rbacv1.PolicyRule{APIGroups: []string{v1alpha1.Group}, Resources: []string{"loadtestsuites"}, Verbs: []string{"create"}})
	s := inTemplate(t, "")
	l.await("the right to create suites", func() bool {
		err := l.trySuite("planner", s)
		return err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
	})
	refused(t, l.trySuite("planner", s), "of a LoadTestSuite LoadTests are made, and planner may not create those in namespace "+l.namespace)
}

// A suite of a thousand values is judged, and what hides in the last of them is found.
func TestHugeSuites(t *testing.T) {
	l := newLab(t)
	huge := func(last string) *v1alpha1.LoadTestSuite {
		var b strings.Builder
		b.WriteString("template: {spec: " + flow(t, links+"dut: {type: Reference}") + "}\nexclusions: []\naxes:\n")
		fmt.Fprintf(&b, "- name: a\n  values:\n")
		for i := range 256 {
			patch := "{traffic: {profile: FixedSize, frameSize: 64}}"
			if i%8 == 0 {
				patch = "{dut: {type: Pod, pod: {template: {spec: {containers: [{name: c, image: i, securityContext: {capabilities: {add: [KILL]}}}], volumes: [{name: v, emptyDir: {}}]}}}}}"
			}
			if i == 255 {
				patch = cmp.Or(last, patch)
			}
			fmt.Fprintf(&b, "  - {name: v%d, patch: %s}\n", i, patch)
		}
		return suiteOf(t, b.String())
	}
	allowed(t, l.trySuite("author", huge("")))
	refused(t, l.trySuite("author", huge("{dut: {pod: {template: {spec: {hostPID: true}}}}}")), "hostPID")
	refused(t, l.trySuite("author", huge("{generator: {pod: {annotations: {v1.multus-cni.io/default-network: a/b}}}}")), "default-network")
}

// The manager makes what the author was allowed; to stop another user's suite needs no more rights than the stop itself.
func TestTheManagerMakesWhatTheAuthorMay(t *testing.T) {
	l := newLab(t)
	r, err := loadtestsuite.NewReconciler(asAccount(t, managerNamespace, managerAccount), events.NewFakeRecorder(100), loadtestsuite.Options{Namespace: managerNamespace, Bounds: bounds(t)})
	l.must(err)
	s := inTemplate(t, "dut: {type: Pod, pod: {template: {spec: {serviceAccountName: deployer, containers: [{name: c, image: i, securityContext: {privileged: true}}]}}}}")
	s.Name, s.Namespace, s.Spec.Parallelism, s.Spec.Repetitions = "second", l.namespace, 2, 2
	l.must(as(t, "engineer").Create(t.Context(), s))
	for range 4 {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
	}
	var tests v1alpha1.LoadTestList
	l.must(admin.List(t.Context(), &tests, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelSuite: "second"}))
	if len(tests.Items) != 2 {
		l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(s), s))
		t.Errorf("%d LoadTests were made; %+v", len(tests.Items), s.Status.Conditions)
	}
	t.Run("and a tester may stop it", func(t *testing.T) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
		allowed(t, as(t, "tester").Patch(t.Context(), s, patch))
	})
}
