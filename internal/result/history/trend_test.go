package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

func TestTrend(t *testing.T) {
	var records []history.Record
	for day, packetsPerSecond := range []int64{1000, 1002, 1001, 900, 1003, 1002, 1001, 951, 950, 952, 951} {
		records = append(records, record(day, packetsPerSecond*1000))
	}
	records = append(records, record(20, 500_000, to(50)), record(21, 501_000, to(50)), record(22, 501_000, to(50), limited(7)), record(23, 0, to(50), limited(7), lost), record(24, 499_000, to(50), limited(7), weak),
		record(3, 7, called("VPP", "64b")))
	records[0], records[9] = records[9], records[0] // files come in any order
	trend := history.Trend("nightly", records, nil)
	if len(trend.Series) != 2 || trend.Series[0].Product != "Linux" || trend.Series[1].Product != "VPP" {
		t.Fatalf("%+v", trend.Series)
	}
	s := trend.Series[0]
	var outliers, plans, devices, missing []int
	for i, p := range s.Points {
		if i > 0 && p.StartTime.Before(s.Points[i-1].StartTime) {
			t.Errorf("point %d isn't in order", i)
		}
		for list, is := range map[*[]int]bool{&outliers: p.Outlier, &plans: len(p.PlanChange) > 0, &devices: len(p.DeviceChange) > 0, &missing: p.Missing != nil} {
			if is {
				*list = append(*list, i)
			}
		}
	}
	if got := fmt.Sprint(outliers, plans, devices, missing); got != "[3] [11] [13] [14]" {
		t.Errorf("outliers, changes of the plan and of the device, and gaps are %s", got)
	}
	if len(s.Stretches) != 3 || s.Stretches[0].Last != 10 || s.Stretches[1].First != 11 || s.Stretches[0].Figures.PacketsPerSecond != 1_000_000 || s.Stretches[2].Figures.Runs != 2 {
		t.Errorf("%+v", s.Stretches)
	}
}

func TestATrendHasNoCommonFigureOfTwoLineRates(t *testing.T) {
	records := append(runs(5, 1_000_000, ports(10*units.Gbps)), record(6, 2_500_000, ports(25*units.Gbps)), record(7, 2_500_000, ports(25*units.Gbps)))
	s := history.Trend("nightly", records, nil).Series[0]
	if len(s.Stretches) != 2 || s.Stretches[1].Figures.PacketsPerSecond != 2_500_000 || len(s.Points[5].PlanChange) != 1 || !strings.Contains(s.Points[5].PlanChange[0], "link west is 10gbps") {
		t.Errorf("%+v, %+v", s.Stretches, s.Points[5])
	}
}

func TestATrendHasEachRunOnce(t *testing.T) {
	records := runs(3, 1_000_000)
	records = append(records, history.Record{Name: "copy.json", Report: records[1].Report})
	if s := history.Trend("nightly", records, nil).Series[0]; len(s.Points) != 3 || s.Stretches[0].Figures.Runs != 3 {
		t.Errorf("%+v", s.Points)
	}
}

// TestAnOutlierIsFarFromItsNeighbours: by 3.5 times as much as they usually vary, as a standard deviation, and by 1
// % at least. Lower bounds are none, and don't count as neighbours.
func TestAnOutlierIsFarFromItsNeighbours(t *testing.T) {
	for name, c := range map[string]struct {
		rates    []int64
		bound    int // the point that is a lower bound; -1: none is
		outliers string
	}{
		"they vary by 18 each":             {[]int64{1000, 1012, 988, 1012, 988, 1050, 1000}, -1, "[]"},
		"and one is farther than 62":       {[]int64{1000, 1012, 988, 1012, 988, 1070, 1000}, -1, "[5]"},
		"they vary by nothing":             {[]int64{1000, 1000, 1000, 1009, 1000, 1000, 1000}, -1, "[]"},
		"and one is farther than 1 %":      {[]int64{1000, 1000, 1000, 1011, 1000, 1000, 1000}, -1, "[3]"},
		"and one is only a lower bound":    {[]int64{1000, 1000, 1000, 700, 1000, 1000, 1000}, 3, "[]"},
		"too few to find the odd one":      {[]int64{1000, 1000, 700}, -1, "[]"},
		"as many, but for one lower bound": {[]int64{1000, 1000, 700, 1000}, 3, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			var records []history.Record
			for day, rate := range c.rates {
				var options []option
				if day == c.bound {
					options = append(options, weak)
				}
				records = append(records, record(day, rate*1000, options...))
			}
			outliers := []int{}
			for i, p := range history.Trend("nightly", records, nil).Series[0].Points {
				if p.Outlier {
					outliers = append(outliers, i)
				}
			}
			if got := fmt.Sprint(outliers); got != c.outliers {
				t.Errorf("outliers are %s, want %s", got, c.outliers)
			}
		})
	}
}

// TestTheLineRateIsThatOfTheSlowerLink, whichever way frames go.
func TestTheLineRateIsThatOfTheSlowerLink(t *testing.T) {
	out := history.RFC2544([]*report.Report{record(1, 1_000_000, ports(10*units.Gbps)).Report})
	if len(out.Throughput) != 2 {
		t.Fatalf("%+v", out)
	}
	for _, p := range out.Throughput {
		if p.Stream.LineRate != units.Gbps {
			t.Errorf("%s: %d bit/s between links of 10 and 1 Gbit/s", p.Stream.Direction, p.Stream.LineRate)
		}
	}
}
