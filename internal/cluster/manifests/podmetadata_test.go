package manifests_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// podsOf are the metadata of all pods of a test, by name.
func podsOf(t *testing.T, input manifests.Input) map[string]metav1.ObjectMeta {
	t.Helper()
	pods := map[string]metav1.ObjectMeta{}
	for _, o := range everything(t, input) {
		switch o := o.(type) {
		case *corev1.Pod:
			pods[o.Name] = o.ObjectMeta
		case *batchv1.Job:
			pods[o.Name] = o.Spec.Template.ObjectMeta
		}
	}
	return pods
}

func TestEveryPodHasTheInstallationsLabelsAndAnnotations(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		plain := podsOf(t, input)
		input.Settings.Pods = manifests.PodMetadata{Labels: map[string]string{"cost-centre": "4711"},
			Annotations: map[string]string{"sidecar.istio.io/inject": "false"}}
		for name, pod := range podsOf(t, input) {
			if pod.Labels["cost-centre"] != "4711" || pod.Annotations["sidecar.istio.io/inject"] != "false" {
				t.Errorf("%s has the labels %v and annotations %v", name, pod.Labels, pod.Annotations)
			}
			if len(pod.Labels) != len(plain[name].Labels)+1 || len(pod.Annotations) != len(plain[name].Annotations)+1 {
				t.Errorf("%s: %v and %v became %v and %v", name, plain[name].Labels, plain[name].Annotations,
					pod.Labels, pod.Annotations)
			}
		}
	})
}

func TestATestsOwnLabelsAreAboveTheInstallations(t *testing.T) {
	input := sample(t, "loadtest_generator_pod")
	input.Test.Spec.Generator.Pod.Labels = map[string]string{"cost-centre": "lab-7"}
	input.Settings.Pods.Labels = map[string]string{"cost-centre": "4711"}
	for name, pod := range podsOf(t, input) {
		want := "4711"
		if pod.Labels["linerate.dev/role"] == "generator" {
			want = "lab-7"
		}
		if got := pod.Labels["cost-centre"]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Whatever Check would have refused is below what linerate says, too.
func TestNothingOfAnInstallationReplacesWhatIsLinerates(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		plain := podsOf(t, input)
		for name, meta := range plain {
			input.Settings.Pods = manifests.PodMetadata{Labels: replaced(meta.Labels),
				Annotations: replaced(meta.Annotations)}
			labelled := podsOf(t, input)[name]
			for key, value := range meta.Labels {
				if labelled.Labels[key] != value {
					t.Errorf("%s: label %s is %q, was %q", name, key, labelled.Labels[key], value)
				}
			}
			for key, value := range meta.Annotations {
				if labelled.Annotations[key] != value {
					t.Errorf("%s: annotation %s is %q, was %q", name, key, labelled.Annotations[key], value)
				}
			}
		}
	})
}

func replaced(values map[string]string) map[string]string {
	reserved := map[string]string{}
	for key := range values {
		reserved[key] = "other"
	}
	return reserved
}

func TestLabelsThatPodsAreKnownByAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		m       manifests.PodMetadata
		message string
	}{
		"none":          {},
		"a cost centre": {m: manifests.PodMetadata{Labels: map[string]string{"corp.example/cost-centre": "4711"}}},
		"no sidecar": {m: manifests.PodMetadata{Annotations: map[string]string{"sidecar.istio.io/inject": "false",
			"linkerd.io/inject": "disabled"}}},
		"linerate's label": {manifests.PodMetadata{Labels: map[string]string{"linerate.dev/role": "dut"}},
			"label linerate.dev/role: linerate reads it"},
		"linerate's annotation": {manifests.PodMetadata{Annotations: map[string]string{"linerate.dev/links": "x"}},
			"annotation linerate.dev/links: linerate reads it"},
		"below linerate's domain": {manifests.PodMetadata{Labels: map[string]string{"lab.linerate.dev/x": "y"}},
			"linerate reads it"},
		"who manages it": {manifests.PodMetadata{Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"}},
			"linerate reads it"},
		"networks": {manifests.PodMetadata{Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": "other"}},
			"Multus reads it"},
		"a queue": {manifests.PodMetadata{Labels: map[string]string{"kueue.x-k8s.io/queue-name": "q"}},
			"Kueue reads it"},
		"a Job's": {manifests.PodMetadata{Labels: map[string]string{"job-name": "j"}},
			"Job controller reads it"},
		"may be moved": {manifests.PodMetadata{Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "false"}},
			"an autoscaler, which would remove a test's pods, reads it"},
		"a value that is no label": {manifests.PodMetadata{Labels: map[string]string{"team": "data path"}},
			`labels: Invalid value: "data path"`},
		"a key that is none": {manifests.PodMetadata{Annotations: map[string]string{"a b": "c"}},
			`annotations: Invalid value: "a b"`},
		"two, and both are told of": {manifests.PodMetadata{Labels: map[string]string{"job-name": "j",
			"linerate.dev/test": "t"}}, "label job-name: Kubernetes' Job controller reads it on the pods of tests: " +
			"leave it out\nlabel linerate.dev/test"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.m.Check()
			if c.message == "" && err != nil || c.message != "" &&
				(err == nil || !strings.Contains(err.Error(), c.message)) {
				t.Errorf("%v, want %q", err, c.message)
			}
		})
	}
}

// A template that says a user for its pod, such as root, doesn't make linerate's own containers run as that
// one, which the kubelet would refuse.
func TestLineratesContainersRunAsNobodysRoot(t *testing.T) {
	input := sample(t, "loadtest_dut_networks")
	if c := manifests.DUT(input).Spec.InitContainers[0].SecurityContext; c.RunAsUser != nil || c.RunAsGroup != nil ||
		!*c.RunAsNonRoot {
		t.Errorf("where the template says no user: %+v", c)
	}
	input.Compiled.DUT.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(0))}
	if c := manifests.DUT(input).Spec.InitContainers[0].SecurityContext; c.RunAsUser == nil || *c.RunAsUser != 65532 ||
		*c.RunAsGroup != 65532 {
		t.Errorf("where the template says root: %+v", c)
	}
}
