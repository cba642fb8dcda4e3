package compile

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	generator "github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Criteria may name the series that observers have, and no others: a demand that nothing can meet would be found out after hours of traffic.
func TestCriteriaMayNameTheSeriesThatObserversHave(t *testing.T) {
	moment := observe.Moment{At: time.Second, Limited: []report.Limiter{{Passed: 1}},
		Readings: []generator.Reading{{At: time.Second, Ports: map[int]generator.PortCounters{0: {KernelTold: true}}, Processors: generator.Processors{At: time.Second, Each: []generator.Processor{{Busy: time.Second}}}}}}
	for observer, named := range seriesOf {
		log := observe.NewLog([]plan.Observer{{Name: "it", Type: string(observer)}}, observe.Setup{Generators: []string{"generator-0"}, Links: []map[int]string{{0: "west"}}, Directions: []plan.Direction{{From: "west", To: "east"}}})
		log.Add(moment)
		var names []string
		ofAll := false
		for _, s := range log.Observations()[0].Series {
			names, ofAll = append(names, s.Name), ofAll || s.OfAll()
		}
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(names, slices.Sorted(slices.Values(named.names))) || ofAll != named.ofAll {
			t.Errorf("%s has %q, of all together %t; criteria may name %q, of all together %t", observer, names, ofAll, named.names, named.ofAll)
		}
	}
	for _, known := range []v1alpha1.ObserverType{v1alpha1.ObserverProcessors, v1alpha1.ObserverLimiter, v1alpha1.ObserverInterfaces} {
		if _, named := seriesOf[known]; !named {
			t.Errorf("no criterion may name a series of %s", known)
		}
	}
}
