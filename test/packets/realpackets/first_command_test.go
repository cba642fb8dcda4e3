package realpackets

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestTheFirstCommandAnswers: make run's test ends with a figure or a bound and exit code 0, whatever else the machine
// does, and not by its deadline. Its steps are shortened here.
func TestTheFirstCommandAnswers(t *testing.T) {
	needRoot(t)
	text, err := os.ReadFile("../../../examples/linux-forwarder.yaml")
	if err != nil {
		t.Fatal(err)
	}
	short := string(text)
	for _, change := range [][2]string{{"rampDuration: 15s", "rampDuration: 5s"}, {"stepDuration: 750ms",
		"stepDuration: 500ms"}, {"confirmDuration: 2s", "confirmDuration: 1s"}, {"activeDeadline: 55s",
		"activeDeadline: 25s"}} {
		if !strings.Contains(short, change[0]) {
			t.Fatalf("examples/linux-forwarder.yaml has no %s", change[0])
		}
		short = strings.Replace(short, change[0], change[1], 1)
	}
	got := call(t, 2*time.Minute, "run", writeFile(t, "test.yaml", short), "-o", "json", "--save", "")
	var r report.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s, %s", r.Answer.Reason, r.Answer.EvidenceText())
	if got.code != report.ExitOK || r.Ending != report.Completed || !r.Answer.Measured ||
		r.Answer.Total.Received.PacketsPerSecond <= 0 {
		t.Errorf("exit code %d, %s (%s), %s", got.code, r.Ending, r.Message, r.Answer.Reason)
	}
}
