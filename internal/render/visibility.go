package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// What a port of a generator tells, as report.GeneratorPort has it.
const (
	counted = "counted"
	none    = "none"
)

// unseen is something that ports of one driver don't tell, on these links.
type unseen struct {
	driver, how string
	links       []string
}

// visibilityWarnings tell once what ports can't tell: of lost frames which were the generator's own, and whether the device held it up.
func visibilityWarnings(r *report.Report) []string {
	var out []string
	for _, u := range unseenDrops(r) {
		out = append(out, fmt.Sprintf("receive drops are invisible: the generators' ports on %s (%s) %s how many frames they had no room for, so frames that they dropped look like the device's loss, "+
			"and its limit may lie above what is told; play the same load over a cable instead of the device, or use ports that count them", strings.Join(u.links, ", "), u.driver, u.does()))
	}
	pauses := unseenOf(r, func(p report.GeneratorPort) string {
		if p.FlowControl == "off" { // the port takes no notice of them
			return ""
		}
		return p.PauseFrames
	})
	for _, u := range pauses {
		out = append(out, fmt.Sprintf("pause frames are invisible: the generators' ports on %s (%s) %s of any, so a device that held the generator up looks like a generator that can't do more; turn flow control off on the device's ports",
			strings.Join(u.links, ", "), u.driver, u.does()))
	}
	return out
}

func (u unseen) does() string {
	if u.how == "hidden" {
		return "do not tell"
	}
	return "may not tell"
}

// unseenDrops are the ports that frames come back to, and whose own drops nobody sees.
func unseenDrops(r *report.Report) []unseen {
	return unseenOf(r, func(p report.GeneratorPort) string {
		if !slices.ContainsFunc(report.PlanOf(r).Directions, func(d plan.Direction) bool { return d.To == p.Link }) {
			return ""
		}
		return p.ReceiveDrops
	})
}

// unseenOf are the ports of which something is asked that they don't count, together by driver and in the order in which they are seen first.
func unseenOf(r *report.Report, what func(report.GeneratorPort) string) (all []unseen) {
	for _, g := range r.Generators {
		for _, p := range g.Ports {
			how, driver := what(p), cmp.Or(p.Driver, "an unknown driver")
			if how == "" || how == counted || how == none {
				continue
			}
			i := slices.IndexFunc(all, func(u unseen) bool { return u.driver == driver && u.how == how })
			if i < 0 {
				i, all = len(all), append(all, unseen{driver: driver, how: how})
			}
			if !slices.Contains(all[i].links, p.Link) {
				all[i].links = append(all[i].links, p.Link)
			}
		}
	}
	return all
}

// dropsAreHidden says that a loss can't be told from the generators' own.
func dropsAreHidden(r *report.Report) bool { return len(unseenDrops(r)) > 0 }
