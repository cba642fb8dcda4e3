package chart

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
)

const keep = "helm.sh/resource-policy"

func TestTheChartIsLinted(t *testing.T) {
	lint := action.NewLint()
	lint.Strict, lint.Namespace = true, releaseNamespace
	result := lint.Run([]string{chartDir}, map[string]any{})
	if result.TotalChartsLinted != 1 || action.HasWarningsOrErrors(result) {
		t.Errorf("%d charts linted: %v %v", result.TotalChartsLinted, result.Errors, result.Messages)
	}
}

// The definition is left out of the golden file: it is generated, long, and compared by itself.
func TestTheDefaultsAreTheGoldenOnes(t *testing.T) {
	var kept []string
	for part := range strings.SplitSeq(render(t, "").manifest, "---\n") {
		if part != "" && !strings.Contains(part, "kind: CustomResourceDefinition") {
			kept = append(kept, part)
		}
	}
	golden(t, "default.yaml", strings.Join(kept, "---\n"))
}

func TestTheDefinitionsAreTheProjects(t *testing.T) {
	for _, plural := range []string{"loadtests", "loadtestsuites"} {
		t.Run(plural, func(t *testing.T) { definitionIsTheProjects(t, plural) })
	}
}

func definitionIsTheProjects(t *testing.T, plural string) {
	t.Helper()
	name := plural + ".linerate.dev"
	want := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(read(t, "config/crd/bases/linerate.dev_"+plural+".yaml")), want); err != nil {
		t.Fatal(err)
	}
	t.Run("it is kept at the end", func(t *testing.T) {
		got := find[*apiextensionsv1.CustomResourceDefinition](t, objects(t, render(t, "").manifest), "", name)
		if got.Annotations[keep] != "keep" {
			t.Errorf("annotations %v", got.Annotations)
		}
		delete(got.Annotations, keep)
		if !cmp.Equal(want, got) {
			t.Error("the chart's isn't config/crd's: run make generate")
		}
	})
	t.Run("it goes with the release where that is wanted", func(t *testing.T) {
		got := find[*apiextensionsv1.CustomResourceDefinition](t, objects(t, render(t, "crds: {keep: false}").manifest), "", name)
		if !cmp.Equal(want, got) {
			t.Error("the chart's isn't config/crd's: run make generate")
		}
	})
	t.Run("it can be left out", func(t *testing.T) {
		r := render(t, "crds: {install: false}")
		if n := count[*apiextensionsv1.CustomResourceDefinition](objects(t, r.manifest)); n != 0 {
			t.Errorf("%d definitions", n)
		}
		if !strings.Contains(r.notes, "crds.install") {
			t.Error("the notes don't say that it is missing")
		}
	})
}

func TestCopiesEqualTheirOriginals(t *testing.T) {
	for copied, original := range map[string]string{
		"charts/linerate/generated/loadtests.yaml": "config/crd/bases/linerate.dev_loadtests.yaml",
		"charts/linerate/generated/role.yaml":      "config/rbac/role.yaml",

		"charts/linerate/generated/admission-policy.yaml": "config/admission/policy.yaml",
	} {
		if read(t, copied) != read(t, original) {
			t.Errorf("%s isn't %s: run make generate", copied, original)
		}
	}
}

// What Pod Security's level restricted asks for, which the namespace of config/ enforces. No user is named: the image's isn't root, and OpenShift gives one of its own.
func TestTheManagerIsRestricted(t *testing.T) {
	for name, all := range map[string][]object{"chart": objects(t, render(t, "").manifest), "kustomize": objects(t, kustomize(t, "config/default"))} {
		t.Run(name, func(t *testing.T) {
			pod := onlyDeployment(t, all).Spec.Template.Spec
			if pod.HostNetwork || pod.HostPID || pod.HostIPC || len(pod.Volumes) > 0 {
				t.Error("the pod takes part in its node, or has volumes")
			}
			s := pod.SecurityContext
			if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser != nil || s.RunAsGroup != nil ||
				s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("pod: %+v", s)
			}
			c := pod.Containers[0].SecurityContext
			if c == nil || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || len(c.Capabilities.Add) > 0 ||
				!cmp.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) || c.Privileged != nil {
				t.Errorf("container: %+v", c)
			}
			if pod.Containers[0].LivenessProbe == nil || pod.Containers[0].ReadinessProbe == nil {
				t.Error("the container isn't probed")
			}
		})
	}
}

func onlyDeployment(t *testing.T, all []object) *appsv1.Deployment {
	t.Helper()
	if n := count[*appsv1.Deployment](all); n != 1 {
		t.Fatalf("%d deployments", n)
	}
	for _, o := range all {
		if d, ok := o.(*appsv1.Deployment); ok {
			return d
		}
	}
	return nil
}
