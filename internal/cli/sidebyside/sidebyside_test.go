package sidebyside_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units"
)

// What is demanded is what was typed: an allowance that forgets how often it is asked claims more than its runs show.
func TestWhatIsDemandedOfAComparison(t *testing.T) {
	for name, c := range map[string]struct {
		regression string
		tries      int
		want       *comparison.Allowance // nil: nothing is demanded
		refused    bool
	}{
		"nothing":              {"", 1, nil, false},
		"2 %, asked once":      {"2%", 1, &comparison.Allowance{MaxRegression: units.One / 50, Tries: 1}, false},
		"2 %, asked ten times": {"2%", 10, &comparison.Allowance{MaxRegression: units.One / 50, Tries: 10}, false},
		"asked too often":      {"2%", 11, nil, true},
		"never asked":          {"2%", 0, nil, true},
		"nothing, again":       {"", 2, nil, true},
		"anything":             {"100%", 1, nil, true},
		"no share":             {"two", 1, nil, true},
	} {
		got, err := (&sidebyside.Options{Format: "text", MaxRegression: c.regression, Tries: c.tries}).Check()
		if (err != nil) != c.refused || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}
