package compile

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// templates read the user's pod templates, and refuse what linerate sets in every pod.
type templates struct {
	*refusals
	spec *v1alpha1.LoadTestSpec
	// namespace is the test's, in which its pods are.
	namespace string
}

// dut reads the template of the pod under test, and the index of the container that forwards. Nil means that the device
// isn't a pod of the user's.
func (ts *templates) dut() (*corev1.PodTemplateSpec, int) {
	pod := ts.spec.DUT.Pod
	if ts.spec.DUT.Type != v1alpha1.DUTPod || pod == nil {
		return nil, 0
	}
	path := specPath().Child("dut", "pod")
	template := ts.read(path.Child("template"), pod.Template)
	if template == nil {
		return nil, 0
	}
	ts.checkAttached(path.Child("template"), template)
	return template, ts.forwarder(path.Child("container"), pod.Container, template.Spec.Containers)
}

// forwarder is the index of the container of this name, and without a name that of the first container.
func (ts *templates) forwarder(path *field.Path, name string, containers []corev1.Container) int {
	if name == "" {
		return 0
	}
	index := slices.IndexFunc(containers, func(container corev1.Container) bool { return container.Name == name })
	if index < 0 {
		var names []string
		for _, container := range containers {
			names = append(names, container.Name)
		}
		ts.refuse(path, name, "no container of the template has this name: use one of "+strings.Join(names, ", "))
	}
	return max(index, 0)
}

// hook reads the template of a setup or teardown pod. Nil means that there is none.
func (ts *templates) hook(name string, spec *v1alpha1.HookSpec) *corev1.PodTemplateSpec {
	if spec == nil {
		return nil
	}
	path := specPath().Child("dut", name, "template")
	if spec.Template == nil && len(spec.Command) == 0 {
		return nil // Compile refuses that everywhere
	}
	if spec.Template == nil {
		ts.refuse(path, noValue, "a cluster runs the pod of a template, and no program that a LoadTest "+
			"names: add a template that does what command does, or measure with linerate run")
		return nil
	}
	template := ts.read(path, spec.Template)
	if template != nil {
		ts.readOwnNetworks(path, template)
	}
	return template
}

// read decodes a pod template, and refuses fields that Kubernetes doesn't know, and those that linerate sets.
func (ts *templates) read(path *field.Path, form v1alpha1.Freeform) *corev1.PodTemplateSpec {
	template := decode[corev1.PodTemplateSpec](ts.refusals, path, form)
	if template != nil {
		ts.checkTemplate(path, template)
	}
	return template
}

func (ts *templates) affinity() *corev1.Affinity {
	pod := ts.spec.Generator.Pod
	if pod == nil || pod.Affinity == nil {
		return nil
	}
	return decode[corev1.Affinity](ts.refusals, specPath().Child("generator", "pod", "affinity"), pod.Affinity)
}
