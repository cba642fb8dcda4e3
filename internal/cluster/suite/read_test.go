package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// read reads the only suite of a text.
func read(t *testing.T, file, text string) (*suite.Matrix, error) {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load(file, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return suite.Read(objects[0], suite.JudgeWith(server, suite.InCluster))
}

func files(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

func TestSuitesAreReadFromFiles(t *testing.T) {
	for _, pattern := range []string{"../../../config/samples/suites/*.yaml", "../../../examples/suites/*.yaml"} {
		for file, text := range files(t, pattern) {
			if m, err := read(t, file, text); err != nil || len(m.Cells) == 0 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// A fault in a suite's file is reported with the file, its line and the fix, without a cluster.
func TestInvalidSuitesAreRefusedInFiles(t *testing.T) {
	for file, text := range files(t, "../../../config/invalid-examples/suites/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			first, _, _ := strings.Cut(text, "\n")
			want, ok := strings.CutPrefix(first, "# want: ")
			_, err := read(t, file, text)
			if !ok || err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file+":") {
				t.Errorf("got %v\nwant …%s…", err, want)
			}
		})
	}
}

func TestFaultsOfCellsStandWhereTheyWereWritten(t *testing.T) {
	const text = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: lines}
spec:
  template:
    spec:
      dut: {type: Reference}
      links:
      - {name: west, network: a, lineRate: 1gbps}
      - {name: east, network: b, lineRate: 1gbps}
      traffic:
        profile: FixedSize
        frameSize: 64
  axes:
  - name: system
    values:
    - name: apu6
    - name: vpp
      patch:
        dut: {reference: {limit: {packetsPerSecond: 1000}}}
  - name: frames
    values:
    - name: 64b
    - name: small
      patch:
        traffic:
          frameSize: 128
`
	for name, c := range map[string]struct{ old, replacement, want string }{
		"in the template": {"lineRate: 1gbps}", "lineRate: fast}",
			"lines.yaml:9: cells apu6-64b, apu6-small, vpp-64b, vpp-small: spec.links[0].lineRate"},
		"in a patch": {"frameSize: 128", "frameSize: 20",
			"lines.yaml:27: cells apu6-small, vpp-small: spec.traffic.frameSize is 20"},
		"a misspelt field there": {"frameSize: 128", "framesize: 128",
			"lines.yaml:27: cells apu6-small, vpp-small: spec.traffic.framesize is not a field of LoadTest: did you " +
				"mean frameSize?"},
		"in an earlier patch": {"packetsPerSecond: 1000", "packetsPerSecond: 0",
			"lines.yaml:20: cells vpp-64b, vpp-small: spec.dut.reference.limit.packetsPerSecond is 0"},
		"what is missing": {"dut: {type: Reference}", "dut: {}", "lines.yaml:7: cells apu6-64b, apu6-small"},
		"the suite's own": {"metadata: {name: lines}", "metadata: {name: lines, lables: {}}",
			"lines.yaml:3: metadata.lables is not a field of LoadTestSuite"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(text, c.old, c.replacement, 1)
			if broken == text {
				t.Fatal("nothing was broken")
			}
			if _, err := read(t, "lines.yaml", broken); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant …%s…", err, c.want)
			}
		})
	}
	if _, err := read(t, "lines.yaml", text); err != nil {
		t.Error(err)
	}
}
