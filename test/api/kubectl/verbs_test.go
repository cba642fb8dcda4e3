package kubectl

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestReport(t *testing.T) {
	p := newPerson(t)
	p.creates("vpp-imix")
	p.creates("young")
	p.creates("broken")
	p.saysMeasured("vpp-imix", passed)
	p.saysRunning("young", 7)
	p.saysEnded("broken", v1alpha1.ReasonSetupFailed, "pod broken-1-setup failed")
	for format, want := range map[string]string{
		"text": "OpenBSD 64b: 152 kpps west→east", "json": `"version": "linerate.dev/report.v1alpha1"`, "markdown": "**OpenBSD 64b**: 152 kpps", "junit": "<testsuites", "html": "<!doctype html>", "viz": `"warmup_mult"`,
	} {
		t.Run(format, func(t *testing.T) {
			r := p.types("kubectl linerate report vpp-imix -o " + format)
			if r.code != 0 || r.talk != "" || !strings.Contains(strings.ToLower(r.out), strings.ToLower(want)) {
				t.Errorf("exit %d, no %q in\n%.600s\n%s", r.code, want, r.out, r.talk)
			}
		})
	}
	t.Run("a test without one says why, and others are still printed", func(t *testing.T) {
		r := p.types("kubectl linerate report vpp-imix young broken")
		r.wants(t, 3, "OpenBSD 64b: 152 kpps west→east", "young has no Report yet (ramping: asked 8.40 Mpps, sent 8.40 Mpps, received 8.40 Mpps, lost 0.00 %): kubectl linerate watch young -n "+p.namespace)
		r.wants(t, 3, "OpenBSD 64b: 152 kpps west→east", "broken ended without a Report, as SetupFailed: pod broken-1-setup failed")
	})
	t.Run("figures that the test doesn't publish count in no format, and each says why", func(t *testing.T) {
		p.creates("faulty")
		p.saysFault("faulty", v1alpha1.ReasonDUTFailed, "pod faulty-1-dut ended: out of memory")
		for _, format := range []string{"text", "json", "markdown", "junit", "html"} {
			r := p.types("kubectl linerate report faulty -o " + format)
			if said := strings.Join(strings.Fields(html.UnescapeString(r.out)), " "); r.code != 0 || !strings.Contains(said, "DUTFailed: pod faulty-1-dut ended: out of memory: what the runner measured doesn't count") {
				t.Errorf("%s: exit %d, it doesn't say why:\n%.1500s\n%s", format, r.code, r.out, r.talk)
			}
			if strings.Contains(r.out, "152.09 k") || strings.Contains(r.out, `"measured": true`) || strings.Contains(r.out, "PacketsPerSecond\" value") {
				t.Errorf("%s has figures:\n%.1500s", format, r.out)
			}
		}
		p.types("kubectl linerate report faulty -o viz").wants(t, 3, "", "nothing is drawn of what was not measured: DUTFailed: pod faulty-1-dut ended")
	})
	t.Run("a name that isn't there", func(t *testing.T) {
		p.types("kubectl linerate report vpp-64b").wants(t, 2, "", "linerate: no LoadTest or LoadTestSuite vpp-64b in namespace "+p.namespace+": kubectl linerate list -A shows all")
	})
	t.Run("a Report that was replaced", func(t *testing.T) {
		p.saysMeasured("young", failed)
		other := &corev1.ConfigMap{}
		p.must(admin.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "young-report"}, other))
		p.keeps("vpp-imix-report", "vpp-imix", func(cm *corev1.ConfigMap) { cm.BinaryData, cm.Annotations = other.BinaryData, other.Annotations })
		p.types("kubectl linerate report vpp-imix").wants(t, 3, "", "holds another report")
	})
	t.Run("a Report that was changed", func(t *testing.T) {
		p.keeps("young-report", "young", func(cm *corev1.ConfigMap) { cm.Annotations["linerate.dev/digest"] = "sha256:00" })
		p.types("kubectl linerate report young").wants(t, 3, "", "it isn't what the runner wrote")
	})
	t.Run("a Report that is gone", func(t *testing.T) {
		p.must(admin.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "young-report"}}))
		p.types("kubectl linerate report young").wants(t, 3, "", "ConfigMap young-report in namespace "+p.namespace+" is gone")
	})
}

