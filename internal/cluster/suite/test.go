package suite

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Content is the LoadTest of a cell's repetition and try, as it is sent to the API server.
func (m *Matrix) Content(cell int, repetition, try int32) (map[string]any, error) {
	c := &m.Cells[cell]
	spec, err := m.spec(c)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{"name": m.TestName(cell, repetition, try), "labels": m.labels(c, repetition, try)}
	if m.suite.Namespace != "" {
		metadata["namespace"] = m.suite.Namespace
	}
	if annotations := texts(m.suite.Spec.Template.Metadata.Annotations); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if m.suite.UID != "" {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.LoadTestSuiteKind,
			"name": m.suite.Name, "uid": string(m.suite.UID), "controller": true,
		}}
	}
	return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.LoadTestKind,
		"metadata": metadata, "spec": spec}, nil
}

// ContentOf is the LoadTest of a wanted test, on its nodes.
func (m *Matrix) ContentOf(w Wanted) (map[string]any, error) {
	content, err := m.Content(w.Cell, w.Repetition, w.Try)
	if err == nil && w.Nodes != nil {
		w.Nodes.place(content["spec"].(map[string]any))
	}
	return content, err
}

// price is what the template or a patch of the cell says of the device's price. It is empty where neither does.
func (m *Matrix) price(cell int) (price string) {
	c := &m.Cells[cell]
	if c.calibrates {
		return ""
	}
	for _, part := range append([]v1alpha1.Freeform{m.suite.Spec.Template.Spec}, c.patches...) {
		device := part["dut"].Raw
		if !bytes.Contains(device, []byte(`"price"`)) { // most have none, and this is computed often
			continue
		}
		var dut map[string]any
		if intake.JSON(device, &dut, intake.Small) != nil {
			continue
		}
		if value, ok := dut["price"]; ok {
			price, _ = value.(string)
		}
	}
	return price
}

// labels are the template's, the cell's row and column unless the template sets them, and those of the suite.
func (m *Matrix) labels(c *Cell, repetition, try int32) map[string]any {
	labels := map[string]any{}
	for label, value := range map[string]string{v1alpha1.LabelProduct: c.Product, v1alpha1.LabelLoadTest: c.Loadtest} {
		if value != "" && len(value) <= maxLabel {
			labels[label] = value
		}
	}
	maps.Copy(labels, texts(m.suite.Spec.Template.Metadata.Labels))
	labels[v1alpha1.LabelSuite] = m.suite.Name
	if m.suite.UID != "" {
		labels[v1alpha1.LabelSuiteUID] = string(m.suite.UID)
	}
	labels[v1alpha1.LabelCell] = c.Name
	labels[v1alpha1.LabelRepetition] = strconv.Itoa(int(repetition))
	labels[v1alpha1.LabelTry] = strconv.Itoa(int(try))
	return labels
}

func texts(values map[string]v1alpha1.TemplateText) map[string]any {
	result := map[string]any{}
	for k, v := range values {
		result[k] = string(v)
	}
	return result
}

// spec is the template's with the cell's patches (RFC 7396).
func (m *Matrix) spec(c *Cell) (map[string]any, error) {
	if m.fault != "" {
		return nil, errors.New(m.fault)
	}
	document, err := m.suite.Spec.Template.Spec.Raw()
	if err != nil {
		return nil, fmt.Errorf("spec.template.spec: %w", err)
	}
	for i, p := range c.patches {
		if len(p) == 0 {
			continue
		}
		patch, err := p.Raw()
		if err == nil {
			document, err = jsonpatch.MergePatch(document, patch)
		}
		if err != nil {
			return nil, fmt.Errorf("the patch of %s %s: %w", c.Values[i].Axis, c.Values[i].Value, err)
		}
	}
	spec := map[string]any{}
	if err := intake.DecodeBy(utiljson.Unmarshal, document, &spec, limits); err != nil { // whole numbers stay whole
		return nil, fmt.Errorf("the patched spec: %w", err)
	}
	if c.calibrates {
		spec = m.calibrated(spec)
	}
	return spec, nil
}

// limits bound the decoded spec of a run or a test as they bound a Report and a suite's runs.
var limits = intake.Limits{Bytes: 32 << 20, Memory: 256 << 20}
