package backtoback

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestDeviation is that of a sample: of two searches that ended two frames apart it is the square root of 2.
func TestDeviation(t *testing.T) {
	for _, c := range []struct {
		clean []int64
		want  report.Number
	}{{[]int64{100}, ""}, {[]int64{100, 102}, "1.414"}, {[]int64{2, 4, 4, 4, 5, 5, 7, 9}, "2.138"}} {
		var found []search
		for _, n := range c.clean {
			found = append(found, search{clean: n})
		}
		if got := deviation(found); got != c.want {
			t.Errorf("%v: %q, want %q", c.clean, got, c.want)
		}
	}
}
