package kubectl

import (
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const aTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp-imix}
spec:
  dut: {type: Reference}
  links:
  - {name: west, network: west, lineRate: 1gbps}
  - {name: east, network: east, lineRate: 1gbps}
`

func TestRunPiped(t *testing.T) {
	t.Run("a test is created, followed and printed, with the exit code of one machine", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml")
		run.talk.await(t, "vpp-imix created in namespace "+p.namespace)
		run.talk.await(t, "vpp-imix: waiting for the operator")
		p.saysWaiting("vpp-imix", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west")
		run.talk.await(t, "vpp-imix: waiting (ResourceMissing): no node has lab.dev/west")
		p.saysProgress("vpp-imix", 25)
		run.talk.await(t, "vpp-imix: ramping 5/20: asked 20.00 kpps, sent 19.99 kpps, received 19.98 kpps, lost 0.05 %, about 42s left")
		p.saysMeasured("vpp-imix", passed)
		r := run.ends()
		r.wants(t, 0, "line rate", "vpp-imix: measured: ")
		if strings.Contains(r.talk+r.out, "\x1b") {
			t.Errorf("terminal codes in a pipe:\n%q", r.talk+r.out)
		}
	})
	t.Run("a criterion that failed is 1", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml -o json -q")
		p.saysMeasured("vpp-imix", failed)
		r := run.ends()
		r.wants(t, 1, `"version": "linerate.dev/report.v1alpha1"`, "created")
		if strings.Contains(r.talk, "measured") {
			t.Errorf("quiet says\n%s", r.talk)
		}
	})
	t.Run("a criterion that is undecided is 3, and one that failed beside it 1", func(t *testing.T) {
		p := newPerson(t)
		p.creates("vpp-imix")
		p.creates("vpp-64b")
		p.saysMeasured("vpp-imix", undecided)
		p.types("kubectl linerate watch vpp-imix").wants(t, 3, "Undecided", "")
		p.saysMeasured("vpp-64b", failed)
		p.types("kubectl linerate watch vpp-imix vpp-64b").wants(t, 1, "Undecided", "")
	})
	t.Run("an end without a measurement is 3, with its reason", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml")
		p.saysEnded("vpp-imix", v1alpha1.ReasonDUTFailed, "pod vpp-imix-1-dut ended: out of memory")
		run.ends().wants(t, 3, "", "vpp-imix ended without a Report, as DUTFailed: pod vpp-imix-1-dut ended: out of memory")
	})
	t.Run("a Report that says well of what ended otherwise is 3", func(t *testing.T) {
		p := newPerson(t)
		p.creates("vpp-imix")
		p.saysFault("vpp-imix", v1alpha1.ReasonGeneratorLost, "its node went away")
		p.types("kubectl linerate watch vpp-imix").wants(t, 3, "GeneratorLost: its node went away", "")
	})
	t.Run("a test that is deleted meanwhile is 3", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml")
		run.talk.await(t, "waiting for the operator")
		p.must(admin.Delete(t.Context(), p.test("vpp-imix")))
		run.ends().wants(t, 3, "", "vpp-imix was deleted, and its Report with it")
	})
	t.Run("a signal leaves it running and says how to find back", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml")
		run.talk.await(t, "waiting for the operator")
		p.must(run.cmd.Process.Signal(syscall.SIGTERM))
		run.ends().wants(t, 130, "", "kubectl linerate stop vpp-imix -n "+p.namespace+" ends it")
		if p.test("vpp-imix").Spec.Stop {
			t.Error("it was stopped")
		}
	})
	t.Run("a pipeline's signal deletes it where that was asked for", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml --on-interrupt delete")
		run.talk.await(t, "waiting for the operator")
		p.must(run.cmd.Process.Signal(syscall.SIGTERM))
		run.ends().wants(t, 130, "", "vpp-imix: deleted")
		if err := admin.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "vpp-imix"}, &v1alpha1.LoadTest{}); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
	t.Run("a pipeline's signal stops it, and what was measured is printed", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run := p.starts("kubectl linerate run test.yaml --on-interrupt stop")
		run.talk.await(t, "waiting for the operator")
		p.must(run.cmd.Process.Signal(syscall.SIGTERM))
		run.talk.await(t, "vpp-imix: stopping")
		p.until("stop", func() bool { return p.test("vpp-imix").Spec.Stop })
		p.saysMeasured("vpp-imix", interrupted)
		run.ends().wants(t, 130, "line rate", "ended as Stopped")
	})
}

func TestRunFindsAnExistingTest(t *testing.T) {
	p := newPerson(t)
	p.write("test.yaml", aTest)
	first := p.starts("kubectl linerate run test.yaml")
	first.talk.await(t, "waiting for the operator")
	p.must(first.cmd.Process.Kill())
	_ = first.cmd.Wait()
	t.Run("the same spec is followed", func(t *testing.T) {
		again := p.starts("kubectl linerate run test.yaml")
		again.talk.await(t, "vpp-imix exists in namespace "+p.namespace+" with the same spec: following it")
		p.saysMeasured("vpp-imix", passed)
		again.ends().wants(t, 0, "line rate", "measured")
	})
	t.Run("one that has ended gives its result, and says so", func(t *testing.T) {
		p.types("kubectl linerate run test.yaml").wants(t, 0, "line rate", "this is its result; use metadata.generateName for a new one")
	})
	t.Run("a pipeline can refuse it", func(t *testing.T) {
		p.types("kubectl linerate run --new test.yaml").wants(t, 2, "", "LoadTest vpp-imix exists in namespace "+p.namespace)
	})
	t.Run("another spec is refused, with the field", func(t *testing.T) {
		p.write("other.yaml", aTest+"  traffic: {profile: FixedSize, frameSize: 64}\n")
		p.types("kubectl linerate run other.yaml").wants(t, 2, "", "with another spec.traffic.frameSize: name this one otherwise")
	})
	t.Run("generateName makes a new one each time", func(t *testing.T) {
		p.write("generated.yaml", strings.Replace(aTest, "name: vpp-imix", "generateName: nightly-", 1))
		for range 2 {
			run := p.starts("kubectl linerate run generated.yaml")
			run.talk.await(t, " created in namespace ")
			name, _, _ := strings.Cut(run.talk.String(), " ")
			if !strings.HasPrefix(name, "nightly-") || name == "nightly-local" {
				t.Errorf("it is called %q", name)
			}
			p.saysMeasured(name, passed)
			run.ends().wants(t, 0, "line rate", name+": measured")
		}
	})
}

func TestRunRefusesBeforeAnythingIsCreated(t *testing.T) {
	p := newPerson(t)
	p.write("good.yaml", aTest)
	p.write("bad.yaml", strings.Replace(aTest, "spec:", "spec:\n  colour: red", 1))
	p.write("elsewhere.yaml", strings.Replace(aTest, "{name:", "{namespace: elsewhere, name:", 1))
	for line, want := range map[string]string{
		"kubectl linerate run good.yaml bad.yaml":               "bad.yaml:5: spec.colour",
		"kubectl linerate run no-such.yaml":                     "no-such.yaml: no such file",
		"kubectl linerate run good.yaml -o pdf":                 "--output \"pdf\": there is no such format",
		"kubectl linerate run good.yaml --on-interrupt fly":     "--on-interrupt \"fly\": write ask",
		"kubectl linerate run elsewhere.yaml -n " + p.namespace: "is of namespace elsewhere, and -n says " + p.namespace,
		"kubectl linerate run elsewhere.yaml":                   "there is no namespace elsewhere: kubectl create namespace elsewhere",
		"kubectl linerate run good.yaml --kubeconfig no-such":   "kubeconfig",
		"kubectl linerate run good.yaml --context no-such":      "no-such",
		"kubectl linerate run":                                  "name at least one file with LoadTests",
		"linerate kubectl run good.yaml elsewhere.yaml":         "there is no namespace elsewhere",
	} {
		t.Run(line, func(t *testing.T) { p.types(line).wants(t, 2, "", want) })
	}
	var all v1alpha1.LoadTestList
	p.must(admin.List(t.Context(), &all, client.InNamespace(p.namespace)))
	if len(all.Items) > 0 {
		t.Errorf("%d were created", len(all.Items))
	}
}
