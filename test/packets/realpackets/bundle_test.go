//go:build full

package realpackets

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// bundledTest is trials alone of a device.
const bundledTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: box}
spec:
  dut: {type: Device, notes: a router of nft}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure: ` + hostsCurve + "\n"

// TestABundleReplaysOnAFreshClone: a bundle of one machine is checked and repeated by a linerate that was built from a clone of this tree, on another device with the same limit: by the same Plan, and the
// repetition's figures are as true as the first ones. Wherever one of its bytes changes, it is refused.
func TestABundleReplaysOnAFreshClone(t *testing.T) {
	beside(t)
	limit := 4_000 + rand.Int64N(5_001)
	device := truth.Device{Limits: map[string]int64{truth.Direction("west", "east"): limit, truth.Direction("east", "west"): limit}, Burst: saved, Stall: 50 * time.Millisecond}
	machine := func() *rig {
		r := newRig(t, 2)
		r.route(t)
		r.limitEach(t, saved, limit, limit)
		return r
	}
	here, there, folder := machine(), machine(), t.TempDir()
	first, file := filepath.Join(folder, "first"), filepath.Join(folder, "lab.tar.gz")
	if got := here.call(t, "run", writeFile(t, "box.yaml", bundledTest), "-q", "--save", first, "--ports", here.portList()); got.code != report.ExitOK {
		t.Fatal(got.stderr)
	}
	if got := here.call(t, "bundle", first, "-o", file); got.code != report.ExitOK {
		t.Fatal(got.stderr)
	}
	clone := freshClone(t)
	got := callProgram(t, clone, there.generator, "replay", file, "-q", "--save", filepath.Join(folder, "again"), "--ports", there.portList())
	if got.code != report.ExitOK {
		t.Fatalf("replay: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	var digests []string
	for _, name := range []string{"first", "again"} {
		r := readReport(t, filepath.Join(folder, name, "box.json"))
		digests = append(digests, r.Plan.Digest())
		for _, fault := range device.Faults(r) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	if digests[0] != digests[1] || !strings.Contains(got.stderr, digests[0]) {
		t.Errorf("the Plans have the digests %v; replay says %s", digests, got.stderr)
	}

	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		spoiled, i := bytes.Clone(content), rand.IntN(len(content))
		spoiled[i] ^= byte(1 + rand.IntN(255))
		if err := os.WriteFile(file, spoiled, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := callProgram(t, clone, there.generator, "verify", file); got.code == report.ExitOK {
			t.Errorf("byte %d of %d was changed, and verify says %s", i, len(content), got.stdout)
		}
	}
}

// freshClone is linerate as it is built from what is committed here.
func freshClone(t *testing.T) (program string) {
	t.Helper()
	project, err := built.Project()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "linerate")
	for _, command := range [][]string{{"git", "clone", "-q", "--no-hardlinks", project, clone}, {"go", "build", "-trimpath", "-buildvcs=false", "-C", clone, "-o", "bin/linerate", "./cmd/linerate"}} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", command, err, output)
		}
	}
	return filepath.Join(clone, "bin", "linerate")
}
