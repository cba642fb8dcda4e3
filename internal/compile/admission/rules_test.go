package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// choice is one way to write a part of a LoadTest, by the word that a test says of it.
type choice struct{ name, text string }

var (
	engines = []choice{
		{"default", ""}, {"none", "generator: {replicas: 1}"}, {"Software", "generator: {engine: Software}"},
		{"TRex", "generator: {engine: TRex, trex: {image: a}}"},
		{"servers", "generator: {engine: TRex, placement: {servers: [{address: a}]}}"},
	}
	devices = []choice{
		{"none", ""}, {"Reference", "dut: {type: Reference}"}, {"Device", "dut: {type: Device}"},
		{"Loopback", "dut: {type: Loopback}"},
		{"Pod", "dut: {type: Pod, pod: {template: {}}}"},
	}
	ramps = []choice{
		{"percent by default", ""}, {"percent without a ramp", "procedure: {type: Ramp}"},
		{"percent to warm up", "procedure: {ramp: {targetRate: 1kpps, warmupRate: 1%}}"},
		{"packets", "procedure: {ramp: {targetRate: 10kpps}}"},
	}
	criteria = []choice{
		{"none", ""}, {"LineRatePercent", "criteria: [{name: p, metric: PacketsPerSecond, min: '1'}, {name: l, " +
			"metric: LineRatePercent, min: 95%}]"},
		{"PacketsPerSecond", "criteria: [{name: p, metric: PacketsPerSecond, min: '1'}]"},
	}
	lineRates = []choice{
		{"both", "links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]"},
		{"one", "links: [{name: west, lineRate: 1gbps}, {name: east}]"},
		{"none", "links: [{name: west}, {name: east}]"},
	}
)

// What a rule says of several parts of a spec, it says of these combinations of them and of no other.
func TestRulesOnSeveralPartsOfASpec(t *testing.T) {
	tier.Plain(t)
	refused := map[string]int{}
	forEach(func(parts []choice) {
		engine, device, ramp, criterion, lineRate := parts[0].name, parts[1].name, parts[2].name, parts[3].name,
			parts[4].name
		complete := device != "none" && engine != "none" // an incomplete spec is held against no rule
		unknownSpeed := complete && (engine == "Software" || engine == "default") && device != "Device" &&
			lineRate != "both"
		err := fmt.Sprint(judged(t, parts))
		for message, want := range map[string]bool{
			"spec.dut is missing":                     device == "none",
			"spec.generator.engine is missing":        engine == "none",
			"a rate in percent needs lineRate":        unknownSpeed && strings.HasPrefix(ramp, "percent"),
			"a criterion on LineRatePercent needs":    unknownSpeed && criterion == "LineRatePercent",
			"servers that run already can't be wired": engine == "servers" && device == "Reference",
		} {
			if strings.Contains(err, message) != want {
				t.Errorf("%v: %q is said: %v, want %v", parts, message, !want, want)
			}
			if want {
				refused[message]++
			}
		}
	}, engines, devices, ramps, criteria, lineRates)
	if len(refused) != 5 {
		t.Errorf("refused are only %v", refused)
	}
}

// forEach calls with each combination of one of each kind.
func forEach(call func(parts []choice), kinds ...[]choice) {
	combinations := [][]choice{nil}
	for _, kind := range kinds {
		var extended [][]choice
		for _, parts := range combinations {
			for _, c := range kind {
				extended = append(extended, append(slices.Clone(parts), c))
			}
		}
		combinations = extended
	}
	for _, parts := range combinations {
		call(parts)
	}
}

// judged is what schema, rules and compiler say of a LoadTest of these parts. Errors of evaluation are none of ours.
func judged(t *testing.T, parts []choice) error {
	t.Helper()
	text := head + "metadata: {name: x}\nspec:\n"
	for _, part := range parts {
		text += "  " + part.text + "\n"
	}
	objects, err := newServer(t).Load("x.yaml", strings.NewReader(text))
	for _, o := range objects {
		_, errs := compile.Compile(o.LoadTest)
		err = o.Faults(errs)
	}
	if err != nil && strings.Contains(err.Error(), "evaluating rule") {
		t.Errorf("%v: %v", parts, err)
	}
	return err
}

func TestANetworkOfTheDevicesOwnIsForADeviceInAPod(t *testing.T) {
	for _, device := range devices {
		for _, end := range []choice{{"none", ""}, {"empty", ", dut: {}"}, {"network", ", dut: {network: other}"}} {
			err := judged(t, []choice{device,
				{"links", "links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps" + end.text + "}]"}})
			want := end.name == "network" && (device.name == "Device" || device.name == "Loopback")
			if got := strings.Contains(fmt.Sprint(err), "dut.network is for a device in a pod"); got != want {
				t.Errorf("dut %s, the link's dut: %s: refused: %v (%v)", device.name, end.name, got, err)
			}
		}
	}
}

func TestADurationThatIsNoneMakesOneFault(t *testing.T) {
	for text, wayOut := range map[string]string{"soon": "write a duration with its unit",
		"-1s": "write a duration with its unit", "1us": "write a duration with its unit",
		"1d": "write a duration with its unit", "60": "write a duration with its unit",
		"1234567s": "write at most 6 digits before the point"} {
		err := judged(t, []choice{devices[1], lineRates[0], {"ramp", "procedure: {ramp: {stepDuration: " + text + "}}"}})
		if err == nil || len(faultsOf(t, err)) != 1 || !strings.Contains(err.Error(), wayOut) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
