package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomize is what "kubectl kustomize" prints for a folder of the project.
func kustomize(t *testing.T, folder string) string {
	t.Helper()
	result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), root+folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := result.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKustomize(t *testing.T) {
	t.Run("the namespace holds the manager to the level it needs", func(t *testing.T) {
		namespace := find[*corev1.Namespace](t, objects(t, kustomize(t, "config/default")), "", releaseNamespace)
		if got := namespace.Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
			t.Errorf("enforces %q", got)
		}
	})
	t.Run("the pods of tests run the manager's image", func(t *testing.T) {
		c := onlyDeployment(t, objects(t, kustomize(t, "config/default"))).Spec.Template.Spec.Containers[0]
		if c.Env[0].Name != "LINERATE_IMAGE" || c.Env[0].Value != c.Image || c.Image == "controller:latest" {
			t.Errorf("image %s, environment %v", c.Image, c.Env)
		}
	})
	t.Run("the memory is the chart's", func(t *testing.T) {
		k := onlyDeployment(t, objects(t, kustomize(t, "config/default"))).Spec.Template.Spec.Containers[0]
		h := onlyDeployment(t, objects(t, render(t, "").manifest)).Spec.Template.Spec.Containers[0]
		if !cmp.Equal(k.Resources, h.Resources) || !cmp.Equal(k.Env[1], h.Env[1]) || k.Env[1].Name != "GOMEMLIMIT" {
			t.Errorf("kustomize has %v, %v, the chart %v, %v", k.Resources, k.Env, h.Resources, h.Env)
		}
	})
	t.Run("the image is the chart's", func(t *testing.T) {
		k := onlyDeployment(t, objects(t, kustomize(t, "config/default"))).Spec.Template.Spec.Containers[0]
		h := onlyDeployment(t, objects(t, render(t, "").manifest)).Spec.Template.Spec.Containers[0]
		if k.Image != h.Image {
			t.Errorf("kustomize has %s, the chart %s", k.Image, h.Image)
		}
	})
	t.Run("the Service leads to the manager", func(t *testing.T) {
		for way, all := range everyWay(t) {
			d := onlyDeployment(t, all)
			for _, o := range all {
				if s, ok := o.(*corev1.Service); ok && !subset(s.Spec.Selector, d.Spec.Template.Labels) {
					t.Errorf("%s: %v doesn't select %v", way, s.Spec.Selector, d.Spec.Template.Labels)
				}
			}
			if count[*corev1.Service](all) != 1 || !subset(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
				t.Errorf("%s: %d services", way, count[*corev1.Service](all))
			}
		}
	})
	for _, folder := range []string{"config/network-policy", "config/prometheus"} {
		t.Run(folder+" builds", func(t *testing.T) {
			if kustomize(t, folder) == "" {
				t.Error("it is empty")
			}
		})
	}
}

func subset(small, large map[string]string) bool {
	for key, value := range small {
		if large[key] != value {
			return false
		}
	}
	return len(small) > 0
}
