package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

const calibratedNight = `
calibration: {margin: 10%, trialDuration: 3s, network: wire}
template:
  spec:
    dut: {type: Reference}
    links: [{name: west, network: west, dut: {address: 16.0.0.1/24}}, {name: east, network: east}]
    procedure: {ramp: {stopAtSaturation: true}}
    criteria: [{name: own, metric: LossRatio, max: "0"}]
    observers: [{name: cpu, of: DUT, type: Processors}]
axes:
- {name: system, values: [{name: linux}, {name: half, patch: {dut: {reference: {limit: {packetsPerSecond: 1000}}}}}]}
- {name: frames, values: [{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]}
repetitions: 2
criteria: [{name: fast, metric: PacketsPerSecond, min: "100"}]
`

func cellNames(m *Matrix) (names []string) {
	for _, c := range m.Cells {
		names = append(names, c.Name)
	}
	return names
}

// What only the device's axis varies has one calibration in common, and all calibrations come before all other tests.
func TestGeneratorsAreMeasuredOnceForEachTraffic(t *testing.T) {
	m := Expand(written(t, calibratedNight))
	if got, want := cellNames(m), []string{"generator-imix", "generator-64b", "linux-imix", "linux-64b", "half-imix", "half-64b"}; !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
	if want := []int{-1, -1, 0, 1, 0, 1}; !slices.Equal(m.calibratedBy, want) {
		t.Errorf("calibrated by %v, want %v", m.calibratedBy, want)
	}
	if c := m.Cells[1]; c.Product != "generator" || c.Loadtest != "64b" || !m.Calibrates(1) || m.Calibrates(2) {
		t.Errorf("%+v", c)
	}
	for i, s := range m.slots {
		if (i < 4) != m.Calibrates(s.cell) {
			t.Errorf("test %d is of cell %d", i, s.cell)
		}
	}
	if plain := Expand(written(t, strings.Replace(calibratedNight, "calibration:", "#", 1))); len(plain.Cells) != 4 || plain.TestName(0, 1, 1) != m.TestName(2, 1, 1) {
		t.Errorf("without calibration: %q, the first test %s", cellNames(plain), plain.TestName(0, 1, 1))
	}
}

func TestACalibrationIsACableInTheDevicesPlace(t *testing.T) {
	content, err := Expand(written(t, calibratedNight)).Content(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dut":{"type":"Loopback"},"links":[{"name":"west","network":"wire"},{"name":"east","network":"wire"}],` +
		`"procedure":{"maximumOfferedLoad":{"trialDuration":"3s","trials":1},"type":"MaximumOfferedLoad"},"traffic":{"frameSize":64,"profile":"FixedSize"}}`
	if got := text(t, content["spec"]); got != want {
		t.Errorf("spec\n%s, want\n%s", got, want)
	}
}

func TestNothingIsCalibratedWithoutADeviceOrFrames(t *testing.T) {
	m := Expand(written(t, `
calibration: {}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
axes: [{name: what, values: [{name: cable, patch: {dut: {type: Loopback}}}, {name: tcp, patch: {traffic: {type: Sessions}}}, {name: frames}]}]
`))
	if got, want := cellNames(m), []string{"generator", "cable", "tcp", "frames"}; !slices.Equal(got, want) || !slices.Equal(m.calibratedBy, []int{-1, -1, -1, 0}) {
		t.Errorf("cells %q calibrated by %v", got, m.calibratedBy)
	}
}

// A generator's weakness is never the device's: what comes close to what it does by itself is a lower bound, and says so.
func TestFiguresNearTheGeneratorsOwnAreLowerBounds(t *testing.T) {
	s := measuredAlone(t, calibratedNight, map[string]int64{"generator-imix": 1000, "generator-64b": 2000, "linux-imix": 890, "linux-64b": 1810, "half-imix": 910, "half-64b": 500}, nil)
	if s.Verdict.Outcome != report.Passed {
		t.Errorf("the verdict, which is of no calibration, is %+v", s.Verdict)
	}
	for i, near := range []bool{false, false, false, true, true, false} {
		c := s.Cells[i]
		if c.Calibration != (i < 2) || c.Figures.LowerBound != near || (c.Capacity != nil && c.Capacity.Near) != near || strings.Contains(c.Message, "the limit may be theirs") != near {
			t.Errorf("%s: lower bound %t, capacity %+v, %q", c.Name, c.Figures.LowerBound, c.Capacity, c.Message)
		}
		if (c.Verdict == nil) != (i < 2) {
			t.Errorf("%s: verdict %+v", c.Name, c.Verdict)
		}
	}
	if c := s.Cells[3].Capacity; c.Cell != "generator-64b" || c.PacketsPerSecond != 2003 || c.Share.FormatFixed() != "90.46" {
		t.Errorf("%+v", c)
	}
}

// What the generators may have cost fails nothing, while a figure far from theirs may.
func TestNothingFailsNearTheGeneratorsOwn(t *testing.T) {
	demanding := strings.Replace(calibratedNight, `min: "100"`, `min: "1900"`, 1)
	s := measuredAlone(t, demanding, map[string]int64{"generator-imix": 1000, "generator-64b": 2000, "linux-imix": 950, "linux-64b": 1700, "half-imix": 990, "half-64b": 1850}, nil)
	got := map[string]report.Outcome{}
	for _, c := range s.Cells[2:] {
		got[c.Name] = c.Verdict.Outcome
	}
	for name, want := range map[string]report.Outcome{"linux-imix": report.Undecided, "linux-64b": report.DidFail, "half-imix": report.Undecided, "half-64b": report.Undecided} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}
