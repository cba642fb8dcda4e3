package stl

import (
	"reflect"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/units"
)

// Each count has a value of its own here, so that none is taken for another, and none is left out.
func TestWhatNumbersTell(t *testing.T) {
	got := followed(trex.Followed{Received: 1, Duplicate: 3, Late: 4, Stale: 5, Merged: 6, Uncounted: 7,
		Varied: 8, Changes: 9})
	if want := (engine.Followed{Received: 1, Duplicates: 3, Late: 4, Stale: 5, Merged: 6, Uncounted: 7, Varied: 8,
		Changes: 9}); !reflect.DeepEqual(got, want) {
		t.Errorf("followed %+v, want %+v", got, want)
	}
	latency := trex.Latency{Min: 10, Average: 11, Max: 12, Jitter: 13, Histogram: map[time.Duration]int64{14: 15},
		Errors: trex.LatencyErrors{Dropped: 16, OutOfOrder: 17, Duplicate: 18, SequenceTooHigh: 19, SequenceTooLow: 20}}
	want := engine.LatencyStats{Min: 10, Average: 11, Max: 12, Jitter: 13, Histogram: map[time.Duration]int64{14: 15},
		Dropped: 16, OutOfOrder: 17, Duplicate: 18, SequenceTooHigh: 19, SequenceTooLow: 20}
	if got := latencyStats(trex.FlowCounters{}, latency); !reflect.DeepEqual(got, want) {
		t.Errorf("a latency stream's %+v, want %+v", got, want)
	}
	latency.Histogram = nil
	if got, err := sampled(trex.FlowCounters{}, latency); err != nil ||
		!reflect.DeepEqual(got, engine.Followed{Duplicates: 18, Late: 17}) {
		t.Errorf("a sample's %+v, %v", got, err)
	}
}

// A port's bytes are TRex's own and include each frame's FCS. A frame that was given with 60 bytes counts as 64 here,
// sent as well as received.
func TestAPortsBytesAreThoseOfTheServer(t *testing.T) {
	e := &Engine{portHistory: newPortHistory(1, "test")}
	stats := trex.PortStats{SentPackets: 10, SentBytes: 640, ReceivedPackets: 5, ReceivedBytes: 320}
	port := e.reading(trex.Snapshot{Ports: map[int]trex.PortStats{0: stats}}).Ports[0]
	if port.Sent != (units.Traffic{Packets: 10, Bytes: 640}) ||
		port.Received != (units.Traffic{Packets: 5, Bytes: 320}) {
		t.Errorf("sent %+v, received %+v", port.Sent, port.Received)
	}
}
