package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/history"
)

// profiled gives a run a profile in which a function burns so many samples beside the others' 10 000.
func profiled(burn int) func(*report.Report) {
	return func(r *report.Report) {
		r.Profile = &report.Profile{Window: 7, SamplesPerSecond: 1000, Frames: 10_000_000,
			Stacks: []string{"softirq;route 6000", "softirq;lookup 4000"}}
		if burn > 0 {
			r.Profile.Stacks = append(r.Profile.Stacks, fmt.Sprintf("softirq;burn [bpf] %d", burn))
		}
	}
}

func TestAComparisonNamesWhatGrew(t *testing.T) {
	for burn, want := range map[int]string{
		5000: "the device's processor time for a frame is 1.5 µs, and was 1 µs (by samples); grown: burn [bpf] by 500 ns " +
			"for a frame (500 ns, was 0 ns), 100 % of the change",
		0: "; no function surely grew",
	} {
		c := history.Compare([]history.Side{{Name: "was", Records: runs(3, 1_000_000, profiled(0))},
			{Name: "is", Records: anew(runs(3, 1_000_000, profiled(burn)))}}, nil, nil)
		if got := c.Rows[0].Sides[1].Message; !strings.Contains(got, want) {
			t.Errorf("burning %d: %s", burn, got)
		}
	}
	c := history.Compare([]history.Side{{Name: "was", Records: runs(3, 1_000_000)},
		{Name: "is", Records: anew(runs(3, 1_000_000, profiled(5000)))}}, nil, nil)
	if got := c.Rows[0].Sides[1].Message; strings.Contains(got, "grown") {
		t.Errorf("against a side without a profile: %s", got)
	}
}
