package sriov

import (
	"strings"
	"testing"
)

// TestTheTestTypesWhatThePageHas: a console block outside the numbered steps would be one that no test types.
func TestTheTestTypesWhatThePageHas(t *testing.T) {
	p, err := readPage()
	if err != nil {
		t.Fatal(err)
	}
	typed := 0
	for _, step := range p.steps {
		for _, a := range step.Actions {
			switch {
			case a.Command == "":
			case numbered.MatchString(step.Title):
				typed++
			default:
				t.Errorf("line %d: no test types %q, which is in %q: move it into a numbered step", a.Line, a.Command, step.Title)
			}
		}
	}
	if typed < 20 || len(p.symptoms()) < 4 {
		t.Errorf("the page has %d commands, and %q where it doesn't go: it is read wrongly", typed, p.symptoms())
	}
	for from := range p.changes {
		if before, _, _ := strings.Cut(p.text, changesHeading); !strings.Contains(before, from) {
			t.Errorf("the table changes %q, which the page doesn't have", from)
		}
	}
	if p.changes[limitOnPage] == "" {
		t.Errorf("the table doesn't change %q, so the judge would know the limit", limitOnPage)
	}
}
