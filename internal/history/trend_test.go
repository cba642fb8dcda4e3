package history_test

import (
	"fmt"
	"testing"

	"github.com/linerate-dev/linerate/internal/history"
)

func TestTrend(t *testing.T) {
	var records []history.Record
	for day, packetsPerSecond := range []int64{1000, 1002, 1001, 900, 1003, 1002, 1001, 951, 950, 952, 951} {
		records = append(records, record(day, packetsPerSecond*1000))
	}
	records = append(records, record(20, 500_000, to(50)), record(21, 501_000, to(50)), record(22, 501_000, to(50), limited(7)), record(23, 0, to(50), limited(7), lost), record(24, 499_000, to(50), limited(7), weak),
		record(3, 7, called("VPP", "64b")))
	records[0], records[9] = records[9], records[0] // files come in any order
	trend := history.Trend("nightly", records)
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
