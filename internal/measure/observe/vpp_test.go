package observe_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

func perSecond(of, series string, rate float64) report.Observed {
	return report.Observed{Observer: "vpp", Series: series, Subject: of, Unit: map[string]string{"clocks": "clocks", "vectors": "packets", "calls": "calls"}[series] + "/s", Mean: new(rate)}
}

func TestWhatAPacketTakesOfEachNode(t *testing.T) {
	all := observe.PerPacket([]report.Observed{
		perSecond("ip4-lookup", "clocks", 30e6), perSecond("ip4-lookup", "vectors", 1e6), perSecond("ip4-lookup", "calls", 4e3),
		perSecond("idle", "clocks", 10), perSecond("idle", "vectors", 0), perSecond("idle", "calls", 5),
		{Observer: "vpp", Series: "clocks", Subject: "late", Unit: "clocks/s", Missing: "there is no answer yet"},
		{Observer: "cpu", Series: "busy", Subject: "processor 1", Mean: new(1.0)},
	})
	got := map[string]report.Observed{}
	for _, o := range all {
		got[o.Subject+" "+o.Series] = o
	}
	if o := got["ip4-lookup clocksPerPacket"]; o.Mean == nil || *o.Mean != 30 || o.Unit != "clocks/packet" || o.Observer != "vpp" {
		t.Errorf("%+v, want 30 clocks a packet", o)
	}
	if o := got["ip4-lookup vectorsPerCall"]; o.Mean == nil || *o.Mean != 250 {
		t.Errorf("%+v, want 250 packets a call", o)
	}
	if o := got["idle clocksPerPacket"]; o.Mean != nil || o.Missing != "no packet passed the node in the window" {
		t.Errorf("%+v", o)
	}
	if o := got["late clocksPerPacket"]; o.Mean != nil || o.Missing != "there is no answer yet" {
		t.Errorf("%+v", o)
	}
	if len(all) != 6 {
		t.Errorf("%d series, want two of each of three nodes", len(all))
	}
}
