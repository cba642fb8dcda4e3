//go:build full

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// TestAFlood: of smallest frames one way, to addresses drawn anew for each, as fast as the generator sends, the device's limit comes back: as the generator counts it, and as the receiver's kernel does.
func TestAFlood(t *testing.T) {
	const limit = 10_000
	s := begin(t)
	s.network("west", s.resource("west"))
	s.network("east", s.resource("east"))
	s.sample("flood", fmt.Sprintf("dut: {reference: {limit: {packetsPerSecond: %d, burst: 20ms}}}", limit), "procedure: {maximumOfferedLoad: {warmupDuration: 1s, trialDuration: 5s, trials: 2}}")
	s.running("flood")
	heard := s.hear(1_000, "west")["west"]
	test := s.complete("flood", patience)
	s.want(test, "Accepted=", "Complete=True Measured")
	r := s.report(test)
	s.Log(r.Answer.EvidenceText())
	for _, fault := range (truth.Device{Limits: map[string]int64{truth.Direction("west", "east"): limit}, Burst: 20 * time.Millisecond}).Faults(r) {
		s.Error(fault)
	}
	for _, w := range r.Windows {
		if w.Phase == report.Trial && w.Counts() {
			d := w.Directions[0]
			s.Logf("trial %d of %v, which took %v: %d frames were sent, the limit let %+v through, and %d came back", w.Number, w.Duration.Std(), w.Took.Std(), d.Sent.Packets, d.Limiter, d.Returned.Packets)
			s.nearly(fmt.Sprintf("trial %d, what the receiver's kernel counted", w.Number), seenIn(w.Observed, "kernel", "received", "east"), float64(w.Directions[0].Received.PacketsPerSecond))
		}
	}
	s.drawn(heard)
	s.released("flood")
}

// drawn: of frames that follow each other most go to addresses of which one isn't the next of the other, and they go to nearly all that there are.
func (s *scene) drawn(heard []packet) {
	s.Helper()
	to, follow := map[string]bool{}, 0
	for i, p := range heard {
		to[p.to.Addr().String()] = true
		if i > 0 && p.to.Addr() == heard[i-1].to.Addr().Next() {
			follow++
		}
	}
	s.Logf("%d frames go to %d addresses; %d go to the address after that of the frame before", len(heard), len(to), follow)
	if len(heard) < 900 || len(to) < 200 || follow > len(heard)/10 {
		s.Errorf("%d frames go to %d addresses, %d of them to the next one: want 900 frames at least, 200 addresses, and no order", len(heard), len(to), follow)
	}
}

// TestGrids: suites of which each cell has a known answer, by their files, as a person plays them.
func TestGrids(t *testing.T) {
	t.Run("frame sizes by loads", func(t *testing.T) {
		s := begin(t)
		s.network("west", s.resource("west"))
		s.network("east", s.resource("east"))
		cells := s.grid("examples/suites/loss-grid.yaml",
			"maxRate: 30kpps, minRate: 5kpps, step: 5kpps, trialDuration: 2s,", "maxRate: 30kpps, minRate: 6kpps, step: 12kpps, warmupDuration: 1s, trialDuration: 3s,",
			"    - {name: 512b, patch: {traffic: {frameSize: 512}}}\n", "")
		for _, cell := range []string{"reference-64b", "reference-1518b"} {
			s.curve(cells[cell], 10_000, "west→east", "east→west")
		}
		s.types("report", "loss-grid", "-o", "html").wants(0, `class="heatmap"`, "")
	})
	t.Run("lanes, one alone and both at once", func(t *testing.T) {
		s := begin(t)
		s.network("lane-a", s.resource("west"))
		s.network("lane-b", fabric.ResourceOf("north"))
		cells := s.grid("config/samples/suites/lanes.yaml",
			"dut: {type: Reference}", "dut: {type: Reference, reference: {limit: {packetsPerSecond: 5000, burst: 20ms}}}",
			"procedure: {ramp: {stopAtSaturation: true}}", "procedure: {type: FrameLoss, frameLoss: {maxRate: 15kpps, minRate: 3kpps, step: 6kpps, warmupDuration: 1s, trialDuration: 3s, cleanTrials: 0}}",
			"  calibration: {margin: 10%}\n", "  exclusions: [{lanes: b}]\n")
		s.curve(cells["linux-a"], 5_000, "west→east", "east→west")
		s.curve(cells["linux-both"], 5_000, "west→east", "east→west", "north→south", "south→north")
	})
	t.Run("sessions through devices, and lengths of datagrams", func(t *testing.T) {
		s := begin(t)
		s.network("west", s.resource("west"))
		s.network("east", s.resource("east"))
		cells := s.grid("config/samples/suites/sessions-of-modes.yaml", " duration: 10s", " duration: 4s",
			"  axes:", "  parallelism: 2\n  exclusions: [{device: nat, load: udp-64}, {device: nat, load: udp-512}, {device: nat, load: udp-1400}, {device: bridge, load: udp-64}, {device: bridge, load: udp-512}, {device: bridge, load: udp-1400}]\n  axes:")
		for _, device := range []string{"router", "nat", "bridge"} {
			s.sessions(cells[device+"-tcp"], 20_000_000, 0)
		}
		for _, bytes := range []int64{64, 512, 1400} {
			s.sessions(cells[fmt.Sprintf("router-udp-%d", bytes)], 1_000*bytes*8, bytes)
		}
	})
}

