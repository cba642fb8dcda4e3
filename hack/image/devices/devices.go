// Package devices finds what of this machine belongs into the image of a device under test: DPDK's testpmd or
// strongSwan, as Debian packages them, with all that they load. In a registry such an image is made of the
// packages themselves (docs/modes.md); this one is for clusters that have none, as the demo's.
package devices

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
)

// The devices.
const (
	Testpmd    = "testpmd"
	StrongSwan = "strongswan"
)

// Files are a device's files by their paths in an image, and how its containers start. The error says what this
// machine lacks.
func Files(device string) (map[string]string, pack.Config, error) {
	switch device {
	case Testpmd:
		return testpmd()
	case StrongSwan:
		return strongSwan()
	}
	return nil, pack.Config{}, fmt.Errorf("%q is no device that can be packed: there are %s and %s", device, Testpmd,
		StrongSwan)
}

func testpmd() (map[string]string, pack.Config, error) {
	program, err := exec.LookPath("dpdk-testpmd")
	if err != nil {
		return nil, pack.Config{}, fmt.Errorf("%w: apt-get install dpdk-dev", err)
	}
	drivers, err := filepath.Glob("/usr/lib/*/dpdk/pmds-*/*.so*")
	if err != nil || len(drivers) == 0 {
		return nil, pack.Config{}, fmt.Errorf("there are no drivers of DPDK beside %s", program)
	}
	files, err := withLibraries(append(drivers, program)...)
	if err != nil {
		return nil, pack.Config{}, err
	}
	files["/usr/bin/dpdk-testpmd"] = program
	return files, pack.Config{Environment: []string{"PATH=/usr/bin"}}, nil
}

func strongSwan() (map[string]string, pack.Config, error) {
	charon, swanctl, err := tunnel.FindIPsec()
	if err != nil {
		return nil, pack.Config{}, err
	}
	if swanctl, err = exec.LookPath(swanctl); err != nil {
		return nil, pack.Config{}, err
	}
	plugins, err := filepath.Glob(filepath.Dir(charon) + "/plugins/*.so")
	if err != nil {
		return nil, pack.Config{}, err
	}
	// by the C library, once a thread is ended: no program names it
	loadedLater, err := filepath.Glob("/lib/*/libgcc_s.so.1")
	if err != nil || len(loadedLater) == 0 {
		return nil, pack.Config{}, errors.New("there is no libgcc_s.so.1, without which strongSwan ends by a signal")
	}
	files, err := withLibraries(slices.Concat(plugins, loadedLater, []string{charon, swanctl})...)
	return files, pack.Config{Environment: []string{"PATH=" + filepath.Dir(swanctl)}}, err
}

// loads is a line of ldd's with a library and where it is.
var loads = regexp.MustCompile(`(?m)(/\S+) \(0x`)

// withLibraries are programs and the libraries that they load, each at the same path in an image as here.
func withLibraries(programs ...string) (map[string]string, error) {
	files := map[string]string{}
	for _, program := range programs {
		files[program] = program
		output, err := exec.Command("ldd", program).Output()
		if err != nil {
			return nil, fmt.Errorf("ldd %s: %w", program, err)
		}
		for _, library := range loads.FindAllStringSubmatch(string(output), -1) {
			files[library[1]] = library[1]
		}
	}
	return files, nil
}
