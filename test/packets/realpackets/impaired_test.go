package realpackets

import (
	"fmt"
	"math"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// impair makes the rig's device a wire between its two ports, which are the Spec's interfaces. A LoadTest has it as dut: {type: Device, forwarding: L2}.
func (r *rig) impair(t *testing.T, s impaired.Spec) *impaired.Device {
	t.Helper()
	s.Interfaces = [2]string{"d0", "d1"}
	d, err := impaired.Start(r.device, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// entry is the port of the device that a link leads to.
var entry = map[string]int{"west": 0, "east": 1}

// truthOf is what can be known of such a device between west and east, for a test that allows so much loss: of both directions, or of west→east alone.
func truthOf(ports [2]impaired.Impairment, oneWay bool, lossAllowed float64) truth.Device {
	const there, back = "west→east", "east→west"
	by := map[string]impaired.Impairment{there: ports[0]}
	if !oneWay {
		by[back] = ports[1]
	}
	d := truth.Device{Limits: map[string]int64{}, Weakest: map[string]int64{}, Forwards: func(direction string, load float64) float64 { return by[direction].Forwards(load) }}
	for direction, i := range by {
		d.Limits[direction] = int64(math.Round(min(i.MaxLoad(lossAllowed), 1e9)))
		if d.Weakest[direction] = d.Limits[direction]; i.Cold != nil {
			d.Weakest[direction] = int64(float64(i.Limit) * i.Cold.Share)
		}
		d.Burst = max(d.Burst, i.Saves, i.Queue)
	}
	return d
}

// countFaults holds a Report's counters against the device's own: what was sent came to it, what came back had left it, and it lost what the Report misses.
func countFaults(r *report.Report, counts [2]impaired.Counts) (faults []string) {
	differ := func(what string, counted, crossed int64) {
		if more := crossed - counted; more < 0 || more > beyondLoad {
			faults = append(faults, fmt.Sprintf("%s %d frames by the Report, and %d by the device", what, counted, crossed))
		}
	}
	for _, total := range r.Totals {
		c := counts[entry[total.From]]
		numbered := numberedOf(r, total.From, total.To)
		differ(total.From+" sent", total.Sent.Packets+int64(numbered.Sent), c.Came)
		differ(total.To+" got back", total.Returned.Packets+total.ReceiveErrors+int64(numbered.Received), c.Departed)
		if c.Missed > 0 {
			faults = append(faults, fmt.Sprintf("the device isn't what it should be: it was too slow for %d frames that entered on %s", c.Missed, total.From))
		}
		if c.Inside != 0 {
			faults = append(faults, fmt.Sprintf("%d frames from %s are still in the device", c.Inside, total.From))
		}
	}
	return faults
}