// grid plays a suite's file of the project's, in which some words, given in pairs, are others, and returns the test of each cell.
func (s *scene) grid(file string, words ...string) map[string]*lineratev1alpha1.LoadTest {
	s.Helper()
	content, err := os.ReadFile("../../../" + file)
	s.must(err)
	text := string(content)
	for i := 0; i < len(words); i += 2 {
		if strings.Count(text, words[i]) != 1 {
			s.Fatalf("%s has %q %d times, want it once", file, words[i], strings.Count(text, words[i]))
		}
	}
	changed := filepath.Join(s.TempDir(), filepath.Base(file))
	s.must(os.WriteFile(changed, []byte(strings.NewReplacer(words...).Replace(text)), 0o600))
	begun := time.Now()
	said := s.types("run", changed).wants(0, "", "all measured")
	s.Logf("after %v:\n%s", time.Since(begun).Round(time.Second), said.out)
	var tests lineratev1alpha1.LoadTestList
	s.must(lab.Client.List(s.Context(), &tests, client.InNamespace(s.namespace)))
	cells := map[string]*lineratev1alpha1.LoadTest{}
	for i := range tests.Items {
		test := &tests.Items[i]
		cells[test.Labels[lineratev1alpha1.LabelCell]] = test
		for _, c := range verify.Report(s.report(test), "").Checks {
			for _, f := range c.Findings {
				s.Errorf("%s: the Report contradicts its counters: %s: %s", test.Name, c.Name, f.Message)
			}
		}
	}
	return cells
}

// curve: a test claims nothing that isn't so of a device with this limit in each direction, and where it was offered each load evenly, the status has what the limit takes of each.
func (s *scene) curve(t *lineratev1alpha1.LoadTest, limit int64, directions ...string) {
	s.Helper()
	if t == nil || t.Status.Result == nil {
		s.Fatalf("a cell has no result: it is at %s", state(t))
	}
	s.want(t, "Accepted=", "Complete=True Measured")
	device := truth.Device{Limits: map[string]int64{}, Burst: 20 * time.Millisecond}
	for _, d := range directions {
		device.Limits[d] = limit
	}
	r := s.report(t)
	for _, fault := range device.Faults(r) {
		s.Errorf("%s: %s", t.Name, fault)
	}
	if len(r.Answer.Figures) == 0 || len(r.Answer.Directions) != len(directions) {
		s.Errorf("%s: a curve of %d directions has %d figures: %s", t.Name, len(r.Answer.Directions), len(r.Answer.Figures), r.Answer.EvidenceText())
	}
	for _, w := range r.Windows {
		if disturbed := w.Phase == report.Trial && (!w.Counts() || slices.ContainsFunc(w.Directions, report.Direction.UnderOffered)); disturbed {
			s.Logf("%s is disturbed: window %d: %s", t.Name, w.Number, w.Reason)
			return
		}
	}
	s.losses(t, limit)
}

// sessions: one way goes the goodput that was asked for, within 1 %, or less for a reason that isn't the device's; datagrams that came have each the payload that was asked for, and all others are lost.
func (s *scene) sessions(t *lineratev1alpha1.LoadTest, bitsPerSecond, datagram int64) {
	s.Helper()
	if t == nil {
		s.Fatal("a cell has no test")
	}
	s.want(t, "Accepted=", "Complete=True Measured")
	r := s.report(t)
	if len(r.Path) == 0 || len(r.Answer.Directions) != 1 || r.Answer.Directions[0].Sessions == nil {
		s.Fatalf("%s: %d paths, and of one direction %+v: %s", t.Name, len(r.Path), r.Answer.Directions, r.Answer.EvidenceText())
	}
	for _, p := range r.Path {
		if translates := strings.Contains(p.Message, "the device translates addresses"); !p.Proven || translates != (r.Plan.DUT.Mode().NAT != nil) {
			s.Errorf("%s: %s→%s: proven: %v: %s", t.Name, p.From, p.To, p.Proven, p.Message)
		}
	}
	n := r.Answer.Directions[0].Sessions
	s.Logf("%s: %s: %s", t.Name, r.Answer.Reason, r.Answer.EvidenceText())
	off := float64(n.GoodputBitsPerSecond-bitsPerSecond) / float64(bitsPerSecond)
	if excused := r.Answer.Reason == report.GeneratorLimited || r.Answer.Reason == report.MachineLimited; off > 0.01 || off < -0.01 && !excused {
		s.Errorf("%s: %d bits/s of payload, %+.2f %% off %d, and the reason is %s", t.Name, n.GoodputBitsPerSecond, 100*off, bitsPerSecond, r.Answer.Reason)
	}
	if datagram == 0 {
		if n.Datagrams != nil || n.ReceivedBytes <= 0 || n.SentBytes < n.ReceivedBytes {
			s.Errorf("%s: of TCP %d bytes were received, and %d sent", t.Name, n.ReceivedBytes, n.SentBytes)
		}
		return
	}
	if d := n.Datagrams; d == nil || n.ReceivedBytes != d.Received*datagram || d.Received+d.Lost > d.Sent+100 || d.Received+d.Lost < d.Sent-100 {
		s.Errorf("%s: %d bytes were received in datagrams of %d: %+v", t.Name, n.ReceivedBytes, datagram, d)
	}
}
