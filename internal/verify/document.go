package verify

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedures"
	"github.com/linerate-dev/linerate/internal/report"
)

// mostWindows is more windows than a day of one procedure's takes. Replaying a procedure takes time by the square of their number, and a document may be anybody's.
const mostWindows = 10_000

// checkDocument finds what keeps a Report from being recomputed at all. What can't be read as a Report never gets here.
func checkDocument(r *report.Report) Check {
	d := newDiffer(CheckDocument)
	if r.Plan == nil {
		d.say("the report", "plan", "it has no plan, so nothing says what was measured: take the file that linerate wrote")
		return d.done()
	}
	if err := procedures.Check(r.Plan.Procedure); err != nil {
		d.say("the plan", "procedure", "%v", err)
	}
	if e := r.Plan.Procedure.Each; e != nil && len(e.Directions) > 0 && !slices.Equal(e.Directions, namesOf(r.Plan.Directions)) {
		d.say("the plan", "procedure.each.directions", "%v are not the plan's directions, %v", e.Directions, namesOf(r.Plan.Directions))
	}
	if len(r.Windows) > mostWindows {
		d.say("the report", "windows", "it has %d windows, and no run measures more than %d", len(r.Windows), mostWindows)
	}
	for i := range r.Windows {
		checkShape(d, r.Plan, &r.Windows[i])
	}
	return d.done()
}

// checkShape finds windows that aren't of the Plan's directions.
func checkShape(d *differ, p *plan.Plan, w *report.Window) {
	object := fmt.Sprintf("window %d", w.Number)
	if len(w.Directions) != len(p.Directions) || w.Evidence != nil && len(w.Evidence.Directions) != len(p.Directions) {
		d.say(object, "directions", "they are not as many as the plan's")
		return
	}
	for i, m := range w.Directions {
		if name := p.Directions[i].Name(); m.Name() != name {
			d.say(object, "directions", "direction %d is %s, and the plan's is %s", i+1, m.Name(), name)
		}
		if m.Sessions == nil != (p.Sessions == nil) && (m.Sessions != nil || m.Quality != report.Invalid) {
			d.say(object, "directions", "%s has counters of another kind of traffic than the plan's", m.Name())
		}
	}
}

func namesOf(directions []plan.Direction) []string {
	names := make([]string, len(directions))
	for i, d := range directions {
		names[i] = d.Name()
	}
	return names
}