func TestList(t *testing.T) {
	p := newPerson(t)
	p.types("kubectl linerate list").wants(t, 0, "", "no LoadTests in namespace "+p.namespace)
	p.creates("vpp-imix")
	p.creates("vpp-64b")
	p.saysRunning("vpp-imix", 42, v1alpha1.PodStatus{Name: "vpp-imix-1-generator-0", Role: v1alpha1.RoleGenerator, Node: "node-2", State: "Ready",
		Links: []v1alpha1.PodLink{{Link: "west", Device: "0000:03:02.1"}}})
	p.saysWaiting("vpp-64b", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west left")
	t.Run("as text", func(t *testing.T) {
		r := p.types("kubectl linerate list")
		r.wants(t, 0, "vpp-64b   Waiting  ResourceMissing  -", "")
		r.wants(t, 0, "no node has lab.dev/west left", "")
		r.wants(t, 0, "node-2  0000:03:02.1  vpp-imix  west  vpp-imix-1-generator-0", "")
	})
	t.Run("of all namespaces", func(t *testing.T) {
		p.types("kubectl linerate list -A").wants(t, 0, p.namespace+"  vpp-imix", "")
	})
	t.Run("as JSON", func(t *testing.T) {
		r := p.types("kubectl linerate list -o json")
		var l struct {
			Version string
			Tests   []struct{ Name, State string }
			Held    []struct{ Node, Device, Test string }
		}
		if err := json.Unmarshal([]byte(r.out), &l); err != nil || len(l.Tests) != 2 || l.Tests[0].State != "Running" || len(l.Held) != 1 || l.Held[0].Test != "vpp-imix" {
			t.Errorf("%v: %+v", err, l)
		}
	})
	t.Run("a format that isn't there", func(t *testing.T) {
		p.types("kubectl linerate list -o yaml").wants(t, 2, "", "use one of text, json")
	})
}

func TestStop(t *testing.T) {
	p := newPerson(t)
	p.creates("vpp-imix")
	p.creates("old")
	p.saysMeasured("old", passed)
	p.types("kubectl linerate stop vpp-imix old").wants(t, 0, "", "vpp-imix: stopping\nold has ended already, as Measured")
	if !p.test("vpp-imix").Spec.Stop || p.test("old").Spec.Stop {
		t.Error("not those that still went on were stopped")
	}
	stop := p.starts("kubectl linerate stop vpp-imix --wait")
	stop.talk.await(t, "waiting for the operator")
	p.saysMeasured("vpp-imix", interrupted)
	stop.ends().wants(t, 130, "OpenBSD 64b: 152 kpps west→east", "ended as Stopped")
	p.types("kubectl linerate stop nobody").wants(t, 2, "", "no LoadTest or LoadTestSuite nobody in namespace")
}

func TestRights(t *testing.T) {
	p := newPerson(t)
	p.creates("vpp-imix")
	p.write("test.yaml", aTest)
	p.become("eve")
	t.Run("a user without rights learns whom to ask", func(t *testing.T) {
		p.types("kubectl linerate list").wants(t, 3, "", "you may not list LoadTests in namespace "+p.namespace+": ask its admin for the role edit")
		p.types("kubectl linerate run test.yaml").wants(t, 3, "", "you may not create LoadTests")
		p.types("kubectl linerate watch vpp-imix").wants(t, 3, "", "you may not get LoadTests")
		p.types("kubectl linerate stop vpp-imix").wants(t, 3, "", "you may not get LoadTests")
	})
	t.Run("who may only look sees the status' progress, and no Report", func(t *testing.T) {
		p.must(admin.Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "look", Namespace: p.namespace},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{"linerate.dev"}, Resources: []string{"loadtests"}, Verbs: []string{"get", "list", "watch"}}}}))
		p.must(admin.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "look", Namespace: p.namespace},
			RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "look"}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: "eve"}}}))
		p.until("the right to look", func() bool { return p.types("kubectl linerate list").code == 0 })
		p.saysRunning("vpp-imix", 10)
		watch := p.starts("kubectl linerate watch vpp-imix")
		watch.talk.await(t, "vpp-imix: ramping: asked 8.40 Mpps")
		p.saysMeasured("vpp-imix", passed)
		watch.ends().wants(t, 3, "", "you may not read ConfigMap vpp-imix-report")
		p.types("kubectl linerate stop vpp-imix").wants(t, 0, "", "ended already")
		r := p.types("kubectl linerate doctor")
		r.wants(t, 1, "fail    your rights: you may not create loadtests in namespace "+p.namespace, "")
		r.wants(t, 1, "unknown nodes: nodes can't be read", "")
	})
}

