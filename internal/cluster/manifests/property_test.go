package manifests_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// finishReference is what a test has whatever it measures, which is the copy of its runner's Report.
func finishReference(input manifests.Input) []manifests.Object {
	envelope := delivery.Envelope{Digest: "sha256:0f", Ending: "Completed", Attempt: 1, Final: true, Runner: "r",
		RunnerUID: "u"}
	return []manifests.Object{manifests.ReportCopy(input.Test, envelope, []byte("packed"))}
}

// everything are all objects of a test, those of one attempt included.
func everything(t *testing.T, input manifests.Input) []manifests.Object {
	t.Helper()
	return append(finishReference(input), ofAttempt(t, input)...)
}

// ofEverySample runs a check on every sample that needs a cluster.
func ofEverySample(t *testing.T, check func(*testing.T, manifests.Input)) {
	t.Helper()
	for _, name := range clusterSamples(t) {
		t.Run(name, func(t *testing.T) { check(t, sample(t, name)) })
	}
}

func TestTheSameInputMakesTheSameObjects(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		first := string(render(t, everything(t, input)))
		for range 5 {
			if string(render(t, everything(t, input))) != first {
				t.Fatal("the objects differ from one time to the next")
			}
		}
	})
}

func TestObjectsShareNothingWithTheirInput(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		input.Settings.PullSecrets = []corev1.LocalObjectReference{{Name: "operator"}}
		input.ExcludedNodes = []string{"node-9"}
		first := string(render(t, everything(t, input)))
		for _, o := range everything(t, input) {
			scribble(reflect.ValueOf(o))
		}
		if string(render(t, everything(t, input))) != first {
			t.Error("who writes to an object, as a client does that was answered, writes to the test")
		}
	})
}

// scribble writes over all strings that are reached through maps, slices and pointers.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("scribbled")
		}
	default:
	}
}

func TestEveryObjectIsTheTests(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		lasting := len(finishReference(input))
		for i, o := range everything(t, input) {
			name := fmt.Sprintf("%T %s", o, o.GetName())
			want := map[string]string{"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelTest: input.Test.Name,
				v1alpha1.LabelUID: string(input.Test.UID)}
			if i >= lasting {
				want[v1alpha1.LabelAttempt] = "1"
			}
			for key, value := range want {
				if o.GetLabels()[key] != value {
					t.Errorf("%s: label %s is %q, want %q", name, key, o.GetLabels()[key], value)
				}
			}
			if o.GetLabels()[v1alpha1.LabelRole] == "" {
				t.Errorf("%s has no role", name)
			}
			owners := o.GetOwnerReferences()
			if manifests.IsOfRun(o) {
				if len(owners) != 0 || o.GetNamespace() != input.Settings.Namespace {
					t.Errorf("%s, of a run, is in namespace %q, and owned by %v", name, o.GetNamespace(), owners)
				}
				continue
			}
			if len(owners) != 1 || owners[0].UID != input.Test.UID || owners[0].Controller == nil ||
				!*owners[0].Controller {
				t.Errorf("%s isn't owned by the test: %v", name, owners)
			}
			if len(owners) == 1 && owners[0].BlockOwnerDeletion != nil {
				t.Errorf("%s blocks its owner's deletion, which takes the right to set finalizers", name)
			}
			if o.GetNamespace() != input.Test.Namespace || o.GetObjectKind().GroupVersionKind().Kind == "" {
				t.Errorf("%s is in namespace %q, and of kind %q", name, o.GetNamespace(),
					o.GetObjectKind().GroupVersionKind().Kind)
			}
		}
	})
}

