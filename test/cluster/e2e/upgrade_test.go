//go:build full

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// first is what the first release left in a cluster: TestRecord wrote it.
const first = "testdata/v0.1.0"

// TestUpgrade: what earlier versions left works with this one.
func TestUpgrade(t *testing.T) {
	t.Run("a Report of the first release is read, and rendered", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), filepath.Join(lab.Programs, "linerate"), "report", filepath.Join(first, "report.json")).CombinedOutput()
		measured := readTest(t, "measured")
		if pps, _, _ := strings.Cut(measured.Status.Summary, "  "); err != nil || !strings.Contains(string(out), pps) {
			t.Errorf("%v, want the figure %s of %q in\n%s", err, pps, measured.Status.Summary, out)
		}
	})
	t.Run("LoadTests of the first release that are complete are stored as they are, and left alone", func(t *testing.T) {
		s := begin(t)
		s.operators(0)
		t.Cleanup(func() { s.operators(1) })
		before := []*lineratev1alpha1.LoadTest{s.restore("measured"), s.restore("stopped"), s.restore("invalid")}
		s.restoreReport(before[0])
		s.operators(1)
		s.apply("canary", links, unmeasurable)
		s.complete("canary", time.Minute) // by then the operator has looked at those that were there when it started
		for _, b := range before {
			now := s.get(b.Name)
			if now.ResourceVersion != b.ResourceVersion {
				t.Errorf("%s was changed:\n%s\nbefore:\n%s", b.Name, state(now), state(b))
			}
			s.released(b.Name)
		}
		s.report(before[0])
	})
	t.Run("a Plan of the first release runs, and finds its answer again", func(t *testing.T) {
		s := begin(t)
		s.device(10_000)
		r := s.runPlan(filepath.Join(first, "plan"))
		if r.Ending != report.Completed || !r.Result.Confirmed || r.Verdict.Outcome != report.Passed {
			t.Fatalf("%s %s: %+v", r.Ending, r.Message, r.Result)
		}
		for _, d := range r.Result.Directions {
			s.near(d.From+"→"+d.To, d.Received.PacketsPerSecond, 10_000)
		}
	})
	t.Run("a test that one operator began is finished by the next version's", func(t *testing.T) {
		s := begin(t)
		const next = "e2e-next"
		if err := lab.LoadProject(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		s.apply("between", links, limited, quick)
		s.running("between")
		t.Cleanup(func() {
			if err := lab.Upgrade(context.WithoutCancel(t.Context()), lab.Images.Tag); err != nil {
				t.Error(err)
			}
		})
		if err := lab.Upgrade(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if image := s.operator(t.Context()).Spec.Template.Spec.Containers[0].Image; image != rig.Repository+":"+next {
			t.Errorf("the operator's image is %s", image)
		}
		test := s.complete("between", patience)
		s.answers(test, 10_000)
		if test.Status.Attempt != 1 || test.Status.LostRuns != 0 {
			t.Errorf("attempt %d, %d lost runs: the run didn't go on undisturbed", test.Status.Attempt, test.Status.LostRuns)
		}
	})
}

func readTest(t *testing.T, name string) *lineratev1alpha1.LoadTest {
	t.Helper()
	var test lineratev1alpha1.LoadTest
	readYAML(t, name+".yaml", &test)
	return &test
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(first, file))
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restore creates a LoadTest with its status, which the API server must store as it is.
func (s *scene) restore(name string) *lineratev1alpha1.LoadTest {
	s.Helper()
	test := readTest(s.T, name)
	test.Namespace = s.namespace
	status := test.Status
	if err := lab.Client.Create(s.Context(), test); err != nil {
		s.Fatal(err)
	}
	status.ObservedGeneration = test.Generation // the stored one has seen changes that this one never had
	for i := range status.Conditions {
		status.Conditions[i].ObservedGeneration = test.Generation
	}
	test.Status = status
	if err := lab.Client.Status().Update(s.Context(), test); err != nil {
		s.Fatal(err)
	}
	if now := s.get(name); !equality.Semantic.DeepEqual(now.Status, status) {
		s.Errorf("%s: its status isn't stored as it was", name)
	}
	return s.get(name)
}

func (s *scene) restoreReport(owner *lineratev1alpha1.LoadTest) {
	s.Helper()
	var stored corev1.ConfigMap
	readYAML(s.T, "report-configmap.yaml", &stored)
	stored.Namespace = s.namespace
	stored.Labels[lineratev1alpha1.LabelUID] = string(owner.UID)
	stored.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, lineratev1alpha1.GroupVersion.WithKind(lineratev1alpha1.LoadTestKind))}
	if err := lab.Client.Create(s.Context(), &stored); err != nil {
		s.Fatal(err)
	}
}

// runPlan runs a Plan as its runner would, on a node, with a generator that was started by hand.
func (s *scene) runPlan(dir string) *report.Report {
	s.Helper()
	work, err := os.MkdirTemp(lab.Programs, "plan-") // where the node sees it, too
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(work) })
	p, sites, err := delivery.ReadPlan(os.DirFS(dir))
	if err != nil {
		s.Fatal(err)
	}
	sites.Generators = []plan.Site{{Generator: p.Generators[0].Name, RPC: s.generator("by-hand"), PortOfLink: map[string]int{"west": 0, "east": 1}}}
	s.copyPlan(dir, work, sites)
	for _, name := range []string{"plan-progress", "plan-report"} {
		if err := lab.Client.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}); err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() {
			_ = lab.Client.Delete(context.WithoutCancel(s.Context()), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}})
		})
	}
	_, err = lab.Cluster.Run(s.Context(), "", "exec", "node-1", "--", "env", "POD_NAME=by-hand", "POD_UID=by-hand", filepath.Join(lab.Programs, "linerate"), "runner",
		"--plan", work, "--namespace", s.namespace, "--progress", "plan-progress", "--report", "plan-report", "--kubeconfig", filepath.Join(work, "kubeconfig"),
		"--termination-log", "/dev/null")
	if err != nil {
		s.Fatal(err)
	}
	var stored corev1.ConfigMap
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "plan-report"}, &stored); err != nil {
		s.Fatal(err)
	}
	r, _, err := delivery.DecodeReport(stored.BinaryData, stored.Annotations)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// copyPlan puts a Plan where its runner looks, with other sites, and the way to the API server beside it.
func (s *scene) copyPlan(from, to string, sites plan.Sites) {
	s.Helper()
	text, err := json.Marshal(sites)
	if err != nil {
		s.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(from, delivery.KeyPlan))
	if err != nil {
		s.Fatal(err)
	}
	access, err := os.ReadFile(lab.Kubeconfig)
	if err != nil {
		s.Fatal(err)
	}
	for name, content := range map[string][]byte{delivery.KeyPlan: packed, delivery.KeySites: text, "kubeconfig": access} {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o600); err != nil {
			s.Fatal(err)
		}
	}
}
