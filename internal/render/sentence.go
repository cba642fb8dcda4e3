package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The kinds of answers that a single direction may have, too, as pages name them.
const (
	estimated  = "estimated"
	lowerBound = "lower bound"
	saturated  = "saturated"
	notHeld    = "not held"
)

// standing is what kind of answer a report gives, in a word or two.
func standing(r *report.Report) string {
	switch {
	case r.Result.NotHeld != "" && r.Ending == report.Completed:
		return notHeld
	case !report.HasFigure(r):
		return wording.NotMeasured
	case r.Result.LowerBound():
		return lowerBound
	case r.Result.Saturated && r.Unconfirmed():
		return notConfirmed
	case r.Result.Saturated:
		return saturated
	case r.Result.Reason == report.LoadHeld && report.PlanOf(r).Procedure.Each != nil:
		return "limit per direction"
	case r.Result.Reason == report.LoadEstimated && len(openDirections(r)) > 0:
		return "estimated in part"
	}
	return cmp.Or(standingOfReasons()[r.Result.Reason], wording.NotMeasured)
}

// standingOfReasons are the kinds of answers that follow from the reason alone.
func standingOfReasons() map[report.Reason]string {
	return map[report.Reason]string{
		report.LoadHeld: "frames lost", report.CurveMeasured: "loss curve", report.MaximumOffered: "overloaded",
		report.BurstsMeasured: "bursts",
		report.LoadEstimated:  estimated, report.PathLimited: "goodput",
	}
}

// answer says in one plain sentence, or two, whether the figure is a limit, a lower bound, or nothing, and why.
func answer(r *report.Report) string { return capital(standing(r)) + ": " + explanation(r) }

// explanation is the answer without its first word.
func explanation(r *report.Report) string {
	if !report.HasFigure(r) {
		return sentence(cmp.Or(r.Message, r.Result.Message, whyNoFigure(r)))
	}
	if r.Result.NotHeld != "" {
		return sentence(r.Result.Message)
	}
	subject := limitWords(r)
	if cause := cmp.Or(eachDirectionWords(r), overloadWords(r)); cause != "" {
		subject = cause
	}
	if message := strings.TrimSpace(r.Result.Message); message != "" && !boundedByGenerators(r) {
		subject += " " + sentence(message)
	}
	return subject
}

// boundedByGenerators says that an estimate's upper end, which its own sentence has, may be the generators'.
func boundedByGenerators(r *report.Report) bool {
	return r.Result.Reason == report.LoadEstimated && len(r.Result.NearGenerators) > 0
}

// overloadWords say what a figure is of a procedure that doesn't search for the limit, where frames were lost. They
// are empty for another kind of figure.
func overloadWords(r *report.Report) string {
	tooMuch := wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio)
	switch r.Result.Reason {
	case report.LoadHeld:
		return "more than " + tooMuch + " was lost of the load that was held, and this is what came back of it."
	case report.CurveMeasured:
		return "this is what came back of the highest load, of which more than " + tooMuch + " was lost."
	case report.BurstsMeasured:
		return "the rates are what the device forwards of the bursts' rate, at which it loses frames as soon as its buffer is full."
	case report.LoadEstimated:
		return estimateWords(r)
	case report.MaximumOffered:
		return "more was offered than the device carries, and this is what came back."
	default:
		return ""
	}
}

// limitWords say what a figure shows about the device's limit.
func limitWords(r *report.Report) string {
	subject := "the device's limit lies at this rate or above."
	if report.PlanOf(r).Sessions != nil {
		return sessionsLimitWords(r)
	}
	switch {
	case r.Result.Saturated:
		subject = saturatedWords(r)
	case r.Result.Reason == report.OtherDirection:
		subject = otherDirectionWords(r)
	case r.Result.Reason == report.GeneratorLimited:
		subject = generatorLimitWords(r)
	case boundedByGenerators(r):
		subject = "about as much came back as the generators do by themselves, so the device's limit lies at this rate or above."
	case r.Result.Reason == report.MachineLimited && lostAbove(r, report.Window.LostToDisturbance):
		subject = "above this rate frames were lost while other programs used processors that the test needed, so the device's limit lies at this rate or above."
	case r.Result.Reason == report.MachineLimited && slices.ContainsFunc(r.Windows, report.Window.HeldUp):
		subject = "other programs used the generator's processors, so the device's limit lies at this rate or above."
	case r.Result.Reason == report.MachineLimited:
		subject = "above this rate the machine that forwards lost frames that the Reference's limit lets through, so that limit lies at this rate or above."
	case r.Result.Reason == report.Inconclusive:
		subject = inconclusiveWords(r)
	case r.Result.Reason == report.TargetReached:
		subject = "all that was asked for came back, so the device's limit lies at this rate or above."
	}
	if lasted := r.Result.ShownFor.Std(); lasted > 0 {
		return strings.TrimSuffix(subject, ".") + ", shown for " + lasted.Round(1e8).String() + "."
	}
	return subject
}

