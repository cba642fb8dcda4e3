//go:build full

package realpackets

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

// TestAServerOnEachLinkMeasuresTheDevice: two generators run already, each with one port on one link, and a device forwards 5 000 packets/s each way.
func TestAServerOnEachLinkMeasuresTheDevice(t *testing.T) {
	beside(t)
	const limit = 5_000
	rig := newRig(t, 2)
	rig.route(t)
	rig.limitEach(t, 10*time.Millisecond, limit, limit)
	rig.generateOn(t, "g0")
	rig.generateOn(t, "g1", "--listen", "127.0.0.1:4502")
	r := rig.external(t, `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: servers}
spec:
  generator: {engine: Software, placement: {servers: [{address: "127.0.0.1:4502", link: east}, {address: "127.0.0.1", link: west}]}}
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 8kpps, warmupDuration: 1s, trialDuration: 5s, trials: 1}}
`)
	if !r.Answer.Measured || len(r.Answer.Directions) != 2 {
		t.Fatalf("ending %s, reason %s: %s", r.Ending, r.Answer.Reason, r.Message)
	}
	for _, d := range r.Answer.Directions {
		if got := d.Received.PacketsPerSecond; got < limit*98/100 || got > limit*102/100 || d.Sent.Packets < 7_000*5 {
			t.Errorf("%s→%s: %d packets/s of %d frames sent, want the device's %d", d.From, d.To, got, d.Sent.Packets, limit)
		}
	}
}

// TestAServerOfEngineSoftwareTimesEveryFrame: a generator that runs already times frames that a device holds up, as one that linerate starts does.
func TestAServerOfEngineSoftwareTimesEveryFrame(t *testing.T) {
	needRoot(t)
	rig := newRig(t, 2)
	device := rig.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{{Delay: 400 * time.Microsecond}, {Delay: 2 * time.Millisecond}}, Records: true})
	rig.generate(t)
	r := rig.external(t, strings.NewReplacer("{engine: Software}", `{engine: Software, placement: {servers: [{address: "127.0.0.1"}]}}`, "%s, flows",
		"FixedSize, frameSize: 128, flows", "rate: %s", "rate: 5kpps").Replace(stampedTest))
	held, err := device.Residences()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range timedDirections(t, r) {
		if len(d.Latency) != 1 {
			t.Errorf("%s has %d latencies, want those of one size", d.Name(), len(d.Latency))
		}
		for _, l := range d.Latency {
			asRecorded(t, d.Name(), l, held[entry[d.From]][int(l.FrameSize)], 0)
		}
	}
}
