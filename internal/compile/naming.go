package compile

import (
	"cmp"
	"path"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// naming is the run's name, and its row and column in a table of many.
func naming(test *v1alpha1.LoadTest, kind traffic, mode *plan.Mode) plan.Test {
	return plan.Test{
		Name:      test.Name,
		Namespace: test.Namespace,
		UID:       string(test.UID),
		Attempt:   1,
		Product:   labelled(test, v1alpha1.LabelProduct, product(&test.Spec.DUT, mode)),
		Loadtest:  labelled(test, v1alpha1.LabelLoadTest, kind.defaultLabel(&test.Spec.Traffic)),
	}
}

func labelled(test *v1alpha1.LoadTest, label, fallback string) string {
	if value := test.Labels[label]; value != "" {
		return value
	}
	return fallback
}

func product(dut *v1alpha1.DUTSpec, mode *plan.Mode) string {
	switch {
	case dut.Type == v1alpha1.DUTReference && mode != nil:
		return "Linux " + mode.String()
	case dut.Type == v1alpha1.DUTReference:
		return "Linux reference"
	case dut.Type == v1alpha1.DUTPod && dut.Pod != nil:
		return cmp.Or(imageName(dut.Pod), "pod")
	}
	return strings.ToLower(string(dut.Type))
}

// imageName is the product and version of the forwarding container's image. That of registry.lab/net/vpp:25.10 is "vpp
// 25.10". It is empty for a template that can't be read, which is refused elsewhere.
func imageName(pod *v1alpha1.DUTPodSpec) string {
	var template struct {
		Spec struct {
			Containers []struct {
				Name  string `json:"name"`
				Image string `json:"image"`
			} `json:"containers"`
		} `json:"spec"`
	}
	raw, err := pod.Template.Raw()
	// as Kubernetes reads it
	if err != nil || intake.DecodeBy(kjson.UnmarshalCaseSensitivePreserveInts, raw, &template, limits) != nil {
		return ""
	}
	for _, c := range template.Spec.Containers {
		if pod.Container == "" || c.Name == pod.Container {
			return shortImage(c.Image)
		}
	}
	return ""
}

func shortImage(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, tag, _ := strings.Cut(path.Base(image), ":")
	switch {
	case image == "":
		return "" // path.Base has a dot for it
	case tag == "" || tag == "latest":
		return name
	}
	return name + " " + tag
}
