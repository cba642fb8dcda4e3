//go:build full

package realpackets

import (
	"fmt"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/transit"
	"github.com/linerate-dev/linerate/test/impaired"
)

// stampedTest times each frame that a device of the test's own holds up.
const stampedTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: held}
spec:
  generator: {engine: Software}
  dut: {type: Device, forwarding: L2}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: %s, flows: {count: 16}, stamps: EveryFrame}
  procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {rate: %s, warmupDuration: 0s, trialDuration: 20s, trials: 1}}
`

// How far percentiles may be from what the device recorded, besides the width of a bucket: the median at most medianOff, p99.9 a share or so long, whichever is more.
const (
	medianOff = 5 * time.Microsecond
	tailOff   = 20 * time.Microsecond
	tailShare = 0.05
)

// TestHeldFrames: a device holds frames for a known time, and records for how long it held each. What a Report says of them is that, both ways at once and in each frame size.
func TestHeldFrames(t *testing.T) {
	needRoot(t)
	for _, c := range []struct {
		profile, rate string
		there, back   time.Duration
	}{
		{"IMIX", "5kpps", 400 * time.Microsecond, 200 * time.Microsecond},
		{"FixedSize, frameSize: 64", "10kpps", 300 * time.Microsecond, 5 * time.Millisecond},
	} {
		t.Run(c.profile+" at "+c.rate, func(t *testing.T) {
			r := newRig(t, 2)
			device := r.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{{Delay: c.there}, {Delay: c.back}}})
			got := r.report(t, "run", writeFile(t, "held.yaml", fmt.Sprintf(stampedTest, c.profile, c.rate)), "-o", "json", "--save", "", "--ports", r.portList())
			held, err := device.Held()
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range timedDirections(t, got) {
				for _, l := range d.Latency {
					want := held[entry[d.From]][int(l.FrameSize)]
					for share, off := range map[transit.Share]time.Duration{transit.P50: medianOff, transit.P999: tailOff} {
						recorded, _ := want.Within(share)
						if share == transit.P999 {
							off = max(off, time.Duration(tailShare*float64(recorded)))
						}
						shortest, longest := transit.Bounds(transit.Index(recorded))
						off += longest - shortest
						p, told := l.Of(share.String())
						late := time.Duration(p.Nanoseconds) - recorded
						t.Logf("%s, %d bytes: %v %v, the device %v", d.Name(), l.FrameSize, share, time.Duration(p.Nanoseconds), recorded)
						if !told && l.Frames > 20_000 || told && max(late, -late) > off {
							t.Errorf("%s, %d bytes: %v is %v (told: %v), and the device held frames for %v", d.Name(), l.FrameSize, share, time.Duration(p.Nanoseconds), told, recorded)
						}
					}
				}
			}
		})
	}
}

// timedDirections are the directions of the Report's result, in each of which all that came back was timed.
func timedDirections(t *testing.T, r *report.Report) []report.Measured {
	t.Helper()
	if len(r.Untimed) > 0 || len(r.Result.Directions) != 2 {
		t.Fatalf("%d directions, untimed %+v", len(r.Result.Directions), r.Untimed)
	}
	for _, d := range r.Result.Directions {
		timed := d.Unstamped
		for _, l := range d.Latency {
			timed += l.Frames + l.Merged
		}
		if timed != d.Returned.Packets || d.Unstamped > 0 {
			t.Errorf("%s: %d frames came back, %d of them are in the latency and %d bear no stamp", d.Name(), d.Returned.Packets, timed, d.Unstamped)
		}
	}
	return r.Result.Directions
}

// TestStampsTellWhatTheDeviceDid: one frame in so many comes twice, and others behind later ones: each of them is told.
func TestStampsTellWhatTheDeviceDid(t *testing.T) {
	needRoot(t)
	const twiceIn, lateIn = 6000, 50 // the path check's frames are fewer than the first that comes twice
	r := newRig(t, 2)
	device := r.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{{DuplicateOneIn: twiceIn}, {ReorderOneIn: lateIn}}})
	got := r.report(t, "run", writeFile(t, "told.yaml", fmt.Sprintf(stampedTest, "FixedSize, frameSize: 128", "3kpps")), "-o", "json", "--save", "", "--ports", r.portList())
	counts, err := device.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range timedDirections(t, got) {
		l := d.Latency[0]
		if d.From == "west" {
			if l.Duplicates == 0 || l.Duplicates > counts[0].Doubled || l.Duplicates < counts[0].Doubled-2 || l.Late+l.Stale > 0 {
				t.Errorf("%d of %d frames came twice and %d late, of %d that the device doubled in all", l.Duplicates, l.Frames, l.Late, counts[0].Doubled)
			}
			continue
		}
		if share := float64(l.Late) / float64(l.Frames); l.Duplicates+l.Stale > 0 || share < 0.8/lateIn || share > 1.2/lateIn {
			t.Errorf("%d of %d frames came late, and %d twice, where one in %d of each flow leaves behind the next", l.Late, l.Frames, l.Duplicates, lateIn)
		}
	}
}
