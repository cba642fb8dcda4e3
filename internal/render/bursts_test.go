package render

import (
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestBurstsTable(t *testing.T) {
	r := reporttest.Measured()
	if got := burstsTable(r); got != nil {
		t.Errorf("without bursts %q", got.rows)
	}
	interval := func(low, high report.Number) report.BurstFigure { return report.BurstFigure{Low: low, High: high} }
	r.Result.Directions[0].BackToBack = &report.BackToBackFrames{Searches: []report.BurstSearch{{Clean: 1390, Lossy: 1401, Bursts: 3}, {Clean: 1400, Lossy: 1410, Bursts: 2}}, Deviation: "7.071",
		OfferedPacketsPerSecond: "20000", ForwardedPacketsPerSecond: "10000", Timed: true, Frames: interval("1395", "1404.5"), Buffer: interval("697.5", "702.25"), BufferMicroseconds: interval("34875", "35112.5")}
	r.Result.Directions[1].BackToBack = &report.BackToBackFrames{Searches: []report.BurstSearch{{Clean: 40_000, Bursts: 1}}, OfferedPacketsPerSecond: "20000",
		Frames: interval("40000", "")}
	there, back := r.Result.Directions[0].Name(), r.Result.Directions[1].Name()
	want := [][]string{
		{there, "1,395", "1,390", "1,400", "7", "2", "20.00 Kpps", "10.00 Kpps", "698", "34.9 ms"},
		{back, "≥40,000", "40,000", "40,000", "–", "1", "20.00 Kpps", "unknown", "unknown", "unknown"},
	}
	if got := burstsTable(r).rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
