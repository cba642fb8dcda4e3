package documents

import (
	"regexp"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

var shownYAML = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```")

// TestWhatThePagesShowIsAdmitted: each LoadTest and LoadTestSuite that a page shows whole, for whoever copies it.
func TestWhatThePagesShowIsAdmitted(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for name, text := range pages(t) {
		for _, block := range shownYAML.FindAllStringSubmatch(text, -1) {
			whole := unindented(block[2], block[1])
			if !strings.Contains(whole, "\nkind: LoadTest") || strings.Contains(whole, "\n---\n") {
				continue
			}
			shown++
			if _, err := server.Load(name, strings.NewReader(whole)); err != nil {
				t.Errorf("%v\n%s", err, whole)
			}
		}
	}
	if shown < 8 {
		t.Errorf("%d were seen: are they written in another way?", shown)
	}
}

// unindented is a block as somebody copies it out of a list's item.
func unindented(block, by string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+block, "\n"+by, "\n"), "\n")
}

// TestTheLoadTestsOfTheREADMECanBeMeasured: each is admitted, and the one for a cluster, with networks, compiles.
func TestTheLoadTestsOfTheREADMECanBeMeasured(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	networks := 0
	for _, block := range shownYAML.FindAllStringSubmatch(pages(t)["README.md"], -1) {
		objects, err := server.Load("README.md", strings.NewReader(block[2]))
		if err != nil || len(objects) != 1 {
			t.Errorf("%d objects: %v\n%s", len(objects), err, block[2])
			continue
		}
		if !strings.Contains(block[2], "network: ") {
			continue
		}
		networks++
		if _, faults := compile.ForCluster(objects[0].LoadTest); len(faults) > 0 {
			t.Errorf("%v\n%s", faults.ToAggregate(), block[2])
		}
	}
	if networks != 1 {
		t.Errorf("%d LoadTests with networks were seen", networks)
	}
}
