package compile

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	generator "github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// Criteria may name the series that observers have, and no others: a demand that nothing can meet would be
// found out after hours of traffic.
func TestCriteriaMayNameTheSeriesThatObserversHave(t *testing.T) {
	moment := observe.Moment{At: time.Second, Limited: []report.Limiter{{Passed: 1}},
		Readings: []generator.Reading{{Instant: time.Second, Ports: map[int]generator.PortCounters{0: {HasKernel: true}},
			Processors: generator.Processors{Instant: time.Second, List: []generator.Processor{{Busy: time.Second}}},
			Signs:      everything()}}}
	for _, observer := range []v1alpha1.Observer{
		{Type: v1alpha1.ObserverProcessors, Observed: v1alpha1.ObserverOfGenerator},
		{Type: v1alpha1.ObserverLimiter, Observed: v1alpha1.ObserverOfDUT},
		{Type: v1alpha1.ObserverInterfaces, Observed: v1alpha1.ObserverOfGenerator},
		{Type: v1alpha1.ObserverInterfaces, Observed: v1alpha1.ObserverOfDUT},
		{Type: v1alpha1.ObserverMemory, Observed: v1alpha1.ObserverOfNode}, {Type: v1alpha1.ObserverLoad, Observed: v1alpha1.ObserverOfNode},
		{Type: v1alpha1.ObserverSoftIRQs, Observed: v1alpha1.ObserverOfNode},
		{Type: v1alpha1.ObserverFrequencies, Observed: v1alpha1.ObserverOfNode},
		{Type: v1alpha1.ObserverTemperatures, Observed: v1alpha1.ObserverOfNode},
	} {
		named, namedOfAll := seriesOf(observer)
		log := observe.NewLog([]plan.Observer{{Name: "it", Observed: string(observer.Observed), Type: string(observer.Type)}},
			observe.Setup{Generators: []string{"generator-0"}, Links: []map[int]string{{0: "west"}},
				Directions:  []plan.Direction{{From: "west", To: "east"}},
				Whereabouts: observe.Whereabouts{OneMachine: true}})
		log.Add(moment)
		var names []string
		ofAll := false
		for _, s := range log.Observations()[0].Series {
			names, ofAll = append(names, s.Name), ofAll || s.OfAll()
		}
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(names, slices.Sorted(slices.Values(named))) ||
			ofAll != namedOfAll || len(named) == 0 {
			t.Errorf("%s has %q, of all together %t; criteria may name %q, of all together %t", observer.Type, names,
				ofAll, named, namedOfAll)
		}
	}
}

// everything is what a machine tells that has all that there is.
func everything() (readings []signs.Reading) {
	for name, kind := range signs.Kinds {
		reading := signs.Reading{Type: name, At: time.Second}
		for _, s := range kind.Series {
			reading.Values = append(reading.Values, signs.Value{Series: s.Name,
				Part: map[bool]string{true: signs.OfAllProcessors, false: "one"}[s.OfAll]})
		}
		readings = append(readings, reading)
	}
	return readings
}

// Power alone is told per traffic, too.
func TestWhatIsTellingOfPower(t *testing.T) {
	for name, c := range map[string]struct {
		observer v1alpha1.Observer
		want     bool
	}{
		"watts of a query": {v1alpha1.Observer{Type: v1alpha1.ObserverPrometheus,
			Prometheus: &v1alpha1.PrometheusQuery{Unit: "W"}}, true},
		"degrees of a query": {v1alpha1.Observer{Type: v1alpha1.ObserverPrometheus,
			Prometheus: &v1alpha1.PrometheusQuery{Unit: "°C"}}, false},
		"watts of an outlet": {v1alpha1.Observer{Type: v1alpha1.ObserverSNMP, SNMP: &v1alpha1.SNMPObject{Unit: "W"}},
			true},
		"amperes":             {v1alpha1.Observer{Type: v1alpha1.ObserverSNMP, SNMP: &v1alpha1.SNMPObject{Unit: "A"}}, false},
		"a controller":        {v1alpha1.Observer{Type: v1alpha1.ObserverRedfish, Redfish: &v1alpha1.RedfishChassis{}}, true},
		"somebody's busyness": {v1alpha1.Observer{Type: v1alpha1.ObserverProcessors}, false},
	} {
		names, _ := seriesOf(c.observer)
		if got := slices.Contains(names, plan.WattsPerGbps); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestAnAgentsAddressHasAPort(t *testing.T) {
	for address, want := range map[string]string{"pdu.lab": "pdu.lab:161", "10.0.0.7:1161": "10.0.0.7:1161",
		"[2001:db8::7]": "[2001:db8::7]:161", "[2001:db8::7]:1161": "[2001:db8::7]:1161"} {
		observers := &observerReader{refusals: &refusals{}}
		if got := observers.withPort(nil, address, 161); got != want || len(observers.errs) > 0 {
			t.Errorf("%s: %s, %v; want %s", address, got, observers.errs, want)
		}
	}
}
