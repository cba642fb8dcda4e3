package controllers

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// docs/security.md lists what the manager may do, each with its reason: nothing more, and nothing less.
func TestTheManagersRightsAreThoseThatAreListed(t *testing.T) {
	text, err := os.ReadFile("../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				has[resource+": "+verb] = true
			}
		}
	}
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := listedRights(string(page))
	for right := range has {
		if !listed[right] {
			t.Errorf("the manager may %s, and docs/security.md doesn't say so", right)
		}
	}
	for right := range listed {
		if !has[right] {
			t.Errorf("docs/security.md says that the manager may %s", right)
		}
	}
	if len(has) < 40 {
		t.Errorf("only %q", slices.Sorted(maps.Keys(has)))
	}
}

// listedRights are those of the table's rows: "| pods, jobs: get, list, of one name | why |".
func listedRights(page string) map[string]bool {
	_, section, _ := strings.Cut(page, "\n## The manager\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rights := map[string]bool{}
	for line := range strings.Lines(section) {
		row := strings.Split(line, " | ")
		resources, verbs, is := strings.Cut(strings.TrimPrefix(row[0], "| "), ": ")
		if !is || len(row) != 2 || strings.HasPrefix(resources, "in its own namespace") {
			continue
		}
		for resource := range strings.SplitSeq(resources, ", ") {
			for verb := range strings.SplitSeq(verbs, ", ") {
				if !strings.Contains(verb, " ") {
					rights[resource+": "+verb] = true
				}
			}
		}
	}
	return rights
}
