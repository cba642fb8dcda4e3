package soak

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// sentence says what the direction's trials show.
func (d direction) sentence(l *criticalLoad) string {
	ratio, needed := d.plan.LossRatio.String(), wording.Count(d.plan.FramesNeeded())
	sent := fmt.Sprintf("%s frames were sent in %s", wording.Count(l.Sent), wording.Counted(l.Trials, "trial"))
	switch {
	case l.Sent < d.plan.FramesNeeded():
		return fmt.Sprintf("no answer: %s, and a loss ratio of %s takes %s to see: raise procedure.soak.duration, or "+
			"lossRatio", sent, ratio, needed)
	case l.Lost == 0:
		return d.losslessSentence(l, sent)
	}
	text := fmt.Sprintf("%s, %s of them lost", sent, wording.Count(l.Lost))
	if l.Doubtful > 0 {
		text += fmt.Sprintf(" (%s maybe not by the device)", wording.Count(l.Doubtful))
	}
	text += ": " + d.answerSentence(l)
	if l.Extrapolated {
		text += fmt.Sprintf("; not confirmed, as only %s frames were sent at loads up to there, and such a loss "+
			"ratio takes %s to see: the answer rests on the curves", wording.Count(l.Below), needed)
	}
	return text
}

// losslessSentence says at which load the device surely loses less than the loss ratio, where it lost nothing.
func (d direction) losslessSentence(l *criticalLoad, sent string) string {
	text := fmt.Sprintf("lower bound: %s, and none was lost: with 95 %% confidence the device loses less than %s at %s",
		sent, d.plan.LossRatio, rateText(l.Low))
	switch {
	case !d.provenAtHighest(l.Low.Float()):
		return text + ", by the trials at that load and above"
	case d.atHighest.UnderOffered():
		return text + d.generatorLimitText()
	}
	return text + ", the highest load asked for"
}

// answerSentence says where the critical load lies.
func (d direction) answerSentence(l *criticalLoad) string {
	ratio := d.plan.LossRatio
	switch {
	case l.Low == "0" && l.High == "":
		return fmt.Sprintf("they don't show at which load %s is lost on average", ratio)
	case l.High == "":
		text := fmt.Sprintf("lower bound: with 95 %% confidence %s is lost on average at %s or above, and no load "+
			"that was offered is known to be above that point", ratio, rateText(l.Low))
		if d.atHighest.UnderOffered() {
			text += d.generatorLimitText()
		}
		return text
	case l.Low == "0":
		return fmt.Sprintf("with 95 %% confidence %s is lost on average at %s or below, maybe below the lowest load "+
			"asked for", ratio, rateText(l.High))
	}
	var shapes []string
	for _, s := range l.Shapes {
		shapes = append(shapes, fmt.Sprintf("%s by the %s function", rateText(s.PacketsPerSecond), s.Shape))
	}
	return fmt.Sprintf("estimate: %s is lost on average at %s, standard deviation %s, with 95 %% confidence between "+
		"%s and %s (%s)", ratio, rateText(l.PacketsPerSecond), rateText(l.Deviation), rateText(l.Low), rateText(l.High),
		strings.Join(shapes, ", "))
}

// provenAtHighest reports whether a lower end is the load of a trial at the highest load that was asked for.
func (d direction) provenAtHighest(low float64) bool {
	return slices.ContainsFunc(d.offeredAtHighest,
		func(offered float64) bool { return math.Abs(offered-d.unsure-low) <= loadsKnownTo })
}

// generatorLimitText says that the generators were the limit of the direction.
func (d direction) generatorLimitText() string {
	return fmt.Sprintf(", and the generators send no more, of %s asked for",
		wording.PacketRate(d.atHighest.Intended.PacketsPerSecond))
}

func rateText(n report.Number) string {
	return units.PacketRate(math.Round(n.Float() * float64(units.PacketPerSecond))).FormatSI()
}
