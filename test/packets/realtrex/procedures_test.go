//go:build trex

package realtrex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// loadTest is a file for the device at TRex's ports 0 and 1.
const loadTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: real-trex}
spec:
  generator: {engine: TRex, placement: {servers: [{address: %[1]q}]}}
  dut: {type: Device, forwarding: %[2]s}
  links: [{name: west%[3]s}, {name: east%[3]s}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure: %[4]s
`

// loadTest is a file for the bench's device.
func (b *bench) loadTest(procedure string) []byte {
	speed := ""
	if *lineRate != "" {
		speed = ", lineRate: " + *lineRate
	}
	return fmt.Appendf(nil, loadTest, b.server, b.forwarding, speed, procedure)
}

// TestProcedures asks each question of devices whose limits were just drawn. No claim may be false, however busy the machine is. On a calm one each figure has to be within 1 % unless the Report says that the generator was too weak.
func TestProcedures(t *testing.T) {
	watch, err := calm.Begin(t.Context())
	must(t, err)
	for _, q := range questions {
		t.Run(q.name, func(t *testing.T) {
			for n := range *draws {
				t.Run(fmt.Sprint(n+1), func(t *testing.T) {
					begun, a := time.Now(), q.draw(n+1)
					row := a.ask(t)
					row.settle(t, watch.Since(begun))
				})
			}
		})
	}
	publish(t)
}

// ask measures the device with a limit that nobody else knows.
func (q asked) ask(t *testing.T) *row {
	t.Helper()
	if *root == "" {
		q.delay = 0 // nobody knows it
	}
	b := newBench(t, q.delay)
	b.device.limit(t, q.limit, q.saves)
	t.Logf("the device forwards %d packets/s in each direction, saves up for %v, and holds frames for %v", q.limit, q.saves, q.delay)
	b.silence(t)
	before, counts := b.device.count(t)
	begun := time.Now()
	r, why := q.measure(t, b)
	row := &row{Question: q.name, Number: q.number, Limit: q.limit, Took: time.Since(begun).Round(time.Second).String()}
	if r == nil {
		row.Said, row.Faults = "nothing", []string{why}
		return row
	}
	a := q.judge(r, b.device.saves())
	row.Said, row.Off, row.Faults, row.Missing, row.excused = strings.Join(a.said, "<br>"), fmt.Sprintf("%+.2f %%", 100*a.worst), a.faults, a.missing, a.excused
	if len(r.Generators) > 0 && len(r.Generators[0].Ports) > 0 {
		row.TRex = fmt.Sprintf("%s, ports %s", r.Generators[0].Product, r.Generators[0].Ports[0].Driver)
	}
	if counts {
		after, _ := b.device.count(t)
		said, faults := counted(r, before, after)
		row.Counted, row.Faults = said, append(row.Faults, faults...)
	}
	return row
}

// measure runs linerate. Without a Report it says why there is none.
func (q asked) measure(t *testing.T, b *bench) (*report.Report, string) {
	t.Helper()
	dir := t.TempDir()
	kept := filepath.Join(dir, "report.json")
	var args []string
	if q.procedure == "" {
		args = []string{"ramp", "-s", b.server, "-p", "imix.py", "-o", filepath.Join(dir, "viz.json"), "--report", kept, "-wm", rate(0.05), "-wd", "2", "-rt", "100", "-rd", "12", "-hd", "2",
			"--line-rate", fmt.Sprintf("%dbps", int64(1.5*float64(*most)*imixBits))}
	} else {
		procedure := strings.NewReplacer("{top}", rate(1.5), "{half}", rate(0.5), "{quarter}", rate(0.25), "{low}", rate(0.05)).Replace(q.procedure)
		file := filepath.Join(dir, "test.yaml")
		must(t, os.WriteFile(file, b.loadTest(procedure), 0o600))
		args = []string{"run", file, "-o", "json", "--save", "", "--force"}
	}
	code, out, talk := b.run(t, args...)
	if q.procedure == "" {
		out, _ = os.ReadFile(kept)
	}
	var r report.Report
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Sprintf("exit code %d, and no Report: %s", code, strings.TrimSpace(talk))
	}
	t.Logf("%s %s", r.Message, r.Answer.EvidenceText())
	for _, w := range r.Windows {
		if w.Quality == report.Invalid {
			t.Logf("window %d says nothing: %s", w.Number, w.Reason)
		}
	}
	if *keep != "" {
		must(t, os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%s %d report.json", q.name, q.number)), out, 0o600))
	}
	return &r, ""
}

// imixBits is the mean of imix.py's frames on a line, with preamble and gap.
const imixBits = 8 * (28*64 + 16*594 + 4*1518 + 48*20) / 48.0
