package suite

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// sized is a suite with so many cells, this template, and this patch in each cell.
func sized(cells int, template v1alpha1.Freeform, patch v1alpha1.Freeform) *v1alpha1.LoadTestSuite {
	s := &v1alpha1.LoadTestSuite{Spec: v1alpha1.LoadTestSuiteSpec{Template: v1alpha1.LoadTestTemplate{Spec: template},
		Repetitions: 1, Axes: []v1alpha1.Axis{{Name: "n"}}}}
	s.Name = "hostile"
	for i := range cells {
		s.Spec.Axes[0].Values = append(s.Spec.Axes[0].Values,
			v1alpha1.AxisValue{Name: v1alpha1.AxisName(fmt.Sprintf("v%d", i)), Patch: patch})
	}
	return s
}

func formOf(key, value string) v1alpha1.Freeform {
	return v1alpha1.Freeform{key: apiextensionsv1.JSON{Raw: []byte(value)}}
}

// A suite of 4.6 kB took fifteen seconds at each reconcile, since each cell was decoded at each of its 2000
// levels.
func TestASuiteWhoseTemplateIsTooDeepIsRefusedWithoutMakingACell(t *testing.T) {
	deep := formOf("dut", strings.Repeat("[", 500)+strings.Repeat("]", 500))
	for name, s := range map[string]*v1alpha1.LoadTestSuite{"the template": sized(200, deep, nil),
		"a patch": sized(200, formOf("dut", "{}"), deep)} {
		t.Run(name, func(t *testing.T) {
			s.Spec.Calibration = &v1alpha1.CalibrationSpec{}
			m, judged := Expand(s), 0
			faults := m.Check(func(map[string]any) admission.Faults { judged++; return nil })
			if len(faults) != 1 || judged > 0 || !strings.Contains(faults[0].Message,
				"levels of lists and mappings in each other, and 32 is the most") {
				t.Errorf("%d cells are judged, and the faults are %v", judged, faults)
			}
			if content, err := m.Content(0, 1, 1); err == nil {
				t.Errorf("a LoadTest is made of it: %v", content)
			}
		})
	}
}

// Ten thousand cells with a template of 200 kB are 2 GB of JSON.
func TestASuiteWhoseCellsAreTooMuchTextTogetherIsRefused(t *testing.T) {
	m := Expand(sized(200, formOf("dut", `"`+strings.Repeat("x", 200<<10)+`"`), nil))
	faults := m.Check(func(map[string]any) admission.Faults { t.Error("a cell is judged"); return nil })
	if len(faults) != 1 || !strings.Contains(faults[0].Message,
		"200 cells of 40961000 bytes together, and 33554432 is the most") {
		t.Errorf("%v", faults)
	}
}

// A fault of the template isn't searched in each of thousands of cells.
func TestASuiteStopsAtAFaultOfItsTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		template, patch v1alpha1.Freeform
		judged          int
		message         string
	}{
		"in the template": {formOf("traffic", `{"frameSize": 20}`), formOf("links", "[]"), 4,
			"cells v0, v1, v2, v3: spec.traffic.frameSize is 20 (no patch sets it, so the 196 cells after these " +
				"aren't checked)"},
		"in each cell's patch": {formOf("links", "[]"), formOf("traffic", `{"frameSize": 20}`), 200,
			"cells v0, v1, v2, v3 and 196 more: spec.traffic.frameSize is 20"},
	} {
		t.Run(name, func(t *testing.T) {
			judged := 0
			checking := NewChecking(Expand(sized(200, c.template, c.patch)))
			for !checking.Finished() {
				checking.Next(func(map[string]any) admission.Faults {
					judged++
					return admission.Faults{{Field: "spec.traffic.frameSize", Message: "spec.traffic.frameSize is 20"}}
				}, 16)
			}
			if got := checking.Faults.Error(); judged != c.judged || got != c.message {
				t.Errorf("%d cells are judged, and it says %q", judged, got)
			}
		})
	}
}
