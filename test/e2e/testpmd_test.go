//go:build full

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// testpmdImage has this machine's dpdk-testpmd and all that it loads.
const testpmdImage = "example.com/linerate/testpmd:e2e"

// TestTestpmdInAPod: a program of somebody's image forwards between the pod's interfaces with new MAC addresses (the path is proven), and all comes back.
func TestTestpmdInAPod(t *testing.T) {
	program, err := exec.LookPath("dpdk-testpmd")
	if err != nil {
		t.Skip("needs Debian's package dpdk-dev on this machine")
	}
	if err := lab.Load(t.Context(), testpmdImage, withLibraries(t, program), pack.Config{Environment: []string{"PATH=/usr/bin"}}); err != nil {
		t.Fatal(err)
	}
	s := begin(t)
	s.apply("testpmd", links, `
dut: {type: Reference, reference: {mode: {userspace: {kind: testpmd}}, image: "`+testpmdImage+`"}}
procedure: {type: ConstantLoad, constantLoad: {rate: 1kpps, warmupDuration: 2s, duration: 3s, window: 1s}}
`)
	test := s.complete("testpmd", patience)
	s.want(test, "Accepted=True Valid", "Complete=True Measured")
	s.directions(test, 1_000)
}

// withLibraries are a program, DPDK's drivers, and the libraries that these load, by their paths here and in an image.
func withLibraries(t *testing.T, program string) map[string]string {
	t.Helper()
	drivers, err := filepath.Glob("/usr/lib/*/dpdk/pmds-*/*.so*")
	if err != nil || len(drivers) == 0 {
		t.Fatalf("no drivers of DPDK beside %s: %v", program, err)
	}
	files := map[string]string{"/usr/bin/dpdk-testpmd": program}
	for _, file := range append(drivers, program) {
		if file != program {
			files[file] = file
		}
		out, err := exec.Command("ldd", file).Output()
		if err != nil {
			t.Fatalf("ldd %s: %v", file, err)
		}
		for _, library := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(string(out), -1) {
			files[library[1]] = library[1]
		}
	}
	return files
}
