package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// aForm is a mapping of about so many bytes.
func aForm(bytes int) Freeform {
	return Freeform{"spec": apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", strings.Repeat("x", bytes))}}
}

func TestWhatIsTooLargeIsLeftOutAndStillRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec    LoadTestSpec
		refused bool
	}{
		"nothing":           {},
		"a template":        {spec: LoadTestSpec{DUT: DUTSpec{Pod: &DUTPodSpec{Template: aForm(200 << 10)}}}},
		"a large template":  {spec: LoadTestSpec{DUT: DUTSpec{Pod: &DUTPodSpec{Template: aForm(257 << 10)}}}, refused: true},
		"several, together": {spec: LoadTestSpec{DUT: DUTSpec{Setup: &HookSpec{Template: aForm(100 << 10)}, Teardown: &HookSpec{Template: aForm(200 << 10)}}}, refused: true},
		"TRex's settings":   {spec: LoadTestSpec{Generator: GeneratorSpec{TRex: &TRexSpec{Config: aForm(1 << 20)}}}, refused: true},
		"affinity":          {spec: LoadTestSpec{Generator: GeneratorSpec{Pod: &GeneratorPodSpec{Affinity: aForm(1 << 20)}}}, refused: true},
		"an annotation":     {spec: LoadTestSpec{Generator: GeneratorSpec{Pod: &GeneratorPodSpec{Annotations: map[string]string{"x": strings.Repeat("x", 1<<20)}}}}, refused: true},
		"tolerations":       {spec: LoadTestSpec{Generator: GeneratorSpec{Pod: &GeneratorPodSpec{Tolerations: []Toleration{{Key: strings.Repeat("x", 300<<10)}}}}}, refused: true},
		"all of a pod": {spec: LoadTestSpec{Generator: GeneratorSpec{Pod: &GeneratorPodSpec{
			Labels: map[string]string{"x": strings.Repeat("x", 60<<10)}, NodeSelector: map[string]string{"x": strings.Repeat("x", 60<<10)},
			ImagePullSecrets: []SecretName{{Name: strings.Repeat("x", 60<<10)}}, Affinity: aForm(100 << 10),
		}}}, refused: true},
		"a template beside an annotation": {spec: LoadTestSpec{
			DUT: DUTSpec{Pod: &DUTPodSpec{Template: aForm(100 << 10)}}, Generator: GeneratorSpec{Pod: &GeneratorPodSpec{Annotations: map[string]string{"x": strings.Repeat("x", 200<<10)}}},
		}, refused: true},
		"one that says so":   {spec: LoadTestSpec{DUT: DUTSpec{Pod: &DUTPodSpec{Template: Freeform{omitted: {Raw: []byte("300000")}}}}}, refused: true},
		"one that says less": {spec: LoadTestSpec{DUT: DUTSpec{Pod: &DUTPodSpec{Template: Freeform{omitted: {Raw: []byte("-1")}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.spec.FreeformFault()
			if refused := before != ""; refused != c.refused || refused && !strings.Contains(before, "262144 is the most") {
				t.Errorf("it says %q", before)
			}
			for range 2 { // caches may leave out twice
				c.spec.OmitFreeform()
			}
			if after := c.spec.FreeformFault(); after != before {
				t.Errorf("it says %q, and said %q before it was left out", after, before)
			}
			if text, err := json.Marshal(c.spec); err != nil || len(text) > MostFreeform+1000 {
				t.Errorf("%d bytes are kept (%v)", len(text), err)
			}
		})
	}
}

func TestASuiteThatIsTooLargeIsLeftOutAndStillRefused(t *testing.T) {
	axis := Axis{Name: "size"}
	for i := range 10 {
		axis.Values = append(axis.Values, AxisValue{Name: AxisName(fmt.Sprint("v", i)), Patch: aForm(50 << 10)})
	}
	s := LoadTestSuiteSpec{Template: LoadTestTemplate{Spec: aForm(10 << 10)}, Axes: []Axis{axis}}
	if why := s.FreeformFault(); why != "" {
		t.Errorf("510 KiB are refused: %s", why)
	}
	s.Template.Spec = aForm(20 << 10)
	before := s.FreeformFault()
	s.OmitFreeform()
	if text, err := json.Marshal(s); err != nil || len(text) > 2000 || before == "" || s.FreeformFault() != before {
		t.Errorf("%d bytes are kept of 520 KiB (%v); it says %q, and said %q", len(text), err, s.FreeformFault(), before)
	}
}
