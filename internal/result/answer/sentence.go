package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Sentence says in at most 160 characters what set the Report's figure, and what to do.
func Sentence(r *report.Report) string {
	if text := sentenceOfEnding(r); text != "" {
		return text
	}
	return rowOf(r).sentence(r)
}

// sentence fills the row in with the Report's values. It says for how long a rate was shown where there is room.
func (found row) sentence(r *report.Report) string {
	values := valuesOf(r)
	text := capital(fill(found.says, values))
	if found.hasHeading(r.Answer.Reason) {
		text = capital(found.standing) + ": " + fill(found.says, values)
	}
	text = wording.JoinNonEmpty(" ", text, capital(fill(found.wayOut, values)))
	for _, sentence := range figures.TimeSentences(r) {
		if longer := text + " " + sentence; utf8.RuneCountInString(longer) <= longest {
			text = longer
			break
		}
	}
	if shown := values["shown"]; shown != "" && claimsRate(r.Answer.Reason) &&
		!strings.Contains(found.says, "{shown}") {
		if longer := text + " This load was held for " + shown + "."; utf8.RuneCountInString(longer) <= longest {
			return longer
		}
	}
	return text
}

// hasHeading says that the sentence begins with the standing. The first line says that there is no figure, and it marks
// the directions that are bounded, where only one is.
func (found row) hasHeading(reason report.Reason) bool {
	return reason != report.OtherDirection && !found.needsNoFigure()
}

// sentenceOfEnding is the sentence of a run that a fault ended before there was a figure. It is empty for another run,
// and where the cause has a row of its own. A fault's message begins with what happened and ends with the way out, so
// a message that is too long loses its middle.
func sentenceOfEnding(r *report.Report) string {
	if r.Ending == "" || r.Ending == report.Completed || report.HasFigure(r) || r.Message == "" ||
		r.Answer.Cause.Detail != "" {
		return ""
	}
	text := capital(r.Message)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	switch {
	case r.Ending == report.Interrupted: // nothing was kept of it
		return ""
	case utf8.RuneCountInString(text) <= longest:
		return text
	case detailOfEnding(r) != "":
		return ""
	}
	wayOut := "See the evidence."
	if i := strings.LastIndex(text, "; "); i >= 0 && utf8.RuneCountInString(text[i+2:]) <= longest/2 {
		wayOut = capital(text[i+2:])
	}
	return cutAtWord(text, longest-utf8.RuneCountInString(wayOut)-len(" … ")) + " … " + wayOut
}

// cutAtWord is as much of a text as fits into so many characters, up to the end of a word.
func cutAtWord(text string, characters int) string {
	cut := string([]rune(text)[:characters])
	if end := strings.LastIndex(cut, " "); end > 0 {
		cut = cut[:end]
	}
	return strings.TrimRight(cut, " ,;:")
}

// Standing is what kind of answer the Report gives, in a word or two, such as "saturated".
func Standing(r *report.Report) string { return rowOf(r).standing }

// claimsRate says that an answer is a load that the device carried, and not what came back of an overload.
func claimsRate(reason report.Reason) bool {
	return !slices.Contains([]report.Reason{report.LoadHeld, report.CurveMeasured, report.MaximumOffered,
		report.BurstsMeasured, report.TrainsMeasured, report.PathLimited, report.EndpointLimited, report.NotHeld,
		report.DeviceLost,
		report.NoCleanLoad, report.NotMeasured}, reason)
}

// rowOf is the row of the Report's cause.
func rowOf(r *report.Report) row {
	rows, c := table(), causeOf(r)
	for _, c := range []cause{c, {reason: c.reason}} {
		if found, ok := rows[c]; ok && (report.HasFigure(r) || found.needsNoFigure()) {
			return found
		}
	}
	return rows[cause{reason: report.NotMeasured}]
}

// needsNoFigure says that the row claims no load.
func (found row) needsNoFigure() bool {
	return slices.Contains([]string{notHeld, deviceLost, notMeasured}, found.standing)
}

// causeOf is why the Report's answer is what it is.
func causeOf(r *report.Report) cause {
	c := cause{r.Answer.Reason, r.Answer.Cause.Detail}
	ended := detailOfEnding(r)
	switch {
	case ended != "" && c.reason == report.NotMeasured && c.detail == "":
		return cause{c.reason, ended}
	case ended != "" && (c.detail == report.CutShort || c.reason == report.TargetReached && report.HasFigure(r)):
		return cause{report.Inconclusive, ended}
	case !report.HasFigure(r) && c.detail == "":
		return c
	case len(r.Answer.NearGenerators) > 0 && (r.Answer.Saturated || c.reason == report.LoadEstimated):
		return cause{reason: report.NearGenerators}
	case c.detail != "":
		return c
	}
	c.detail = detailOfPlan(r)
	return c
}

