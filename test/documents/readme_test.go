package documents

import (
	"regexp"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
)

var shownYAML = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestTheLoadTestsOfTheREADMECanBeMeasured: each is admitted, and the one for a cluster, with networks, compiles.
func TestTheLoadTestsOfTheREADMECanBeMeasured(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	networks := 0
	for _, block := range shownYAML.FindAllStringSubmatch(pages(t)["README.md"], -1) {
		objects, err := server.Load("README.md", strings.NewReader(block[1]))
		if err != nil || len(objects) != 1 {
			t.Errorf("%d objects: %v\n%s", len(objects), err, block[1])
			continue
		}
		if !strings.Contains(block[1], "network: ") {
			continue
		}
		networks++
		if _, faults := compile.ForCluster(objects[0].LoadTest); len(faults) > 0 {
			t.Errorf("%v\n%s", faults.ToAggregate(), block[1])
		}
	}
	if networks != 1 {
		t.Errorf("%d LoadTests with networks were seen", networks)
	}
}
