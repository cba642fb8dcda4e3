//go:build full

package realpackets

import (
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// calibratedSuite is a suite of a device, which links of 10 Mb/s keep below what a generator sends anywhere.
const calibratedSuite = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: box}
spec:
  calibration: {margin: 10%, trialDuration: 1s}
  template:
    spec:
      dut: {type: Device}
      links: [{name: west, lineRate: 10mbps}, {name: east, lineRate: 10mbps}]
      traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
      procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {rate: "100%", warmupDuration: 0s, trialDuration: 1s, trials: 1}}
  axes:
  - {name: device, values: [{name: box}]}
  - {name: frames, values: [{name: 64b}, {name: 512b, patch: {traffic: {frameSize: 512}}}]}
`

// TestCalibrationOnPorts: a device on --ports is measured only once the generator was, by --calibrate over a cable between the ports; then its figures stand beside what the generator reached with the same frames.
func TestCalibrationOnPorts(t *testing.T) {
	needRoot(t)
	r, dir := newRig(t, 2), t.TempDir()
	file := writeFile(t, "box.yaml", calibratedSuite)
	run := func(args ...string) outcome {
		return r.call(t, append([]string{"run", file, "--save", dir, "--ports", r.portList()}, args...)...)
	}
	if got := run(); got.code != report.ExitNotMeasured || !strings.Contains(got.stderr, "run the same command with --calibrate") {
		t.Fatalf("without a calibration: exit code %d, %s", got.code, got.stderr)
	}
	r.bridge(t, "cable", 0, 1)
	if got := run("--calibrate"); got.code != report.ExitOK || !strings.Contains(got.stderr, "cable the device") {
		t.Fatalf("the calibration: exit code %d, %s", got.code, got.stderr)
	}
	in(t, r.device, func() error {
		cable, err := netlink.LinkByName("cable")
		if err != nil {
			return err
		}
		return netlink.LinkDel(cable)
	})
	r.route(t)
	r.limitEach(t, 10*time.Millisecond, 2_000, 2_000)
	got := run()
	s := readSuite(t, dir, "box")
	for _, name := range []string{"box-64b", "box-512b"} {
		c := cellOf(s, name)
		if c == nil || c.Figures == nil || c.Capacity == nil || c.Capacity.PacketsPerSecond < c.Figures.PacketsPerSecond {
			t.Errorf("%s: %+v, want figures beside what the generator reached; stderr:\n%s", name, c, got.stderr)
		}
	}
	if small := cellOf(s, "box-64b"); small != nil && (small.Figures.LowerBound || small.Figures.PacketsPerSecond > 2_040) {
		t.Errorf("box-64b: %+v, want its limit of 2000 packets/s", small.Figures)
	}
}
