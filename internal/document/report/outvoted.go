package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Outvoted is a load that was held several times, because some window lost frames. Best of three decides, and what
// was lost is told all the same.
type Outvoted struct {
	Load   units.Ratio `json:"load"`   // as a share of the target
	Lossy  []int       `json:"lossy"`  // the numbers of the windows that lost frames
	Judged int         `json:"judged"` // how many windows were judged, those included
}

// String says it in words, as "1 of 3 windows held at 50.00 % of the target lost frames (window 26)".
func (o Outvoted) String() string {
	numbers := make([]string, len(o.Lossy))
	for i, n := range o.Lossy {
		numbers[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %s held at %s %% of the target lost frames (%s %s)", len(o.Lossy),
		wording.Counted(o.Judged, "window"), o.Load.Percent().FormatFixed(),
		wording.Verb(len(o.Lossy), "window", "windows"), strings.Join(numbers, ", "))
}
