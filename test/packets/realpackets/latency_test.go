//go:build full

package realpackets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
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
			device := r.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{{Delay: c.there}, {Delay: c.back}}, Records: true})
			got := r.report(t, "run", writeFile(t, "held.yaml", fmt.Sprintf(stampedTest, c.profile, c.rate)), "-o", "json", "--save", "", "--ports", r.portList())
			held, err := device.Residences()
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range timedDirections(t, got) {
				for _, l := range d.Latency {
					asRecorded(t, d.Name(), l, held[entry[d.From]][int(l.FrameSize)], 0)
				}
			}
		})
	}
}

// byLoadTest holds a load, and then measures latency at shares of it.
const byLoadTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: held-by-load}
spec:
  generator: {engine: Software}
  dut: %s
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 128, flows: {count: 16}}
  procedure:
    type: ConstantLoad
    constantLoad: {rate: 10kpps, warmupDuration: 1s, duration: 5s, window: 5s}
    latency: {loads: [0%%, 50%%, 100%%], trialDuration: 10s}
  criteria:
  - {name: short-enough, metric: LatencyP50, latency: {load: 50%%}, max: "1000000"}
  - {name: too-long, metric: LatencyP50, latency: {load: 100%%}, max: "1000"}
`

// heldAt is what the device had recorded at a moment.
type heldAt struct {
	at   time.Time
	held [2]impaired.Residence
}

// recordings reads the device's record again and again, until the context ends.
func recordings(ctx context.Context, t *testing.T, device *impaired.Device) (all []heldAt) {
	t.Helper()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		held, err := device.Residences()
		if err != nil {
			t.Error(err)
			return all
		}
		all = append(all, heldAt{time.Now(), held})
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return all
		}
	}
}

// during is what the device recorded in a window: between the last reading before it and the first one after it, as nothing is sent around a trial.
func during(t *testing.T, all []heldAt, r *report.Report, w report.Window) (held [2]impaired.Residence) {
	t.Helper()
	begin := r.Started.Add(w.Start.Std())
	end := begin.Add(w.Took.Std())
	first, last := slices.IndexFunc(all, func(h heldAt) bool { return h.at.After(begin) })-1, slices.IndexFunc(all, func(h heldAt) bool { return h.at.After(end) })
	if first < 0 || last < 0 {
		t.Fatalf("window %d, from %v to %v: the device's record isn't known at both ends", w.Number, begin, end)
	}
	for i := range held {
		held[i] = impaired.Residence{}
		for size, of := range all[last].held[i] {
			held[i][size] = of.Since(all[first].held[i][size])
		}
	}
	return held
}

// TestHeldFramesByLoad: after a load that was held, latency at each share of it is what the device recorded of that very trial, whoever sends. Of single frames it is that and at most what the generator's own
// part is: a Loopback beside it shows how much. A hundred frames a second find the kernel's code cold each time, the generator's as well as the device's.
func TestHeldFramesByLoad(t *testing.T) {
	needRoot(t)
	for _, path := range []string{"af_xdp", "live"} {
		t.Run(path, func(t *testing.T) {
			own := ownPart(t, path)
			r := newRig(t, 2)
			if path == "live" {
				in(t, r.device, func() error { return errors.Join(netif.AcceptXDP("d0"), netif.AcceptXDP("d1")) })
			}
			heldByLoad(t, r, path, own)
		})
	}
}

// ownPart is the median of single frames without a device, of the slower direction.
func ownPart(t *testing.T, path string) (own time.Duration) {
	t.Helper()
	got := newRig(t, 0).report(t, "run", writeFile(t, "loopback.yaml", fmt.Sprintf(byLoadTest, "{type: Loopback}")), "-o", "json", "--save", "", "--path", path)
	for _, f := range got.Answer.Figures {
		if f.Metric == figures.LatencyP50 && f.Missing == "" {
			median := time.Duration(cmp.Or(f.High, f.Low).Float())
			t.Logf("a Loopback at %v, %s: the median is %v", *f.LatencyLoad, f.Direction, median)
			if *f.LatencyLoad == 0 {
				own = max(own, median)
			}
		}
	}
	if own == 0 {
		t.Fatalf("a Loopback has no latency of single frames: %+v", got.Answer.Figures)
	}
	return own
}

func heldByLoad(t *testing.T, r *rig, path string, own time.Duration) {
	t.Helper()
	device := r.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{{Delay: 400 * time.Microsecond}, {Delay: 200 * time.Microsecond}}, Records: true})
	ctx, end := context.WithCancel(t.Context())
	var recorded []heldAt
	var reading sync.WaitGroup
	reading.Go(func() { recorded = recordings(ctx, t, device) })
	got := r.report(t, "run", writeFile(t, "byload.yaml", fmt.Sprintf(byLoadTest, "{type: Device, forwarding: L2}")), "-o", "json", "--save", "", "--ports", r.portList(), "--path", path)
	end()
	reading.Wait()
	var trials []report.Window
	for _, w := range got.Windows {
		if w.Phase == report.AtLoad {
			trials = append(trials, w)
		}
	}
	if len(trials) != 3 || got.Answer.Window == 0 {
		t.Fatalf("%+v", got.Answer)
	}
	if sends := got.Generators[0].Ports[0].Path; path == "live" != strings.HasPrefix(sends, "sends by live frames") {
		t.Errorf("west %s, asked to by %s", sends, path)
	}
	for n, w := range trials {
		at, allowed := got.Plan.Procedure.Latency.Loads[n], time.Duration(0)
		if at == 0 {
			allowed = own
		}
		held := during(t, recorded, got, w)
		for _, d := range w.Directions {
			if len(d.Latency) != 1 || d.UnderOffered() {
				t.Errorf("at %v, %s: %+v", at, d.Name(), d)
				continue
			}
			want, returned := held[entry[d.From]][int(d.Latency[0].FrameSize)], d.Returned.Packets
			if int64(want.Frames()) != returned {
				t.Errorf("at %v, %s: the device recorded %d frames, and %d came back", at, d.Name(), want.Frames(), returned)
			}
			asRecorded(t, fmt.Sprintf("at %v, %s", at, d.Name()), d.Latency[0], want, allowed)
		}
	}
	for i, outcome := range []report.Outcome{report.Passed, report.DidFail} {
		if c := got.Verdict.Criteria[i]; c.Outcome != outcome {
			t.Errorf("%s: %s: %s", c.Name, c.Outcome, c.Message)
		}
	}
}

// asRecorded holds percentiles against what the device recorded of the same frames. Own is how much more they may be, as the generator's own part.
func asRecorded(t *testing.T, where string, l report.Latency, want transit.Histogram, own time.Duration) {
	t.Helper()
	for share, off := range map[transit.Share]time.Duration{transit.P50: medianOff, transit.P999: tailOff} {
		recorded, _ := want.Percentile(share)
		if share == transit.P999 {
			off = max(off, time.Duration(tailShare*float64(recorded)))
		}
		shortest, longest := transit.Bounds(transit.Index(recorded))
		off += longest - shortest
		p, told := l.Of(share.String())
		late := time.Duration(p.Nanoseconds) - recorded
		t.Logf("%s, %d bytes: %v %v, the device %v, the generator's own part at most %v", where, l.FrameSize, share, time.Duration(p.Nanoseconds), recorded, own)
		if !told && l.Frames > 20_000 || told && (late < -off || late > own+off) {
			t.Errorf("%s, %d bytes: %v is %v (told: %v), and the device held frames for %v", where, l.FrameSize, share, time.Duration(p.Nanoseconds), told, recorded)
		}
	}
}

// timedDirections are the directions of the Report's result, in each of which all that came back was timed.
func timedDirections(t *testing.T, r *report.Report) []report.Direction {
	t.Helper()
	if len(r.Untimed) > 0 || len(r.Answer.Directions) != 2 {
		t.Fatalf("%d directions, untimed %+v", len(r.Answer.Directions), r.Untimed)
	}
	for _, d := range r.Answer.Directions {
		timed := d.Unstamped
		for _, l := range d.Latency {
			timed += l.Frames + l.Merged
		}
		if timed != d.Returned.Packets || d.Unstamped > 0 {
			t.Errorf("%s: %d frames came back, %d of them are in the latency and %d bear no stamp", d.Name(), d.Returned.Packets, timed, d.Unstamped)
		}
	}
	return r.Answer.Directions
}

// TestStampsShowDuplicatesAndReordering: one frame in so many comes twice, and others behind later ones: each of them is told.
func TestStampsShowDuplicatesAndReordering(t *testing.T) {
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