// saturatedWords say what a figure at the device's limit shows.
func saturatedWords(r *report.Report) string {
	limit := wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio)
	switch {
	case r.Unconfirmed():
		return "short windows show the device's limit here, but no window of " +
			wording.Span(report.PlanOf(r).Procedure.Confirmation()) +
			" has shown that it keeps this up: it may be less."
	case ownKernel(r):
		return "this is what the kernel of the machine itself forwards, as the Reference has no limit; above it, more than " + limit + " of the frames are lost."
	case dropsAreHidden(r):
		return "above this rate more than " + limit +
			" of the frames are lost, by the device or by the generator's own ports, which don't count what they drop."
	}
	return "this is the device's limit; above it, more than " + limit + " of the frames are lost."
}

// inconclusiveWords say what is known of the loads above a rate that nothing is known to bound.
func inconclusiveWords(r *report.Report) string {
	if lostAbove(r, func(w report.Window) bool { return w.Quality == report.Lossy }) {
		return "it isn't decided which loads above this rate the device carries, so its limit lies here or above."
	}
	return "nothing above this rate could be judged, so the device's limit lies here or above."
}

// generatorLimitWords say in what way the generator kept the device's limit from being found.
func generatorLimitWords(r *report.Report) string {
	switch {
	case lostAbove(r, sentInBursts):
		return "above this rate the generator sent in bursts, which a device may lose at any load, so the device's limit lies at this rate or above."
	case lostAbove(r, report.Window.LostToBursts):
		return "above this rate the generator may have sent in bursts, unseen, which a device may lose at any load, so the device's limit lies at this rate or above."
	}
	return "the generator could not send or receive more, so the device's limit lies at this rate or above."
}

// ownKernel says that the device is a Reference without a limit, so its limit is that of the machine.
func ownKernel(r *report.Report) bool {
	dut := report.PlanOf(r).DUT
	return dut.Type == "Reference" && (dut.Reference == nil || dut.Reference.Limit == nil)
}

// lostAbove says that in some window above the figure frames were lost in this way.
func lostAbove(r *report.Report, match func(report.Window) bool) bool {
	figure := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == r.Result.Window })
	return figure >= 0 && slices.ContainsFunc(r.Windows,
		func(w report.Window) bool { return w.Load > r.Windows[figure].Load && match(w) })
}

func sentInBursts(w report.Window) bool { return len(w.Bursts) > 0 && w.LostToBursts() }

// whyNoFigure is why there is no figure, for a report without a message.
func whyNoFigure(r *report.Report) string {
	if r.Result.Reason == report.NoCleanLoad {
		return "even the lowest step lost frames, or could not be judged"
	}
	return "the run ended before anything was measured"
}

// sentence begins a message with a capital and ends it with a full stop, once.
func sentence(s string) string {
	s = capital(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	// a field's path stays as it is written
	if first, _, _ := strings.Cut(s, " "); !unicode.IsLower(r) || strings.Contains(strings.TrimRight(first, "."), ".") {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// verdictText is the verdict with how it came about, such as "Passed (2 of 2 criteria)".
func verdictText(v report.Verdict) string {
	if len(v.Criteria) == 0 {
		return string(cmp.Or(v.Outcome, report.Undecided)) + " (no criteria)"
	}
	passed := 0
	for _, c := range v.Criteria {
		if c.Outcome == report.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%s (%d of %s passed)", cmp.Or(v.Outcome, report.Undecided), passed, criteria(len(v.Criteria)))
}

func criteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprintf("%d criteria", n)
}

// mostReceived is the highest rate that came back at any loss, which is not part of the result.
func mostReceived(s *report.Sum) string {
	return fmt.Sprintf("%s, %s at layer 1, at %s loss (window %d, %s offered)",
		wording.PacketRate(s.Received.PacketsPerSecond), wording.BitRate(s.Received.Layer1BitsPerSecond),
		wording.Loss(s.LossRatio), s.Window, wording.PacketRate(s.Offered.PacketsPerSecond))
}

// resolutionText says how close the search got to the limit. It is empty where there is no such figure.
func resolutionText(r *report.Report) string {
	if !report.HasFigure(r) || r.Result.Resolution == 0 {
		return ""
	}
	return "within " + r.Result.Resolution.Percent().FormatFixed() + "% of the next higher load tried"
}
