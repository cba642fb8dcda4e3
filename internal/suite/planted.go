package suite

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
)

// A LoadTest is a suite's by its owner and its name, and whoever may create LoadTests can write both where no admission policy keeps them from it. So what one
// measured counts only where it is what the suite makes at its place.
//
//	suite ──▶ template, patches ──▶ the LoadTest that it makes ┐
//	          LoadTest of that name and owner, which is over ──┴ the same? ──▶ a run of the suite's
//	                                                           ╰─ SpecDiffers: no figures; another try is made

// ReasonSpecDiffers is why a test counts for nothing that its suite didn't make as it is.
const ReasonSpecDiffers = "SpecDiffers"

// DiffersIn is the first field in which a LoadTest isn't what the suite makes of this cell, such as spec.dut.type; empty: it is. What may change in a test's life
// doesn't count, and neither do defaults that came with another release's definitions: the server has this one's.
func (m *Matrix) DiffersIn(server *admission.Server, w Wanted, test *v1alpha1.LoadTest) (field string, err error) {
	content, err := m.Content(w.Cell, w.Repetition, w.Try)
	if err != nil {
		return "", err
	}
	made, err := server.Fill(content)
	if err != nil {
		return "", fmt.Errorf("fill %s as the suite makes it: %w", w.Name, err)
	}
	text, err := json.Marshal(test.Spec)
	if err != nil {
		return "", fmt.Errorf("write the spec of %s: %w", w.Name, err)
	}
	spec := map[string]any{}
	if err := utiljson.Unmarshal(text, &spec); err != nil {
		return "", fmt.Errorf("read the spec of %s: %w", w.Name, err)
	}
	is, err := server.Fill(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.LoadTestKind, "metadata": map[string]any{"name": w.Name}, "spec": spec})
	if err != nil {
		return "", fmt.Errorf("fill %s as it is: %w", w.Name, err)
	}
	field, _ = admission.OtherSpec(made.LoadTest, is.LoadTest)
	return field, nil
}

// RunPlanted is what a complete test leaves that differs in a field from what its suite makes: no figures, and why.
func RunPlanted(t *v1alpha1.LoadTest, w Wanted, field string) Run {
	run := RunOf(t, w.Repetition, w.Try, nil, "")
	run.Ended, run.Reason, run.Report, run.ConfigMap = ReasonSpecDiffers, ReasonSpecDiffers, "", ""
	run.Message = limited(field+" isn't as template and patches have it, so it counts for nothing: somebody else made it, or a webhook changed it", maxMessage)
	return run
}
