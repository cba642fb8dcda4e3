package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Freeform is a mapping in somebody else's format, such as a pod template. It is stored as it is.
//
// It is a map to values of any type, and not an object without fields, because of the rule that a spec can't be
// changed. Of objects whose fields no schema names, the API server's CEL compares with == only the fields that
// both sides have, and how many there are: {cpu: 1} "equals" {memory: 1}. Of a map it compares every entry as a
// whole.
//
// +kubebuilder:validation:MaxProperties=64
type Freeform map[string]apiextensionsv1.JSON

// Raw is the mapping as JSON, its keys sorted.
func (f Freeform) Raw() ([]byte, error) { return json.Marshal(f) }

// MostFreeform is how many bytes a LoadTest's freeform parts may take together: its templates, the generators'
// affinity, TRex's settings, and the labels, annotations and the like of generator.pod, of which the schema
// bounds only the number. Without it the operator, which keeps each LoadTest in memory, would keep up to 1.5
// MiB each. A suite may have twice as much in its template and patches.
const (
	MostFreeform      = 256 << 10
	mostSuiteFreeform = 2 * MostFreeform
)

// The most that a LoadTest's freeform parts may have besides bytes: how deep their JSON is nested, and how many
// lists and mappings, and values in all, they have together. The deepest field of a pod template is at depth
// 16. An empty mapping is two bytes of text, and a thousand once it is decoded; and decoders slow down with
// depth. A suite may have twice as many lists, mappings and values in its template and patches.
const (
	mostDepth      = 32
	mostContainers = 2048
	mostValues     = 16384
)

// omitted is the only member of a Freeform that the operator doesn't keep because it is too large. Its value is
// how many bytes the spec's freeform parts take.
const omitted = "linerate.dev/omitted"

// FreeformFault says that a spec's freeform parts are too large, with the way out; empty: they aren't.
func (s *LoadTestSpec) FreeformFault() string {
	if bytes := s.freeformBytes(); bytes > MostFreeform {
		return fmt.Sprintf("templates, TRex's settings and what generator.pod adds to pods take %d bytes together, and %d is the most: "+
			"put files and scripts that a template carries into ConfigMaps of their own", bytes, MostFreeform)
	}
	return structureOf(s.freeforms()).fault("templates, TRex's settings and generator.pod.affinity", 1)
}

// OmitFreeform drops the freeform parts if they are too large, to save memory. FreeformFault says the same
// before and after.
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

// freeformBytes is how many bytes the spec's freeform parts take; omitted parts count as what they took.
func (s *LoadTestSpec) freeformBytes() int { return sizeOf(s.freeforms()) + s.Generator.Pod.bytes() }

// bytes is how many bytes the pod's unbounded texts take, without the affinity.
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

// freeforms are all freeform parts of the spec.
func (s *LoadTestSpec) freeforms() (blocks []*Freeform) {
	if s.DUT.Pod != nil {
		blocks = append(blocks, &s.DUT.Pod.Template)
	}
	for _, hook := range []*HookSpec{s.DUT.Setup, s.DUT.Teardown} {
		if hook != nil {
			blocks = append(blocks, &hook.Template)
		}
	}
	if s.Generator.Pod != nil {
		blocks = append(blocks, &s.Generator.Pod.Affinity)
	}
	if s.Generator.TRex != nil {
		blocks = append(blocks, &s.Generator.TRex.Config)
	}
	return blocks
}

// FreeformFault says that a suite's template and patches are too large, with the way out; empty: they aren't.
func (s *LoadTestSuiteSpec) FreeformFault() string {
	if bytes := sizeOf(s.freeforms()); bytes > mostSuiteFreeform {
		return fmt.Sprintf("spec.template.spec and the patches of spec.axes take %d bytes together, and %d is the most: "+
			"put files and scripts that a template carries into ConfigMaps of their own, or part the suite in two",
			bytes, mostSuiteFreeform)
	}
	return structureOf(s.freeforms()).fault("spec.template.spec and the patches of spec.axes", 2)
}

// OmitFreeform drops template and patches if they are too large, to save memory. FreeformFault says the same
// before and after.
func (s *LoadTestSuiteSpec) OmitFreeform() {
	if bytes := sizeOf(s.freeforms()); bytes > mostSuiteFreeform {
		omit(s.freeforms(), bytes)
	}
}

func (s *LoadTestSuiteSpec) freeforms() []*Freeform {
	blocks := []*Freeform{&s.Template.Spec}
	for i := range s.Axes {
		for j := range s.Axes[i].Values {
			blocks = append(blocks, &s.Axes[i].Values[j].Patch)
		}
	}
	return blocks
}

// sizeOf is how many bytes the Freeforms take together; omitted ones count as what they took.
func sizeOf(blocks []*Freeform) (bytes int) {
	for _, f := range blocks {
		for key, value := range *f {
			bytes += len(key) + len(value.Raw)
		}
	}
	for _, f := range blocks {
		if took, err := strconv.Atoi(string((*f)[omitted].Raw)); err == nil {
			bytes = max(bytes, took)
		}
	}
	return bytes
}

// omit replaces all of them by a note of how many bytes the freeform parts take together.
func omit(blocks []*Freeform, bytes int) {
	for _, f := range blocks {
		if len(*f) > 0 {
			*f = omittedForm(bytes)
		}
	}
}

func omittedForm(bytes int) Freeform {
	return Freeform{omitted: apiextensionsv1.JSON{Raw: strconv.AppendInt(nil, int64(bytes), 10)}}
}

// FreeformMemory is about how many bytes of memory the spec's freeform parts take once they are decoded.
func (s *LoadTestSpec) FreeformMemory() int64 {
	const container, value = 1000, 64
	built := structureOf(s.freeforms())
	return int64(2*s.freeformBytes() + container*built.containers + value*built.values)
}

// structure is how JSON is built: how deep it is nested, and how many lists and mappings (containers), and
// values in all, it has.
type structure struct{ depth, containers, values int }

// structureOf is the depth of the deepest Freeform, and the sums over all. It reads each byte once, and decodes
// nothing.
func structureOf(blocks []*Freeform) (s structure) {
	for _, f := range blocks {
		s.containers++
		for _, value := range *f {
			// nothing is bounded yet
			size, _ := intake.Measure(value.Raw, intake.Limits{Depth: len(value.Raw) + 1}, nil)
			s.depth, s.containers, s.values = max(s.depth, size.Depth+1), s.containers+int(size.Containers), s.values+
				int(size.Values)
		}
	}
	return s
}

// fault says that the parts are built of too much, with the way out; empty: they aren't. times is how often the
// bounds of a LoadTest they may have.
func (s structure) fault(parts string, times int) string {
	for _, bound := range []struct {
		unit          string
		amount, limit int
	}{
		{"levels of lists and mappings in each other", s.depth, mostDepth},
		{"lists and mappings", s.containers, mostContainers * times},
		{"values", s.values, mostValues * times},
	} {
		if bound.amount > bound.limit {
			return fmt.Sprintf("%s have %d %s, and %d is the most: a template that Kubernetes reads needs far fewer",
				parts, bound.amount, bound.unit, bound.limit)
		}
	}
	return ""
}
