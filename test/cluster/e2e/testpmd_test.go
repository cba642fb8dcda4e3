//go:build full

package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/devices"
)

// testpmdImage has this machine's dpdk-testpmd and all that it loads.
const testpmdImage = "example.com/linerate/testpmd:e2e"

// TestTestpmdInAPod: a program in a user's image forwards between the pod's interfaces with new MAC addresses (the path is proven), and all frames come back.
func TestTestpmdInAPod(t *testing.T) {
	loadDevice(t, testpmdImage, devices.Testpmd)
	s := begin(t)
	begun, wires := time.Now(), lab.Listen(t.Context(), "west", "east")
	s.apply("testpmd", links, gently, `
dut: {type: Reference, reference: {mode: {userspace: {kind: Testpmd}}, image: "`+testpmdImage+`"}}
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

// loadDevice gives the nodes an image of a device that this machine has installed.
func loadDevice(t *testing.T, image, name string) {
	t.Helper()
	files, config, err := devices.Files(name)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%v: hack/ci-packages devices installs it", err)
	default:
		t.Skip(err)
	}
	if err := lab.Load(t.Context(), image, files, config); err != nil {
		t.Fatal(err)
	}
}
