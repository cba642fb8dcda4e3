package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Freeform is a mapping whose form somebody else describes: it is stored as it stands.
//
// It is a map to values of any type, and no object without fields, for the sake of the rule that a spec can't be changed. Where no schema
// names an object's fields, == of the API server's CEL compares the values of those that both sides have, and for the rest their number:
// {cpu: 1} "equals" {memory: 1}. A map's entries are compared one by one, and each as a whole.
//
// +kubebuilder:validation:MaxProperties=64
type Freeform map[string]apiextensionsv1.JSON

// Raw is the mapping as JSON, its keys sorted.
func (f Freeform) Raw() ([]byte, error) { return json.Marshal(f) }

// MostFreeform is how many bytes all that a LoadTest has in a form of somebody else's may take together: its templates, the generators' affinity, TRex's settings, and
// the labels, annotations and the like of generator.pod, of which the schema bounds the number alone. The operator keeps each LoadTest in memory, and an object may have 1.5 MiB. A suite may have as much again in its template and patches.
const (
	MostFreeform      = 256 << 10
	mostSuiteFreeform = 2 * MostFreeform
)

// omitted is the only member of what the operator doesn't keep, as it is too large. Its value is how many bytes all of it takes.
const omitted = "linerate.dev/omitted"

// FreeformFault says that a spec has too much in forms of others, with the way out; empty: it hasn't.
func (s *LoadTestSpec) FreeformFault() string {
	if bytes := s.freeformBytes(); bytes > MostFreeform {
		return fmt.Sprintf("templates, TRex's settings and what generator.pod adds to pods take %d bytes together, and %d is the most: "+
			"put files and scripts that a template carries into ConfigMaps of their own", bytes, MostFreeform)
	}
	return ""
}

// OmitFreeform leaves out what is in forms of others where that is too much of it, for whoever keeps many. FreeformFault says the same before and after.
func (s *LoadTestSpec) OmitFreeform() {
	bytes := s.freeformBytes()
	if bytes <= MostFreeform {
		return
	}
	if pod := s.Generator.Pod; pod.bytes() > 0 {
		pod.Labels, pod.Annotations, pod.NodeSelector, pod.Tolerations, pod.ImagePullSecrets = nil, nil, nil, nil, nil
		pod.Affinity = omittedForm(bytes)
	}
	omit(s.freeforms(), bytes)
}

// freeformBytes is how many bytes the spec has in forms of others; what was left out counts as what it took.
func (s *LoadTestSpec) freeformBytes() int { return sizeOf(s.freeforms()) + s.Generator.Pod.bytes() }

// bytes are how many the texts take that are as long as somebody wrote them, but for the affinity.
func (p *GeneratorPodSpec) bytes() (bytes int) {
	if p == nil {
		return 0
	}
	for _, texts := range []map[string]string{p.Labels, p.Annotations, p.NodeSelector} {
		for key, value := range texts {
			bytes += len(key) + len(value)
		}
	}
	for _, t := range p.Tolerations {
		bytes += len(t.Key) + len(t.Operator) + len(t.Value) + len(t.Effect)
	}
	for _, secret := range p.ImagePullSecrets {
		bytes += len(secret.Name)
	}
	return bytes
}

// freeforms are all that the spec has in forms of others.
func (s *LoadTestSpec) freeforms() (all []*Freeform) {
	if s.DUT.Pod != nil {
		all = append(all, &s.DUT.Pod.Template)
	}
	for _, hook := range []*HookSpec{s.DUT.Setup, s.DUT.Teardown} {
		if hook != nil {
			all = append(all, &hook.Template)
		}
	}
	if s.Generator.Pod != nil {
		all = append(all, &s.Generator.Pod.Affinity)
	}
	if s.Generator.TRex != nil {
		all = append(all, &s.Generator.TRex.Config)
	}
	return all
}

// FreeformFault says that template and patches of a suite are too large, with the way out; empty: they aren't.
func (s *LoadTestSuiteSpec) FreeformFault() string {
	if bytes := sizeOf(s.freeforms()); bytes > mostSuiteFreeform {
		return fmt.Sprintf("spec.template.spec and the patches of spec.axes take %d bytes together, and %d is the most: "+
			"put files and scripts that a template carries into ConfigMaps of their own, or part the suite in two", bytes, mostSuiteFreeform)
	}
	return ""
}

// OmitFreeform leaves out template and patches where they are too large, for whoever keeps many suites. FreeformFault says the same before and after.
func (s *LoadTestSuiteSpec) OmitFreeform() {
	if bytes := sizeOf(s.freeforms()); bytes > mostSuiteFreeform {
		omit(s.freeforms(), bytes)
	}
}

func (s *LoadTestSuiteSpec) freeforms() []*Freeform {
	all := []*Freeform{&s.Template.Spec}
	for i := range s.Axes {
		for j := range s.Axes[i].Values {
			all = append(all, &s.Axes[i].Values[j].Patch)
		}
	}
	return all
}

// sizeOf is how many bytes they take together; what was left out counts as what it took.
func sizeOf(all []*Freeform) (bytes int) {
	for _, f := range all {
		for key, value := range *f {
			bytes += len(key) + len(value.Raw)
		}
	}
	for _, f := range all {
		if took, err := strconv.Atoi(string((*f)[omitted].Raw)); err == nil {
			bytes = max(bytes, took)
		}
	}
	return bytes
}

// omit leaves all of them out, which take so many bytes with what was left out beside them.
func omit(all []*Freeform, bytes int) {
	for _, f := range all {
		if len(*f) > 0 {
			*f = omittedForm(bytes)
		}
	}
}

func omittedForm(bytes int) Freeform {
	return Freeform{omitted: apiextensionsv1.JSON{Raw: strconv.AppendInt(nil, int64(bytes), 10)}}
}
