package chart

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// project is a PROJECT file in version 3, as kubebuilder reads it.
type project struct {
	Domain      string   `json:"domain"`
	Layout      []string `json:"layout"`
	ProjectName string   `json:"projectName"`
	Repo        string   `json:"repo"`
	Version     string   `json:"version"`
	Resources   []struct {
		API struct {
			CRDVersion string `json:"crdVersion"`
			Namespaced bool   `json:"namespaced"`
		} `json:"api"`
		Controller bool   `json:"controller"`
		Domain     string `json:"domain"`
		Group      string `json:"group"`
		Kind       string `json:"kind"`
		Path       string `json:"path"`
		Version    string `json:"version"`
	} `json:"resources"`
}

func TestThePROJECTFileIsTrue(t *testing.T) {
	var p project
	if err := yaml.UnmarshalStrict([]byte(read(t, "PROJECT")), &p); err != nil {
		t.Fatal(err)
	}
	module := strings.Fields(read(t, "go.mod"))[1]
	if p.Version != "3" || len(p.Layout) != 1 || p.Layout[0] != "go.kubebuilder.io/v4" || p.Repo != module {
		t.Errorf("%+v", p)
	}
	if len(p.Resources) != 2 {
		t.Fatalf("%d resources", len(p.Resources))
	}
	folders := []string{"controllers", "config/crd/bases", "config/default", "config/manager", "config/rbac", "config/samples"}
	for i, kind := range []string{v1alpha1.LoadTestKind, v1alpha1.LoadTestSuiteKind} {
		r := p.Resources[i]
		// Where a resource has no group, kubebuilder takes the domain for it.
		if r.Group != "" || r.Domain != v1alpha1.Group || r.Kind != kind || r.Version != v1alpha1.Version ||
			r.API.CRDVersion != "v1" || !r.API.Namespaced || !r.Controller {
			t.Errorf("%+v", r)
		}
		folders = append(folders, strings.TrimPrefix(r.Path, module+"/"), "controllers/"+strings.ToLower(kind))
	}
	for _, folder := range folders {
		if info, err := os.Stat(root + folder); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
