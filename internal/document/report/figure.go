package report

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Figure is one thing that a run claims of a metric, an interval that the truth lies in. Criteria, comparisons and
// summaries read figures, and nothing else of a Report. Procedures yield them.
//
//	      Low           High
//	───────┼─────────────┼──────▶
//	  all came back   frames were lost
type Figure struct {
	Metric Metric `json:"metric"`
	// Direction is "west→east", or AllDirections.
	Direction string `json:"direction"`
	// Goal names the goal of a search that the figure is of. It is empty where the procedure has none.
	Goal string `json:"goal,omitempty"`
	// Load is the share of the procedure's full rate that the figure is of, where it is one of several. It is 0 for
	// the run's answer.
	Load units.Ratio `json:"load,omitempty"`
	// LatencyLoad is the load that a latency is of, as a share of the rate that the procedure found or held. It is 0
	// for single frames, and nil where the figure is no latency. FrameSize is the size of a latency's frames in bytes,
	// FCS included, or 0 where it varies.
	LatencyLoad *units.Ratio `json:"latencyLoad,omitempty"`
	FrameSize   int64        `json:"frameSize,omitempty"`
	// Window is the number of the window that the figure is of, where its load is not the answer's.
	Window int    `json:"window,omitempty"`
	Unit   string `json:"unit"`
	// Low and High enclose the truth. High is Low where the figure is exact, and empty where nothing bounds it. Low
	// is empty where there is no number, and Missing says why then.
	Low     Number `json:"low,omitempty"`
	High    Number `json:"high,omitempty"`
	Missing string `json:"missing,omitempty"`
	// Confirmed says that it was held as long as the procedure wants it held.
	Confirmed bool `json:"confirmed,omitempty"`
	// ShownFor is for how long the device was seen to do as much, where a bucket may have helped it
	// (Answer.ShownFor). It is 0 where nothing limits the figure in time.
	ShownFor plan.Duration `json:"shownFor,omitempty"`
	// Reason is why the figure is what it is, above all why it has no High.
	Reason Reason `json:"reason,omitempty"`
}

// These are the units of shares. A ratio of 1 is 100 %.
const (
	UnitRatio   = "ratio"
	UnitPercent = "%"
)

// AllDirections is the direction of a figure of all directions together.
const AllDirections = "Total"

// Metric is what a figure is a number of.
type Metric string

// Number is an exact decimal, such as "0.0003", or empty for none.
type Number string

// NumberOf writes a rational number with as many as twelve decimal places, rounded to the nearest.
func NumberOf(v *big.Rat) Number {
	if v == nil {
		return ""
	}
	if v.IsInt() {
		return Number(v.Num().String())
	}
	return Number(strings.TrimRight(v.FloatString(12), "0"))
}

// Rat is the number for exact reckoning, or nil for none.
func (n Number) Rat() *big.Rat {
	if v, ok := new(big.Rat).SetString(string(n)); ok {
		return v
	}
	return nil
}

// Float is the number for reckoning with many, or 0 for none.
func (n Number) Float() float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0
	}
	return f
}
