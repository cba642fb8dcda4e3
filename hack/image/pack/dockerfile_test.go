package pack_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

func TestDockerfile(t *testing.T) {
	stage := finalStage(t, "../../../Dockerfile")
	t.Run("both images start as the same user, with the same program", func(t *testing.T) {
		var entrypoint []string
		if err := json.Unmarshal([]byte(only(t, stage, "ENTRYPOINT")), &entrypoint); err != nil {
			t.Fatal(err)
		}
		project := pack.Project()
		if diff := cmp.Diff(entrypoint, project.Entrypoint); diff != "" {
			t.Errorf("entrypoint (-Dockerfile +pack):\n%s", diff)
		}
		if user := only(t, stage, "USER"); user != project.User {
			t.Errorf("user %s in the Dockerfile, %s here", user, project.User)
		}
	})
	t.Run("both images hold the same files", func(t *testing.T) {
		var inDockerfile []string
		for _, words := range stage {
			if words[0] == "COPY" {
				inDockerfile = append(inDockerfile, words[len(words)-1])
			}
		}
		slices.Sort(inDockerfile)
		if diff := cmp.Diff([]string{"/linerate", "/manager"}, inDockerfile); diff != "" {
			t.Errorf("files (-want +Dockerfile):\n%s", diff)
		}
	})
	t.Run("both begin from nothing", func(t *testing.T) {
		if from := only(t, stage, "FROM"); from != "scratch" {
			t.Errorf("FROM %s", from)
		}
	})
}

// finalStage is the words of each instruction from the last FROM on.
func finalStage(t *testing.T, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stage [][]string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] == "FROM" {
			stage = nil
		}
		stage = append(stage, words)
	}
	return stage
}

// only is what follows an instruction that is there once.
func only(t *testing.T, stage [][]string, instruction string) string {
	t.Helper()
	var found []string
	for _, words := range stage {
		if words[0] == instruction {
			found = append(found, strings.Join(words[1:], " "))
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %q, want one", instruction, found)
	}
	return found[0]
}
