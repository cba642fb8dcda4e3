package verify

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
)

// mostWindows is more windows than any procedure measures in a day. A document may come from anybody, and the time
// to replay a procedure grows with the square of its windows.
const mostWindows = 10_000

// checkDocument finds what keeps a Report from being recomputed at all. It is a Report by its form, else reading it
// failed.
func checkDocument(r *report.Report) Check {
	d := newDiffer(CheckDocument)
	if r.Plan == nil {
		d.found("the report", "plan", "it has no plan, so it is unknown what was measured: take the file that linerate wrote")
		return d.done()
	}
	if err := procedures.Check(r.Plan.Procedure, r.Plan.Directions); err != nil {
		d.found("the plan", "procedure", "%v", err)
	}
	if len(r.Windows) > mostWindows {
		d.found("the report", "windows", "it has %d windows, but no run measures more than %d", len(r.Windows),
			mostWindows)
	}
	for i := range r.Windows {
		checkShape(d, r.Plan, &r.Windows[i])
	}
	return d.done()
}

// checkShape finds windows whose directions aren't the Plan's.
func checkShape(d *differ, p *plan.Plan, w *report.Window) {
	object := fmt.Sprintf("window %d", w.Number)
	if len(w.Directions) != len(p.Directions) || w.Evidence != nil && len(w.Evidence.Directions) != len(p.Directions) {
		d.found(object, "directions", "their number differs from the plan's")
		return
	}
	for i, m := range w.Directions {
		if name := p.Directions[i].Name(); m.Name() != name {
			d.found(object, "directions", "direction %d is %s, but the plan's is %s", i+1, m.Name(), name)
		}
		if m.Sessions == nil != (p.Sessions == nil) && (m.Sessions != nil || m.Quality != report.Invalid) {
			d.found(object, "directions", "%s has counters of another kind of traffic than the plan has", m.Name())
		}
	}
}
