package compile

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// dutTemplate reads the template of the pod under test, and the index of the container that forwards; nil: the device isn't a pod of the user's.
func (c *compiler) dutTemplate() (*corev1.PodTemplateSpec, int) {
	pod := c.spec.DUT.Pod
	if c.spec.DUT.Type != v1alpha1.DUTPod || pod == nil {
		return nil, 0
	}
	path := specPath().Child("dut", "pod")
	template := c.template(path.Child("template"), pod.Template)
	if template == nil {
		return nil, 0
	}
	c.checkAttached(path.Child("template"), template)
	return template, c.forwarder(path.Child("container"), pod.Container, template.Spec.Containers)
}

// forwarder is the index of the container of this name; without a name, of the first.
func (c *compiler) forwarder(path *field.Path, name string, containers []corev1.Container) int {
	if name == "" {
		return 0
	}
	at := slices.IndexFunc(containers, func(container corev1.Container) bool { return container.Name == name })
	if at < 0 {
		var names []string
		for _, container := range containers {
			names = append(names, container.Name)
		}
		c.refuse(path, name, "no container of the template has this name: use one of "+strings.Join(names, ", "))
	}
	return max(at, 0)
}

// hook reads the template of a setup or teardown pod; nil: there is none.
func (c *compiler) hook(name string, spec *v1alpha1.HookSpec) *corev1.PodTemplateSpec {
	if spec == nil {
		return nil
	}
	path := specPath().Child("dut", name, "template")
	if spec.Template == nil && len(spec.Command) == 0 {
		return nil // Compile refuses that everywhere
	}
	if spec.Template == nil {
		c.refuse(path, field.OmitValueType{}, "a cluster runs the pod of a template, and no program that a LoadTest names: add a template that does what command does, or measure with linerate run")
		return nil
	}
	template := c.template(path, spec.Template)
	if template != nil {
		c.readOwnNetworks(path, template)
	}
	return template
}

// template decodes a pod template, and refuses fields that Kubernetes doesn't know, and those that linerate sets.
func (c *compiler) template(path *field.Path, form v1alpha1.Freeform) *corev1.PodTemplateSpec {
	template := decode[corev1.PodTemplateSpec](c, path, form)
	if template != nil {
		c.checkTemplate(path, template)
	}
	return template
}

func (c *compiler) affinity() *corev1.Affinity {
	pod := c.spec.Generator.Pod
	if pod == nil || pod.Affinity == nil {
		return nil
	}
	return decode[corev1.Affinity](c, specPath().Child("generator", "pod", "affinity"), pod.Affinity)
}
