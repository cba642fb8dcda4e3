package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A port of a generator reports one of these, as report.GeneratorPort has it.
const (
	counted = "counted"
	none    = "none"
)

// implausibleWarnings tell counters that can't be right, or are of other frames than were sent.
func implausibleWarnings(r *report.Report) []string {
	var warnings []string
	for _, d := range r.Answer.Directions {
		direction := wording.Direction(d.From, d.To)
		if d.LineRatePercent > moreThanALine {
			rate, origin := lineRateSaid(r, d.To)
			warnings = append(warnings, fmt.Sprintf("more than a line can carry: %s of line rate came back from %s; the line rate of %s, %s by the %s, is not the link's, or its port's counters are wrong",
				wording.Percent(d.LineRatePercent), direction, d.To, wording.BitRate(rate), origin))
		}
		if d.MiscountedBytes != 0 && d.Sent.Packets > 0 {
			warnings = append(warnings, fmt.Sprintf("the ports that send %s count %s a frame than the profile's frames have, as drivers do that leave out the FCS or a VLAN tag: figures in bits are off by that",
				direction, moreOrLess(d.MiscountedBytes, d.Sent.Packets, "more", "less")))
		}
		if d.ResizedBytes != 0 && d.Returned.Packets > 0 {
			warnings = append(warnings, fmt.Sprintf("frames came back %s from %s than they were sent, on average: %s; received bits and shares of line rate are of the frames as they came back",
				moreOrLess(d.ResizedBytes, d.Returned.Packets, "longer", "shorter"), direction, resizedBy(r)))
		}
	}
	return warnings
}

// numberedWarnings tell of frames that came twice or late, as far as frames carry numbers.
func numberedWarnings(r *report.Report) []string {
	var received, twice, late int64
	for _, n := range r.Numbered {
		received, twice, late = received+n.Received, twice+n.Twice, late+n.OutOfOrder
	}
	var warnings []string
	if twice > 0 {
		warnings = append(warnings, fmt.Sprintf("frames came twice: %s of %s that carry sequence numbers; as large a share of loss may be hidden by it in every figure, as counters don't tell a frame that came twice from another one",
			wording.Count(twice), wording.Count(received)))
	}
	if late > 0 {
		warnings = append(warnings, fmt.Sprintf("frames came out of order: %s of %s that carry sequence numbers",
			wording.Count(late), wording.Count(received)))
	}
	return warnings
}

// moreThanALine is from where on a share of line rate is more than a reading's uncertainty makes of a full line.
const moreThanALine = units.Hundred + units.Hundred/100

func moreOrLess(bytes, packets int64, larger, smaller string) string {
	mean := float64(bytes) / float64(packets)
	if mean < 0 {
		return fmt.Sprintf("%.1f bytes %s", -mean, smaller)
	}
	return fmt.Sprintf("%.1f bytes %s", mean, larger)
}

func resizedBy(r *report.Report) string {
	if report.PlanOf(r).DUT.Forwarding == plan.AsConfigured {
		return "the device wraps, unwraps or cuts them, or drivers count FCS and VLAN tags differently"
	}
	return "a VLAN tag was added or taken off, or drivers count FCS and VLAN tags differently"
}

func lineRateSaid(r *report.Report, link string) (bitsPerSecond int64, origin string) {
	for _, l := range r.LineRates {
		if l.Link == link {
			return int64(l.BitsPerSecond), l.Source
		}
	}
	return 0, "nobody"
}

// unseen is something that ports of one driver don't tell, on these links.
type unseen struct {
	driver, means string
	links         []string
}

// visibilityWarnings tell once what ports can't tell, which is the generator's own part of lost frames, and whether
// the device held frames up.
func visibilityWarnings(r *report.Report) []string {
	var warnings []string
	for _, u := range unseenDrops(r) {
		warnings = append(warnings, fmt.Sprintf("receive drops are invisible: the generators' ports on %s (%s) %s how many frames they had no room for, so frames that they dropped look like the device's loss, "+
			"and its limit may lie above the figure; play the same load over a cable instead of the device, or use ports that count them", strings.Join(u.links, ", "), u.driver, u.verb()))
	}
	pauses := unseenOf(r, func(p report.GeneratorPort) string {
		if p.FlowControl == "off" { // the port takes no notice of them
			return ""
		}
		return p.PauseFrames
	})
	for _, u := range pauses {
		warnings = append(warnings, fmt.Sprintf("pause frames are invisible: the generators' ports on %s (%s) %s of any, so a device that held the generator up looks like a generator that can't do more; turn flow control off on the device's ports",
			strings.Join(u.links, ", "), u.driver, u.verb()))
	}
	return warnings
}

func (u unseen) verb() string {
	if u.means == "hidden" {
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

// unseenOf are the ports of which something is asked that they don't count, together by driver and in the order in
// which they are seen first.
func unseenOf(r *report.Report, answer func(report.GeneratorPort) string) (groups []unseen) {
	for _, g := range r.Generators {
		for _, p := range g.Ports {
			means, driver := answer(p), cmp.Or(p.Driver, "an unknown driver")
			if means == "" || means == counted || means == none {
				continue
			}
			i := slices.IndexFunc(groups, func(u unseen) bool { return u.driver == driver && u.means == means })
			if i < 0 {
				i, groups = len(groups), append(groups, unseen{driver: driver, means: means})
			}
			if !slices.Contains(groups[i].links, p.Link) {
				groups[i].links = append(groups[i].links, p.Link)
			}
		}
	}
	return groups
}
