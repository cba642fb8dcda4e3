package suite

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A LoadTest belongs to a suite by its owner and its name. Without the admission policy, anyone who may create
// LoadTests can write both. So a test's measurement counts only if the test is what the suite would have made.
//
//	suite ──▶ template, patches ──▶ the LoadTest that it makes ┐
//	          LoadTest of that name and owner, which is over ──┴ the same? ──▶ a run of the suite's
//	                                                           ╰─ SpecDiffers: no figures; another try is made

// ReasonSpecDiffers is why a test doesn't count that differs from what its suite makes.
const ReasonSpecDiffers = "SpecDiffers"

// DiffersIn is the first field in which a LoadTest differs from what the suite makes for this cell, such as
// spec.dut.type, or empty. Both are compared with the schema's defaults. Fields that may change in a test's life are
// ignored.
func (m *Matrix) DiffersIn(server *admission.Server, w Wanted, test *v1alpha1.LoadTest) (field string, err error) {
	text, err := json.Marshal(test.Spec)
	if err != nil {
		return "", fmt.Errorf("write the spec of %s: %w", w.Name, err)
	}
	spec := map[string]any{}
	if err := intake.DecodeBy(utiljson.Unmarshal, text, &spec, limits); err != nil {
		return "", fmt.Errorf("read the spec of %s: %w", w.Name, err)
	}
	content, err := m.Content(w.Cell, w.Repetition, w.Try)
	if err != nil {
		return "", err
	}
	// the nodes of a first run may be any, as the scheduler or the baseline chose them
	if placed := nodesAsked(spec); m.comparisonOf != nil && (w.Nodes == nil || placed.agree(*w.Nodes)) {
		placed.place(content["spec"].(map[string]any))
	}
	expected, err := server.Fill(content)
	if err != nil {
		return "", fmt.Errorf("fill %s as the suite makes it: %w", w.Name, err)
	}
	actual, err := server.Fill(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(),
		"kind": v1alpha1.LoadTestKind, "metadata": map[string]any{"name": w.Name}, "spec": spec})
	if err != nil {
		return "", fmt.Errorf("fill %s as it is: %w", w.Name, err)
	}
	field, _ = admission.OtherSpec(expected.LoadTest, actual.LoadTest)
	return field, nil
}

// PlantedRun is the run of a complete test that differs in a field from what its suite makes. It has no
// figures, and says why.
func PlantedRun(t *v1alpha1.LoadTest, w Wanted, field string) Run {
	run := RunOf(t, w.Repetition, w.Try, nil, "")
	run.Ended, run.Reason, run.Report, run.ConfigMap = ReasonSpecDiffers, ReasonSpecDiffers, "", ""
	run.Message = wording.Limited(field+" isn't as in template and patches, so the test doesn't count: somebody else "+
		"made it, or a webhook changed it", maxMessage)
	return run
}
