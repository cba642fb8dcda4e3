package surprise

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Surprise is a finding that goes against an expectation.
type Surprise struct {
	// Rule is the expectation's name, and Cells are those whose figures it is about.
	Rule  string
	Cells []string
	// Words is the finding as a sentence.
	Words string
}

// mostCells is up to how many cells pairs are compared. The number of pairs grows with the square, and nobody reads
// that many sentences.
const mostCells = 256

// Find is the surprises in suites, first of each cell by itself, then of pairs of cells that differ in at most one
// axis.
func Find(suites ...*report.Suite) (surprises []Surprise) {
	cells := cellsOf(suites)
	for i := range cells {
		surprises = append(surprises, cells[i].standalone()...)
	}
	if len(cells) > mostCells {
		return surprises
	}
	for i := range cells {
		for j := range cells[i+1:] {
			a, b := &cells[i], &cells[i+1+j]
			if differingAxes(a.Values, b.Values) <= 1 {
				surprises = append(surprises, pair(a, b)...)
			}
		}
	}
	return surprises
}

// cell is a cell of a suite that was measured, with its Plan.
type cell struct {
	*report.SuiteCell
	plan       *plan.Plan // nil where it was not kept
	generators int        // how many there were, or 0 where that is unknown
}

// cellsOf are the measured cells of suites, without calibrations, which have no device.
func cellsOf(suites []*report.Suite) (cells []cell) {
	for _, s := range suites {
		for i := range s.Cells {
			if c := &s.Cells[i]; c.Figures != nil && !c.Calibration {
				evidence := evidenceOf(c)
				cells = append(cells, cell{SuiteCell: c, plan: planOf(evidence), generators: generatorsOf(evidence)})
			}
		}
	}
	return cells
}

// evidenceOf is the evidence of a cell's first run that counts and has a Plan, or nil for none.
func evidenceOf(c *report.SuiteCell) *report.Report {
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Counts() && r.Evidence != nil && r.Evidence.Plan != nil {
			return r.Evidence
		}
	}
	return nil
}

func planOf(r *report.Report) *plan.Plan {
	if r == nil {
		return nil
	}
	return r.Plan
}

func generatorsOf(r *report.Report) int {
	if r == nil || r.Environment == nil {
		return 0
	}
	return len(r.Environment.Generators)
}

// otherImages says that two cells' devices surely ran different images. Then the Plans say nothing about which does
// more.
func otherImages(a, b *cell) bool {
	var first []plan.Container
	for _, c := range []*cell{a, b} {
		for i := range c.Runs {
			switch r := &c.Runs[i]; {
			case !r.Counts() || len(r.Images) == 0:
			case first == nil:
				first = r.Images
			case !slices.Equal(first, r.Images):
				return true
			}
		}
	}
	return false
}

func (c *cell) title() string { return c.Product + " " + c.Loadtest }

// differingAxes is in how many axes two cells differ.
func differingAxes(a, b []report.AxisValue) (n int) {
	for _, v := range a {
		if !slices.Contains(b, v) {
			n++
		}
	}
	return n + max(0, len(b)-len(a))
}

// pair is the surprises of two cells, whichever of them is expected to carry more.
func pair(a, b *cell) (surprises []Surprise) {
	if a.plan == nil || b.plan == nil || a.Figures.OfSessions() != b.Figures.OfSessions() || otherImages(a, b) {
		return nil
	}
	otherGenerators := a.generators != b.generators && a.generators > 0 && b.generators > 0
	for _, r := range rules {
		if otherGenerators && !r.anyGenerators {
			continue
		}
		for _, order := range [][2]*cell{{a, b}, {b, a}} {
			faster, slower := order[0], order[1]
			if reason := r.expects(faster.plan, slower.plan); reason != "" {
				if words := r.against(faster, slower, reason); words != "" {
					surprises = append(surprises, Surprise{Rule: r.name, Cells: []string{slower.Name, faster.Name},
						Words: words})
				}
			}
		}
	}
	return surprises
}

// against says that the slower cell carried more than the faster one, in each of their runs. It is empty where it
// didn't, or the faster may carry more than was seen.
func (r *rule) against(faster, slower *cell, reason string) string {
	figure := r.figure
	if figure == nil {
		figure = (*report.Figures).Throughput
	}
	_, highest := carried(faster.SuiteCell, figure)
	lowest, _ := carried(slower.SuiteCell, figure)
	slowerValue, fasterValue := figure(slower.Figures), figure(faster.Figures)
	if fasterValue <= 0 || lowest <= highest*(1+r.beyond) {
		return ""
	}
	return fmt.Sprintf("%s carried %.1f %% more than %s (%s, and %s; %s), though %s", slower.title(),
		100*(float64(slowerValue)/float64(fasterValue)-1), faster.title(), r.amount(slower, slowerValue),
		r.amount(faster, fasterValue), runs(slower, faster), reason)
}

// carried is the least and the most that the runs of a cell did. A lower bound's most is beyond all bounds.
func carried(c *report.SuiteCell, figure func(*report.Figures) int64) (lowest, highest float64) {
	lowest, highest = float64(figure(c.Figures)), float64(figure(c.Figures))
	if c.Figures.LowerBound {
		highest = math.Inf(1)
	}
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Counts() {
			v := float64(figure(r.Figures))
			lowest, highest = min(lowest, v), max(highest, v)
			if r.Figures.LowerBound {
				highest = math.Inf(1)
			}
		}
	}
	return lowest, highest
}

// amount is a figure with its unit.
func (r *rule) amount(c *cell, v int64) string {
	if r.figure != nil || c.Figures.OfSessions() {
		return wording.BitRate(v)
	}
	return wording.PacketRate(v)
}

// runs says how many runs stand behind a difference, as few may differ by chance.
func runs(a, b *cell) string {
	if a.Figures.Runs == 1 && b.Figures.Runs == 1 {
		return "one run each"
	}
	return fmt.Sprintf("each of %s and each of %d", wording.Counted(a.Figures.Runs, "run"), b.Figures.Runs)
}
