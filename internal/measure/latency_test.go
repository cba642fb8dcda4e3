package measure

import (
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestLatencyOfWindowsTogether: a percentile of several windows is the longest of theirs, and isn't told where one
// of them doesn't tell it.
func TestLatencyOfWindowsTogether(t *testing.T) {
	window := func(frames, p50, all int64, tail bool) report.Window {
		l := report.Latency{FrameSize: 64, Frames: frames, Late: 1, Within: []report.Percentile{{Share: "p50", Nanoseconds: p50}}}
		if tail {
			l.Within = append(l.Within, report.Percentile{Share: "p99", Nanoseconds: all - 1})
		}
		l.Within = append(l.Within, report.Percentile{Share: "all", Nanoseconds: all, Open: all == 9})
		return report.Window{Duration: 1, Quality: report.Good, Directions: []report.Direction{{From: "west", To: "east", Quality: report.Good, Latency: []report.Latency{l}}}}
	}
	got := Combine([]report.Window{window(100, 5, 7, true), window(10, 3, 9, false)}).Directions[0].Latency
	want := []report.Latency{{FrameSize: 64, Frames: 110, Late: 2, Within: []report.Percentile{{Share: "p50", Nanoseconds: 5}, {Share: "all", Nanoseconds: 9, Open: true}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
