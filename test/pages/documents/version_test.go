package documents

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestTheOldestKubernetes: the chart refuses an older one than the documents name. It is the first whose API server takes what the rules of the CRDs cost.
func TestTheOldestKubernetes(t *testing.T) {
	text, err := os.ReadFile("../../../charts/linerate/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart struct {
		KubeVersion string `json:"kubeVersion"`
	}
	if err := yaml.Unmarshal(text, &chart); err != nil {
		t.Fatal(err)
	}
	oldest, isMinor := strings.CutSuffix(strings.TrimPrefix(chart.KubeVersion, ">="), ".0-0")
	if !isMinor {
		t.Fatalf("Chart.yaml asks for Kubernetes %q, want >=1.X.0-0", chart.KubeVersion)
	}
	for _, name := range []string{"../../../docs/install.md", "../../../docs/api.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(said, "need Kubernetes "+oldest+" or later") && !strings.Contains(said, "needs Kubernetes "+oldest+" or later") {
			t.Errorf("%s doesn't say that Kubernetes %s or later is needed, as Chart.yaml does", name, oldest)
		}
	}
}