// TestNamesFit is with the longest name of a test, 64 replicas and a link of 13 characters.
func TestNamesFit(t *testing.T) {
	input := sample(t, "loadtest_per_link")
	input.Test.Name = strings.Repeat("a", 39) + "b"
	input.Test.Spec.Links[0].Name, input.Test.Spec.Links[1].Name = "west-uplink-1", "east-uplink-1"
	input.Test.Spec.Traffic.Directions = nil
	input = withReplicas(t, input, 64, v1alpha1.LayoutPerLink)
	input.Attempt = 100
	changed := input
	changed.Test = input.Test.DeepCopy()
	changed.Test.Name = strings.Repeat("a", 39) + "c"
	names := map[string]bool{}
	for _, o := range append(everything(t, input), everything(t, changed)...) {
		if manifests.IsOfRun(o) {
			continue // TestNamesOfRuns
		}
		name := o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
		if names[name] {
			t.Errorf("%s is there twice", name)
		}
		names[name] = true
		if faults := validation.IsDNS1123Label(o.GetName()); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	if len(names) != 2*(2+128) {
		t.Errorf("%d names", len(names))
	}
	for _, pod := range manifests.Generators(input) {
		for key, value := range pod.Labels {
			if faults := validation.IsValidLabelValue(value); len(faults) > 0 {
				t.Errorf("%s: label %s: %v", pod.Name, key, faults)
			}
		}
	}
}

// Tests of all namespaces meet in the operator's own: names of runs are apart where tests' names, even the
// longest, are the same, and a pod's begins with its Job's.
func TestNamesOfRuns(t *testing.T) {
	const mostKept = 58 // of a Job's name in its pods' (k8s.io/apiserver, names.MaxGeneratedNameLength)
	names := map[string]bool{}
	for _, name := range []string{"a", strings.Repeat("a", 40), strings.Repeat("ab-", 12) + "-abc",
		strings.Repeat("a.", 19) + "bc"} {
		for _, uid := range []types.UID{"one", "another"} {
			for _, attempt := range []int32{1, 12, 2_000_000_000} {
				test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}
				job := manifests.RunnerJobName(test, attempt)
				for _, made := range []string{job, manifests.PlanName(test, attempt), manifests.ProgressName(test,
					attempt), manifests.OriginalName(test, attempt)} {
					if faults := validation.IsDNS1123Subdomain(made); len(faults) > 0 || len(made) > 63 || names[made] {
						t.Errorf("%s, twice: %v, %v", made, names[made], faults)
					}
					names[made] = true
				}
				if len(job)+1 > mostKept || !manifests.IsRunnerOf(job+"-x7k2p", test, attempt) ||
					manifests.IsRunnerOf(job+"-x7k2p", test, attempt+1) {
					t.Errorf("%s takes %d characters", job, len(job))
				}
				likeIts := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: test.Namespace, Name: job + "-x",
					UID: test.UID + "-other"}}
				if name := manifests.RunnerJobName(likeIts, attempt) + "-x7k2p"; manifests.IsRunnerOf(name, test,
					attempt) {
					t.Errorf("%s, which a test that is named like a runner has made, is taken for one of %s", name, job)
				}
			}
		}
	}
}

// What is in the operator's own namespace has no owner, as that is in another; what is in the test's is the test's.
func TestWhatIsWhose(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		for _, o := range everything(t, input) {
			owned := len(o.GetOwnerReferences()) == 1 && o.GetOwnerReferences()[0].UID == input.Test.UID
			isOfOperator := o.GetNamespace() == input.Settings.Namespace
			if owned == isOfOperator || o.GetLabels()[v1alpha1.LabelUID] != string(input.Test.UID) ||
				isOfOperator != (o.GetLabels()[v1alpha1.LabelNamespace] == input.Test.Namespace) {
				t.Errorf("%s in %s: owned %v, labels %v", o.GetName(), o.GetNamespace(), owned, o.GetLabels())
			}
		}
	})
}

// A runner writes into its Report the Plan and the baseline that it read, byte for byte: by that the operator
// knows what the Report was made by.
func TestAReportFollowsTheOrderOfItsRunner(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		var err error
		if input.Baseline, err = delivery.EncodeBaseline(report.Baseline{Kind: "LoadTest", Name: "main",
			Message: "a < b & c"}); err != nil {
			t.Fatal(err)
		}
		var placed *corev1.ConfigMap
		for _, o := range ofAttempt(t, input) {
			if c, ok := o.(*corev1.ConfigMap); ok && c.Name == manifests.PlanName(input.Test, input.Attempt) {
				placed = c
			}
		}
		order, ok := delivery.ReadOrder(placed.Annotations)
		p, _, err := delivery.DecodePlan(placed.BinaryData)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		b, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: placed.BinaryData[delivery.KeyBaseline]}})
		if err != nil {
			t.Fatal(err)
		}
		data, annotations, err := delivery.EncodeReport(&report.Report{Version: report.Version, Plan: p, Baseline: b,
			Ending: report.Failed}, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		written, err := delivery.DecodeOriginal(data, annotations)
		if err != nil || written.Followed != order {
			t.Errorf("it follows %+v, and was told %+v (%v)", written.Followed, order, err)
		}
	})
}