func TestCompletion(t *testing.T) {
	p := newPerson(t)
	p.creates("vpp-imix")
	p.creates("vpp-64b")
	p.saysRunning("vpp-imix", 10)
	for line, want := range map[string]string{
		"kubectl_complete-linerate watch vpp":            "vpp-64b\tNew\nvpp-imix\tRunning\n",
		"kubectl_complete-linerate stop vpp-imix vpp":    "vpp-64b\tNew\n",
		"linerate __complete kubectl report vpp":         "vpp-64b\tNew\nvpp-imix\tRunning\n",
		"kubectl_complete-linerate report vpp-imix -o j": "json\n",
		"kubectl_complete-linerate doc":                  "doctor\t",
		"kubectl_complete-linerate list -n lab-":         p.namespace + "\n",
		"kubectl_complete-linerate run --on-interrupt d": "delete\n",
	} {
		t.Run(line, func(t *testing.T) {
			if r := p.types(line); r.code != 0 || !strings.Contains(r.out, want) {
				t.Errorf("exit %d, no %q in\n%s%s", r.code, want, r.out, r.talk)
			}
		})
	}
	t.Run("what takes no names is offered no files", func(t *testing.T) {
		for _, line := range []string{"kubectl_complete-linerate list ", "kubectl_complete-linerate doctor "} {
			if r := p.types(line + "''"); r.code != 0 || !strings.Contains(r.out, ":4\n") {
				t.Errorf("%s: exit %d\n%s", line, r.code, r.out)
			}
		}
	})
	t.Run("a cluster that is away completes nothing, soon", func(t *testing.T) {
		p.writeConfig(environment.KubeConfig, "https://127.0.0.1:1")
		if r := p.types("kubectl_complete-linerate watch v"); r.code != 0 || strings.Contains(r.out, "vpp") {
			t.Errorf("exit %d\n%s", r.code, r.out)
		}
	})
}

func TestHelpBeginsWithAnExample(t *testing.T) {
	p := newPerson(t)
	for _, verb := range []string{"run", "gate", "watch", "report", "compare", "trend", "list", "stop", "doctor"} {
		r := p.types("kubectl linerate " + verb + " --help")
		r.wants(t, 0, "  kubectl linerate "+verb, "")
		r.wants(t, 0, "Exit codes: 0", "")
	}
	p.types("kubectl linerate").wants(t, 0, "kubectl linerate doctor -n lab", "")
	p.types("kubectl linerate --version").wants(t, 0, "linerate ", "")
	p.types("kubectl linerate flounder").wants(t, 2, "", `unknown command "flounder" for "kubectl linerate"`)
	p.types("linerate kubectl list --help").wants(t, 0, "linerate kubectl list", "")
}

// A missing argument is named, with where to find it.
func TestArgumentsThatAreMissing(t *testing.T) {
	p := newPerson(t)
	for line, want := range map[string]string{
		"kubectl linerate run":          "kubectl linerate run: name at least one file with LoadTests or LoadTestSuites, or - for stdin",
		"kubectl linerate watch":        "kubectl linerate watch: name at least one LoadTest or LoadTestSuite of the namespace: kubectl linerate list shows them",
		"kubectl linerate report":       "name at least one LoadTest",
		"kubectl linerate stop":         "name at least one LoadTest",
		"kubectl linerate list vpp":     "takes no names, and \"vpp\" is one: kubectl linerate watch NAME follows a test",
		"kubectl linerate doctor a":     "it looks at the whole namespace (-n)",
		"kubectl linerate watch nosuch": "no LoadTest or LoadTestSuite nosuch in namespace " + p.namespace + ": kubectl linerate list -A shows all",
		"kubectl linerate run nosuch":   "nosuch: no such file",
	} {
		p.types(line).wants(t, 2, "", want)
	}
	p.writeConfig(environment.KubeConfig, "https://127.0.0.1:1")
	r := p.types("kubectl linerate list")
	r.wants(t, 3, "", "can't be reached: Get")
	if strings.Contains(r.talk, "server groups") {
		t.Errorf("it tells of what a library wanted: %s", r.talk)
	}
}
