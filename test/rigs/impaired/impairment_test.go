package impaired

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestMost(t *testing.T) {
	const permille = 0.001
	for _, c := range []struct {
		name    string
		i       Impairment
		allowed float64
		want    float64
	}{
		{"nothing is wrong", Impairment{}, permille, math.Inf(1)},
		{"a limit", Impairment{Limit: 10_000}, 0, 10_000},
		{"a limit, and a loss that is allowed", Impairment{Limit: 10_000}, permille, 10_010},
		{"less loss than is allowed", Impairment{LoseOneIn: 2000}, permille, math.Inf(1)},
		{"less loss than is allowed, and a limit", Impairment{LoseOneIn: 2000, Limit: 9_995}, permille, 10_005},
		{"more loss than is allowed", Impairment{LoseOneIn: 500, Limit: 10_000}, permille, 0},
		{"a little loss, and none is allowed", Impairment{LoseOneIn: 1_000_000}, 0, 0},
		{"a queue", Impairment{Limit: 10_000, Queue: time.Second}, 0, 10_000},
		{"a collapse", Impairment{Limit: 10_000, Wasted: 0.5}, 0, 10_000},
		{"a knee", Impairment{Limit: 10_000, Knee: &Knee{Begin: 0.95, Loss: 0.02}}, 0, 9_500},
		{"a knee, and a loss that is allowed", Impairment{Limit: 10_000, Knee: &Knee{Begin: 0.95, Loss: 0.02}},
			permille, 9_525},
		{"work", Impairment{Work: 100 * time.Microsecond}, 0, 10_000},
		{"a cold begin", Impairment{Limit: 10_000, Cold: &Cold{Duration: time.Second, Share: 0.8}}, 0, 10_000},
		{"delay, order and duplicates", Impairment{Limit: 10_000, Delay: time.Second, ReorderOneIn: 2,
			DuplicateOneIn: 2}, 0, 10_000},
	} {
		if got := c.i.MaxLoad(c.allowed); got != c.want && math.Abs(got-c.want) > 0.1 {
			t.Errorf("%s: %g packets/s, want %g", c.name, got, c.want)
		}
	}
}

func TestACollapseForwardsLessOfMore(t *testing.T) {
	i := Impairment{Limit: 10_000, Wasted: 0.25}
	for _, c := range []struct{ load, want float64 }{{8_000, 8_000}, {10_000, 10_000}, {20_000, 20_000. / 3},
		{40_000, 0}, {90_000, 0}} {
		if got := i.Forwards(c.load); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("of %g packets/s it forwards %g, want %g", c.load, got, c.want)
		}
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	for says, i := range map[string]Impairment{
		"": {Limit: 1, Queue: 1, Knee: &Knee{Begin: 0.5, Loss: 0.5}, Delay: 1,
			LoseOneIn: 2, DuplicateOneIn: 1, ReorderOneIn: 1, Work: 1, Room: 1},
		"are of a limit":                  {Queue: time.Second},
		"a queue saves and wastes":        {Limit: 1, Queue: 1, Wasted: 0.5},
		"from 0 to below 1":               {Limit: 1, Wasted: 1},
		"a knee's from and loss":          {Limit: 1, Knee: &Knee{Begin: 1, Loss: 0.5}},
		"cold is for a time":              {Limit: 1, Cold: &Cold{Share: 0.5}},
		"room is of frames that wait":     {Room: 1},
		"nothing may be negative":         {Delay: -1},
		"a device that loses every frame": {LoseOneIn: 1},
	} {
		err := i.Check()
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", i, err, says)
		}
	}
}
