package documents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// form is as much of GitHub's issue forms as ours use. What isn't in here is refused: GitHub shows no form at all that it can't read.
type form struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Body        []struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Attributes struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Render      string `json:"render"`
			Options     []struct {
				Label    string `json:"label"`
				Required bool   `json:"required"`
			} `json:"options"`
		} `json:"attributes"`
		Validations struct {
			Required bool `json:"required"`
		} `json:"validations"`
	} `json:"body"`
}

func TestIssueForms(t *testing.T) {
	files, err := filepath.Glob("../../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d forms: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range strings.Split(string(text), "https://github.com/linerate-dev/linerate/blob/main/")[1:] {
			name := link[:strings.IndexAny(link, ")\n")]
			if _, err := os.Stat(filepath.Join("../../..", name)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		if filepath.Base(file) == "config.yml" {
			continue
		}
		var f form
		if err := yaml.UnmarshalStrict(text, &f); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var ids []string
		for _, field := range f.Body {
			if !slices.Contains([]string{"textarea", "input", "checkboxes"}, field.Type) || field.ID == "" || field.Attributes.Label == "" || slices.Contains(ids, field.ID) {
				t.Errorf("%s: %+v", file, field)
			}
			ids = append(ids, field.ID)
		}
		if f.Name == "" || f.Description == "" || len(ids) < 3 {
			t.Errorf("%s: %+v", file, f)
		}
	}
	contributing, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil || !strings.Contains(string(contributing), `the form "A figure looks wrong"`) {
		t.Errorf("CONTRIBUTING.md doesn't name the form for figures: %v", err)
	}
}
