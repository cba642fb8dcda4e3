package answer

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// valuesOf are the values of a row's braces, by their names. A field's value is its name where the test was asked for.
func valuesOf(r *report.Report) map[string]string {
	p, c := report.PlanOf(r), r.Answer.Cause
	limit := p.Procedure.MaxLossRatio
	values := map[string]string{
		"loss":    "frames are lost",
		"loses":   "loses frames",
		"rates":   "this rate",
		"limit":   wording.Share(limit),
		"ratio":   wording.Share(limit), // of a procedure that asks about a loss, it is that one
		"process": wording.Limited(wording.Printable(c.Process), longestName),
		"link":    c.Link, "direction": c.Direction,
		"target":    targetField(p),
		"strangers": "other programs or the host", "stop": "keep them off",
		"connections": connections(p), "deadline": deadlineField(r),
	}
	if values["process"] != "" {
		values["strangers"], values["stop"] = "another program ("+values["process"]+")", "stop it"
	}
	values["limits"], values["unloaded"] = limitsAndOthers(r.Answer)
	if p.LargestFrame() > smallestFrame {
		values["smaller"] = " or smaller frames"
	}
	if len(r.Answer.Goals) > 1 {
		values["rates"] = "these rates"
	}
	if limit > 0 {
		values["loss"] = "more than " + wording.Share(limit) + " of the frames are lost"
		values["loses"] = "loses more than " + wording.Share(limit) + " of the frames"
	}
	if c.Detail == report.FramesLinger {
		values["settle"] = Duration((2 * c.Lasted.Std()).Round(100 * time.Millisecond))
	}
	for name, d := range map[string]plan.Duration{"after": c.Elapsed, "lasted": c.Lasted, "judged": c.Judged,
		"held": c.Held, "shown": r.Answer.ShownFor, "confirmation": plan.Duration(p.Procedure.Confirmation())} {
		if d > 0 || name == "after" {
			values[name] = Duration(d.Std())
		}
	}
	if lost := cmp.Or(c.Lost, lostOf(r.Answer)); lost > 0 {
		values["lost"] = wording.LostShare(lost)
	}
	if hidden := hiddenLoss(r); hidden > 0 {
		values["hidden"] = wording.LostShare(hidden)
	}
	if c.Acceptable > 0 {
		values["acceptable"] = wording.Ratio(c.Acceptable)
	}
	addPathValues(values, c)
	if c.PacketsPerSecond > 0 {
		values["rate"] = wording.ShortPacketRate(c.PacketsPerSecond)
	}
	if n := cmp.Or(c.Frames, int64(figures.ShortestBurst(r).Low.Float())); n > 0 {
		values["frames"] = wording.Count(n)
	}
	addFields(values, p)
	return values
}

// addPathValues adds what a cause knows of frames and addresses on the path.
func addPathValues(values map[string]string, c report.Cause) {
	if c.FrameBytes > 0 {
		const header = 14 // of Ethernet, which an MTU does not count
		values["length"] = strconv.Itoa(c.FrameBytes)
		values["mtu"] = strconv.Itoa(c.FrameBytes - units.FCSBytes - header)
	}
	if len(c.Address) <= longestAddress {
		values["address"] = wording.Printable(c.Address)
	}
	if c.Routers > 0 {
		values["hops"], values["routers"] = strconv.Itoa(int(c.Routers)), wording.Counted(int(c.Routers), "router")
	}
	if len(c.Found) <= longestFound {
		values["found"] = wording.Printable(c.Found)
	}
	values["change"] = c.Change
	if c.Port > 0 {
		values["port"] = strconv.Itoa(int(c.Port))
	}
}

// addFields adds fields' names where the test was asked for.
func addFields(values map[string]string, p *plan.Plan) {
	for _, field := range []string{"dut.address", "dut.sourceMACs", "vlan"} {
		values["links."+field] = p.NameOf("links[]." + field)
	}
	for _, field := range fields() {
		values[field] = p.NameOf(field)
	}
	if p.DUT.Type != "Pod" && p.DUT.Type != "Device" {
		values["dut.changes"] = "" // what it does is known
	}
	if p.DUT.Type == "Reference" || p.DUT.Forwarding != plan.L3 {
		values["dut.hops"] = "" // such a device is always one router, or none
	}
}

const (
	// longestName is how many bytes a program's name has in a sentence.
	longestName = 20
	// longestFound is up to how many bytes a sentence has of what frames came as.
	longestFound = 80
	// longestAddress is up to how many bytes an address is in a sentence. A longer one is in the evidence.
	longestAddress = 20
	// smallestFrame is the length of Ethernet's shortest frame, without its FCS.
	smallestFrame = 60
)

// limitsAndOthers say which directions are at their limit, and which had no more load for that.
func limitsAndOthers(result report.Answer) (limits, others string) {
	limits, others = "some directions reached their limit", "the others were"
	limiting := result.LimitedBy()
	if n := len(limiting); n == 1 {
		limits = limiting[0] + " reached its limit"
	} else if n > 1 {
		limits = strconv.Itoa(n) + " directions reached their limits"
	}
	var names []string
	for _, d := range result.Directions {
		if !slices.Contains(limiting, d.Name()) {
			names = append(names, d.Name())
		}
	}
	if len(names) == 1 {
		others = names[0] + " was"
	}
	return limits, others
}

// connections is how many connections there are in all directions together. It is empty where traffic is frames.
func connections(p *plan.Plan) string {
	if p.Sessions == nil || p.Sessions.Parallel <= 0 {
		return ""
	}
	return wording.Counted(p.Sessions.Parallel*len(p.Directions), "connection")
}

// deadlineField is the field that ended the run before its time. It is empty where no deadline did.
func deadlineField(r *report.Report) string {
	if r.Ending != report.DeadlineExceeded {
		return ""
	}
	return report.PlanOf(r).NameOf("activeDeadline")
}

// fields are the LoadTest's fields that rows name.
func fields() []string {
	return []string{"procedure.directions", "procedure.maxLossRatio", "procedure.otherLoad",
		"backToBack.maxBurstDuration", "backToBack.rate", "soak.maxRate", "activeDeadline", "ramp.confirmDuration",
		"dut.changes", "dut.forwarding", "dut.hops", "dut.readyDelay", "procedure.reset.timeout", "ramp.settleDuration"}
}

// targetField is the field that has the highest load asked for, by its name where the test was asked for.
func targetField(p *plan.Plan) string {
	field := p.Procedure.TargetField()
	if field == "" {
		return ""
	}
	return p.NameOf(field)
}

// lostOf is the share of frames that did not come back of the figure's load, or of datagrams.
func lostOf(result report.Answer) units.Ratio {
	switch total := result.Total; {
	case total == nil:
		return 0
	case total.Sessions != nil && total.Sessions.Datagrams != nil:
		return total.Sessions.Datagrams.MostLossRatio()
	default:
		return total.LossRatio
	}
}

// hiddenLoss is the largest share that a direction of the figure may have lost, where that is above the limit and not
// shown.
func hiddenLoss(r *report.Report) (highest units.Ratio) {
	limit := report.PlanOf(r).Procedure.MaxLossRatio
	if report.PlanOf(r).DemandsNoLoss() {
		limit = 0
	}
	for _, d := range r.Answer.Directions {
		if report.LossLeftOpen(d.LossRatioMin, d.MostLost(), limit) {
			highest = max(highest, figures.MostLost(r, d))
		}
	}
	return highest
}
