package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// A machine that tells of other parts each time, under long names, would fill the runner's memory in seconds.
func TestAMachineThatMakesUpPartsOfItselfFillsNoMemory(t *testing.T) {
	log := signsOf(plan.OfDUT, signs.Temperatures)
	for at := time.Duration(0); at < 8*time.Second; at += time.Second {
		told := signs.Reading{Type: signs.Temperatures, Values: []signs.Value{{Series: "temperature", Part: strings.Repeat("x", 4096), Number: 1}}}
		for i := range 1000 {
			told.Values = append(told.Values, signs.Value{Series: "temperature", Part: fmt.Sprintf("sensor %d of %s", i, at), Number: 1})
		}
		log.Add(tells(at, told))
	}
	all := log.Observations()
	if n := len(all[0].Series); n != 1024 {
		t.Errorf("it is followed for %d series", n)
	}
	for _, s := range all[0].Series {
		if len(s.Subject) > 256 {
			t.Errorf("a series has a name of %d bytes", len(s.Subject))
		}
	}
}
