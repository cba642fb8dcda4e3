package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/history"
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
		if i > 0 && p.At.Before(s.Points[i-1].At) {
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
