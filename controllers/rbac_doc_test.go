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

// docs/security.md lists exactly what the manager may do, each right with its reason.
func TestTheManagersRightsAreThoseThatAreListed(t *testing.T) {
	rights, listed := granted(t, "role.yaml"), listedRights(t, false)
	compareRights(t, rights, listed)
	if len(rights) < 35 {
		t.Errorf("only %q", slices.Sorted(maps.Keys(rights)))
	}
}

func TestTheManagersRightsInItsOwnNamespaceAreThoseThatAreListed(t *testing.T) {
	rights, listed := granted(t, "runs_role.yaml", "leader_election_role.yaml"), listedRights(t, true)
	compareRights(t, rights, listed)
	if len(rights) < 20 {
		t.Errorf("only %q", slices.Sorted(maps.Keys(rights)))
	}
}

func TestARunnerMayMakeAndUpdateConfigMapsAndNothingElse(t *testing.T) {
	rights := slices.Sorted(maps.Keys(granted(t, "runner_role.yaml")))
	if want := []string{"configmaps: create", "configmaps: update"}; !slices.Equal(rights, want) {
		t.Errorf("it may %q, and needs %q", rights, want)
	}
}

func compareRights(t *testing.T, rights, listed map[string]bool) {
	t.Helper()
	for right := range rights {
		if !listed[right] {
			t.Errorf("the manager may %s, and docs/security.md doesn't say so", right)
		}
	}
	for right := range listed {
		if !rights[right] {
			t.Errorf("docs/security.md says that the manager may %s", right)
		}
	}
}

// granted are the rights of some roles' files, such as "pods: get".
func granted(t *testing.T, files ...string) map[string]bool {
	t.Helper()
	rights := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile("../config/rbac/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var role rbacv1.ClusterRole // a Role has no other members
		if err := yaml.UnmarshalStrict(text, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights[resource+": "+verb] = true
				}
			}
		}
	}
	return rights
}

// listedRights are those of the table's rows: "| pods, jobs: get, list, of one name | why |"; of the rows for
// the manager's own namespace each with its own verbs: "| in its own namespace, jobs: get; pods: get | why |".
func listedRights(t *testing.T, inOperatorNamespace bool) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The manager\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rights := map[string]bool{}
	for line := range strings.Lines(section) {
		row := strings.Split(line, " | ")
		cell, itsOwn := strings.CutPrefix(strings.TrimPrefix(row[0], "| "), "in its own namespace, ")
		if len(row) != 2 || itsOwn != inOperatorNamespace {
			continue
		}
		for part := range strings.SplitSeq(cell, "; ") {
			resources, verbs, _ := strings.Cut(part, ": ")
			if inOperatorNamespace { // or in `physicalPorts.namespace`, leases
				resources = resources[strings.LastIndex(resources, " ")+1:]
			}
			for resource := range strings.SplitSeq(resources, ", ") {
				for verb := range strings.SplitSeq(verbs, ", ") {
					if verb != "" && !strings.Contains(verb, " ") {
						rights[resource+": "+verb] = true
					}
				}
			}
		}
	}
	return rights
}
