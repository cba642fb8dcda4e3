package suite_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// plans are the Plans of a suite's cells, in their order.
func plans(t *testing.T, text string) (names []string, compiled []*plan.Plan) {
	t.Helper()
	m, err := read(t, "suite.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range m.Cells {
		content, err := m.Content(i, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		object, faults := server.Admit(content)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		p, errs := compile.ForCluster(object.LoadTest)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		names, compiled = append(names, c.Name), append(compiled, p.Plan)
	}
	return names, compiled
}

// sent is what the generators of a Plan send.
func sent(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var streams []any
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			streams = append(streams, port.Link, port.Networks, port.Streams)
		}
	}
	text, err := json.Marshal(streams)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A generator sends the flows of a million routes more slowly than a few flows that it has made beforehand. So
// it sends over the cable what the device's test sends.
func TestACalibrationSendsWhatTheDevicesTestSends(t *testing.T) {
	names, compiled := plans(t, `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: routes}
spec:
  calibration: {}
  template:
    spec:
      dut: {type: Reference, reference: {mode: {router: {}}}}
      links: [{name: west, network: a, lineRate: 1gbps}, {name: east, network: b, lineRate: 1gbps}]
      traffic: {profile: FixedSize, frameSize: 64}
      generator: {engine: Software}
  axes:
  - {name: routes, values: [{name: one}, {name: many, patch: {dut: {reference: {mode: {router: {routes: 100000}}}}}}, {name: filter, patch: {dut: {reference: {mode: {router: null, filter: {rules: 1, routes: 50000}}}}}},
    {name: xdp, patch: {dut: {reference: {mode: {router: null, xdp: {routes: 25000}}}}}}, {name: rules, patch: {dut: {reference: {mode: {router: null, filter: {rules: 9}}}}}}, {name: timed, patch: {procedure: {latency: {}}}}]}
`)
	if got := strings.Join(names, " "); got != "generator-one generator-many generator-filter generator-xdp "+
		"generator-timed one many filter xdp rules timed" {
		t.Fatalf("cells %s", got)
	}
	for i, device := range []int{5, 6, 7, 8, 10} {
		if cable, device := sent(t, compiled[i]), sent(t, compiled[device]); cable != device ||
			compiled[i].DUT.Type != "Loopback" {
			t.Errorf("%s: the generators send\n%.2000s\nand to the device\n%.2000s", names[i], cable, device)
		}
	}
	if sent(t, compiled[0]) == sent(t, compiled[1]) {
		t.Error("of a hundred thousand routes as of one")
	}
}

// Generators on other nodes, of another engine or on other cores have other capacities. So each cell is
// compared with the calibration of its own value.
func TestEachValueOfAGeneratorsAxisHasItsOwnCalibration(t *testing.T) {
	const text = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: cores}
spec:
  calibration: {}
  template:
    spec:
      dut: {type: Reference}
      links: [{name: west, network: a, lineRate: 1gbps}, {name: east, network: b, lineRate: 1gbps}]
      generator: {engine: Software}
  axes:
  - {name: system, values: [{name: linux}, {name: limited, patch: {dut: {reference: {limit: {packetsPerSecond: 1000}}}}}]}
  - {name: AXIS, values: [{name: one, patch: ONE}, {name: two, patch: TWO}]}
`
	for axis, patches := range map[string][2]string{
		"cores": {"{generator: {coresPerPortPair: 1}}", "{generator: {coresPerPortPair: 2}}"},
		"path":  {"{generator: {software: {path: AFPacket}}}", "{generator: {software: {path: AFXDP}}}"},
		"node":  {"{generator: {pod: {nodeSelector: {node: a}}}}", "{generator: {pod: {nodeSelector: {node: b}}}}"},
	} {
		t.Run(axis, func(t *testing.T) {
			m, err := read(t, "suite.yaml", strings.NewReplacer("AXIS", axis, "ONE", patches[0], "TWO",
				patches[1]).Replace(text))
			if err != nil {
				t.Fatal(err)
			}
			for cell, want := range map[int]string{2: "generator-one", 3: "generator-two", 4: "generator-one",
				5: "generator-two"} {
				if got := m.CalibrationOf(cell); got != want {
					t.Errorf("%s is held against %q, want %q", m.Cells[cell].Name, got, want)
				}
			}
			first, err := m.Content(0, 1, 1)
			two, err2 := m.Content(1, 1, 1)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			a, _ := json.Marshal(first["spec"])
			b, _ := json.Marshal(two["spec"])
			if string(a) == string(b) {
				t.Errorf("both calibrations are %s", a)
			}
		})
	}
}
