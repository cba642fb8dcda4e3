package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// dutTemplate reads the pod under test; nil where the device is something else. The index is of the container that forwards.
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

// forwarder finds the container by its name; the first has none to be found by.
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

// hook reads a pod that runs to its end; nil where there is none.
func (c *compiler) hook(name string, spec *v1alpha1.HookSpec) *corev1.PodTemplateSpec {
	if spec == nil {
		return nil
	}
	return c.template(specPath().Child("dut", name, "template"), spec.Template)
}

// template reads a pod in Kubernetes' form, and refuses what isn't in it and what is linerate's own to say.
func (c *compiler) template(path *field.Path, raw runtime.RawExtension) *corev1.PodTemplateSpec {
	template := &corev1.PodTemplateSpec{}
	if !c.decode(path, raw, template) {
		return nil
	}
	c.checkTemplate(path, template)
	return template
}

func (c *compiler) affinity() *corev1.Affinity {
	pod := c.spec.Generator.Pod
	if pod == nil || pod.Affinity == nil {
		return nil
	}
	affinity := &corev1.Affinity{}
	if !c.decode(specPath().Child("generator", "pod", "affinity"), *pod.Affinity, affinity) {
		return nil
	}
	return affinity
}

// decode reads a part in Kubernetes' form strictly: a field that Kubernetes doesn't know would be dropped without a word.
func (c *compiler) decode(path *field.Path, raw runtime.RawExtension, into any) bool {
	unknown, err := kjson.UnmarshalStrict(raw.Raw, into)
	if err != nil {
		c.errs = append(c.errs, misread(path, err))
		return false
	}
	for _, err := range unknown {
		c.errs = append(c.errs, unknownField(path, err))
	}
	return len(unknown) == 0
}

// unknownField says where Kubernetes has no such field.
func unknownField(path *field.Path, err error) *field.Error {
	if at, ok := errors.AsType[kjson.FieldError](err); ok {
		path = below(path, at.FieldPath())
	}
	if strings.HasPrefix(err.Error(), "duplicate") {
		return field.Invalid(path, field.OmitValueType{}, "is there twice: remove one")
	}
	return field.Invalid(path, field.OmitValueType{}, "Kubernetes knows no such field here: see its spelling and its place (kubectl explain pod.spec)")
}

// misread says which field holds something of the wrong kind.
func misread(path *field.Path, err error) *field.Error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return field.Invalid(below(path, wrong.Field), field.OmitValueType{}, fmt.Sprintf("a %s stands where Kubernetes wants %s", wrong.Value, kindOf(wrong)))
	}
	return field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("Kubernetes can't read it: %s", err))
}

func kindOf(wrong *json.UnmarshalTypeError) string {
	switch kind := wrong.Type.Kind().String(); {
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map", kind == "ptr":
		return "a mapping"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	default:
		return "a " + kind
	}
}

// below is a path under another, as decoders write it.
func below(path *field.Path, rest string) *field.Path {
	if rest == "" {
		return path
	}
	return path.Child(rest)
}