// detailOfEnding is what ended a run before its procedure was over. It is empty where nothing did, or a fault with
// a message.
func detailOfEnding(r *report.Report) report.Detail {
	return map[report.Ending]report.Detail{report.GeneratorLost: generatorLost, report.Interrupted: interrupted,
		report.DeadlineExceeded: outOfTime}[r.Ending]
}

// detailOfPlan is what the Plan and the Answer's claims add to the reason.
func detailOfPlan(r *report.Report) report.Detail {
	p := report.PlanOf(r)
	switch reason := r.Answer.Reason; {
	case p.Sessions != nil:
		return detailOfSessions(p, reason)
	case reason == report.LossAboveLimit && r.Unconfirmed():
		return notConfirmed
	case p.DUT.Loopback():
		return noDevice
	case r.Answer.FoundApart():
		return severalLimits
	case reason == report.LossAboveLimit:
		return detailOfLimit(r)
	case reason == report.TargetReached:
		return detailOfTarget(r)
	case reason == report.LoadEstimated && r.Answer.LowerBound():
		return aboveNoLoad
	case reason == report.BurstsMeasured && figures.ShortestBurst(r).High == "":
		return longestBurst
	}
	return ""
}

// detailOfLimit is whose limit an answer may be, beside the device's.
func detailOfLimit(r *report.Report) report.Detail {
	d := report.PlanOf(r).DUT
	switch {
	case d.Type == "Reference" && (d.Reference == nil || d.Reference.Limit == nil):
		return ownKernel
	case hidesDrops(r):
		return hiddenDrops
	}
	return ""
}

// detailOfTarget is what the load was that the device carried whole.
func detailOfTarget(r *report.Report) report.Detail {
	switch {
	case report.PlanOf(r).Procedure.HoldsOneLoad():
		return loadHeld
	case r.Answer.Total.LineRatePercent >= almostAll:
		return atLineRate
	case report.PlanOf(r).Procedure.TargetField() == "":
		return allOffered
	}
	return ""
}

// almostAll is the share of the line rate from which on a load is all that the links carry.
const almostAll = units.Hundred - units.Hundred/1000

func detailOfSessions(p *plan.Plan, reason report.Reason) report.Detail {
	switch {
	case p.Sessions.Protocol == plan.UDP && (reason == report.PathLimited || reason == report.EndpointLimited ||
		reason == report.GeneratorLimited):
		return ofDatagrams
	case reason == report.EndpointLimited:
		return ""
	case reason != report.PathLimited:
		return ofSessions
	case p.DUT.Endpoint():
		return throughEndpoint
	}
	return ""
}

// hidesDrops says that some port of a generator does not count frames that it drops.
func hidesDrops(r *report.Report) bool {
	return slices.ContainsFunc(r.Generators, func(g report.Generator) bool {
		return slices.ContainsFunc(g.Ports, func(p report.GeneratorPort) bool {
			return p.ReceiveDrops == "hidden" || p.ReceiveDrops == "unknown"
		})
	})
}

// Duration is a time in a sentence, such as "400 ms", "1.5 s" or "3 min".
func Duration(d time.Duration) string {
	amount, unit := d.Seconds(), " s"
	switch {
	case d < time.Second:
		amount, unit = float64(d.Round(10*time.Millisecond).Milliseconds()), " ms"
	case d >= 2*time.Minute:
		amount, unit = d.Minutes(), " min"
	}
	return strings.TrimSuffix(strconv.FormatFloat(amount, 'f', 1, 64), ".0") + unit
}

var (
	optional = regexp.MustCompile(`\[[^\[\]]*\]`)
	brace    = regexp.MustCompile(`\{([^{}]+)\}`)
)

// fill puts values in the place of braces, and leaves out brackets that lack one.
func fill(text string, values map[string]string) string {
	complete := func(part string) bool {
		return !slices.ContainsFunc(brace.FindAllStringSubmatch(part, -1),
			func(found []string) bool { return values[found[1]] == "" })
	}
	text = optional.ReplaceAllStringFunc(text, func(part string) string {
		if complete(part) {
			return part[1 : len(part)-1]
		}
		return ""
	})
	return brace.ReplaceAllStringFunc(text, func(found string) string {
		return cmp.Or(values[found[1:len(found)-1]], "an unknown value")
	})
}

// capital begins a sentence. A field's path and a direction stay as they are written.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || strings.ContainsAny(strings.TrimRight(first, "."), ".→") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
