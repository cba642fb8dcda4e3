package stl

import (
	"reflect"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/trex"
)

// Each count has a value of its own here, so that none is taken for another, and none is left out.
func TestWhatNumbersTell(t *testing.T) {
	got := followed(trex.Followed{Received: 1, Lost: 2, Duplicate: 3, Late: 4, Stale: 5, Merged: 6, Uncounted: 7, Varied: 8, Changes: 9})
	if want := (engine.Followed{Received: 1, Duplicates: 3, Late: 4, Stale: 5, Merged: 6, Uncounted: 7, Varied: 8, Changes: 9}); !reflect.DeepEqual(got, want) {
		t.Errorf("followed %+v, want %+v", got, want)
	}
	seen := trex.Latency{Min: 10, Average: 11, Max: 12, Jitter: 13, Histogram: map[time.Duration]int64{14: 15},
		Errors: trex.LatencyErrors{Dropped: 16, OutOfOrder: 17, Duplicate: 18, SequenceTooHigh: 19, SequenceTooLow: 20}}
	want := engine.LatencyStats{Min: 10, Average: 11, Max: 12, Jitter: 13, Histogram: map[time.Duration]int64{14: 15}, Dropped: 16, OutOfOrder: 17, Duplicate: 18, SequenceTooHigh: 19, SequenceTooLow: 20}
	if got := latencyStats(trex.FlowCounters{}, seen); !reflect.DeepEqual(got, want) {
		t.Errorf("a latency stream's %+v, want %+v", got, want)
	}
	seen.Histogram = nil
	if got, err := sampled(trex.FlowCounters{}, seen); err != nil || !reflect.DeepEqual(got, engine.Followed{Duplicates: 18, Late: 17}) {
		t.Errorf("a sample's %+v, %v", got, err)
	}
}