func TestOnlyTheRunnerHasAToken(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		for _, o := range everything(t, input) {
			spec, isRunner := podSpec(o)
			if spec == nil {
				continue
			}
			theUsers := input.Compiled.DUT != nil && o.GetLabels()[v1alpha1.LabelRole] == "dut" &&
				spec.ServiceAccountName != ""
			mounts := spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken
			if mounts != (isRunner || theUsers) {
				t.Errorf("%s: a token is mounted: %v", o.GetName(), mounts)
			}
			if isRunner && (spec.ServiceAccountName != manifests.DefaultRunnerAccount ||
				o.GetNamespace() != input.Settings.Namespace) {
				t.Errorf("the runner is %q of %q", spec.ServiceAccountName, o.GetNamespace())
			}
		}
	})
}

// podSpec is an object's pod, if it has one.
func podSpec(o manifests.Object) (spec *corev1.PodSpec, isRunner bool) {
	switch o := o.(type) {
	case *corev1.Pod:
		return &o.Spec, false
	case *batchv1.Job:
		return &o.Spec.Template.Spec, true
	}
	return nil, false
}

func TestEveryPodEnds(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		for _, o := range everything(t, input) {
			spec, isRunner := podSpec(o)
			if spec == nil {
				continue
			}
			deadline := spec.ActiveDeadlineSeconds
			if isRunner {
				deadline = o.(*batchv1.Job).Spec.ActiveDeadlineSeconds
			}
			if deadline == nil || *deadline <= 0 || spec.RestartPolicy != corev1.RestartPolicyNever {
				t.Errorf("%s: deadline %v, restart %s", o.GetName(), deadline, spec.RestartPolicy)
			}
			if spec.TerminationGracePeriodSeconds == nil || *spec.TerminationGracePeriodSeconds > 30 {
				t.Errorf("%s: grace period %v", o.GetName(), spec.TerminationGracePeriodSeconds)
			}
		}
	})
}

// TestOurContainersAreNotPrivileged looks at those that linerate starts, in its own image or in TRex's.
func TestOurContainersAreNotPrivileged(t *testing.T) {
	allowed := map[string][]corev1.Capability{
		"runner": nil, "copy": nil, "linerate-links": nil,
		"generator": {"BPF", "IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_NICE"},
		"trex":      {"IPC_LOCK", "NET_ADMIN", "NET_RAW"},
		"forwarder": {"NET_ADMIN"}, "linerate-end": {"NET_ADMIN", "NET_RAW"},
	}
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		for _, o := range everything(t, input) {
			spec, _ := podSpec(o)
			if spec == nil {
				continue
			}
			for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
				want, ours := allowed[c.Name]
				if !ours {
					continue
				}
				if c.Name == "generator" && input.Compiled.Plan.Sessions != nil {
					want = allowed["linerate-end"]
				}
				if m := input.Compiled.Plan.DUT.Mode(); c.Name == "forwarder" && m != nil {
					switch {
					case m.XDP != nil:
						want = []corev1.Capability{"BPF", "NET_ADMIN"}
					case m.Userspace != nil:
						want = []corev1.Capability{"NET_ADMIN", "NET_RAW"}
					}
				}
				s := c.SecurityContext
				if s.Privileged != nil || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop,
					[]corev1.Capability{"ALL"}) || !slices.Equal(s.Capabilities.Add, want) {
					t.Errorf("%s/%s: %+v", o.GetName(), c.Name, s)
				}
				if c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
					t.Errorf("%s/%s doesn't tell its last words", o.GetName(), c.Name)
				}
			}
		}
	})
}
