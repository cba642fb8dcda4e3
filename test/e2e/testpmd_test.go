//go:build full

package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// testpmdImage has this machine's dpdk-testpmd and all that it loads.
const testpmdImage = "example.com/linerate/testpmd:e2e"

// TestTestpmdInAPod: a program in a user's image forwards between the pod's interfaces with new MAC addresses (the path is proven), and all frames come back.
func TestTestpmdInAPod(t *testing.T) {
	program, err := exec.LookPath("dpdk-testpmd")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("this test wants dpdk-testpmd itself: hack/ci-packages devices installs it")
	default:
		t.Skip("needs dpdk-testpmd itself: apt-get install dpdk-dev")
	}
	drivers, err := filepath.Glob("/usr/lib/*/dpdk/pmds-*/*.so*")
	if err != nil || len(drivers) == 0 {
		t.Fatalf("no drivers of DPDK beside %s: %v", program, err)
	}
	files := withLibraries(t, drivers...)
	maps.Copy(files, withLibraries(t, program))
	files["/usr/bin/dpdk-testpmd"] = program
	if err := lab.Load(t.Context(), testpmdImage, files, pack.Config{Environment: []string{"PATH=/usr/bin"}}); err != nil {
		t.Fatal(err)
	}
	s := begin(t)
	begun, wires := time.Now(), lab.Listen(t.Context(), "west", "east")
	s.apply("testpmd", links, gently, `
dut: {type: Reference, reference: {mode: {userspace: {kind: testpmd}}, image: "`+testpmdImage+`"}}
`)
	s.running("testpmd")
	heard := s.hear(overheard, "west", "east")
	s.routed(s.process("testpmd-1-dut", "forwarder"), false)
	test := s.complete("testpmd", patience)
	r := s.report(test)
	s.carried(test, gentlyPerSecond)
	s.addsUp(r, wires, begun)
	s.makes(r, heard, making{ownMACs: true})
	s.released("testpmd")
}

// withLibraries are files and the libraries that they load, by their paths here and in an image.
func withLibraries(t *testing.T, all ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, file := range all {
		files[file] = file
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
