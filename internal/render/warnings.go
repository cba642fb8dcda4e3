package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// warnings are the reasons to doubt a figure, or to look twice, most serious first.
func warnings(r *report.Report) []string {
	var warnings []string
	warnings = append(warnings, endingWarnings(r)...)
	warnings = append(warnings, sharedWarnings(r)...)
	warnings = append(warnings, sectionWarnings(r)...)
	warnings = append(warnings, resultWarnings(r)...)
	warnings = append(warnings, pathWarnings(r)...)
	warnings = append(warnings, linkWarnings(r)...)
	warnings = append(warnings, silenceWarnings(r)...)
	warnings = append(warnings, visibilityWarnings(r)...)
	warnings = append(warnings, implausibleWarnings(r)...)
	warnings = append(warnings, numberedWarnings(r)...)
	warnings = append(append(warnings, latencyWarnings(r)...), atLoadWarnings(r)...)
	warnings = append(warnings, totalWarnings(r)...)
	return append(warnings, stolenWarnings(r)...)
}

// doubts are what single windows showed beside the result. The result takes them into account.
func doubts(r *report.Report) []string {
	return slices.Concat(outvotedWarnings(r), burstWarnings(r), windowWarnings(r))
}

// sectionWarnings are the reasons to doubt what the procedure lays out.
func sectionWarnings(r *report.Report) (warnings []string) {
	for _, s := range r.Answer.Sections {
		warnings = append(warnings, s.Warnings...)
	}
	return warnings
}

func endingWarnings(r *report.Report) []string {
	if r.Ending == report.Completed {
		return nil
	}
	w := fmt.Sprintf("not a whole measurement: the run ended as %s", cmp.Or(r.Ending, "unknown"))
	if r.Message != "" && (r.Fault == nil || report.HasFigure(r)) && !strings.Contains(answer.Sentence(r), capital(strings.TrimSuffix(r.Message, "."))) {
		w += ": " + strings.TrimSuffix(r.Message, ".")
	} else if r.Fault != nil {
		return append([]string{w}, r.Fault.Cautions...)
	}
	return []string{w}
}

// deviceTexts say which images ran as the device, as nothing else shows later what was measured.
func deviceTexts(r *report.Report) []string {
	if r.Device == nil {
		return nil
	}
	var warnings []string
	for _, c := range r.Device.Containers {
		warnings = append(warnings, c.String())
	}
	return warnings
}

// sharedWarnings say which ends shared a physical port.
func sharedWarnings(r *report.Report) []string {
	var warnings []string
	for _, s := range r.Answer.SharedPorts {
		warnings = append(warnings, "shared port: "+s+
			": they share its bandwidth, and frames between them may never have been on a wire")
	}
	return warnings
}

func resultWarnings(r *report.Report) []string {
	if !report.HasFigure(r) {
		return nil
	}
	var warnings []string
	if !r.Answer.Confirmed {
		words := "the rate was not held for a confirmation"
		if d := report.PlanOf(r).Procedure.Confirmation(); d > 0 {
			words = "the rate was not held for the " + wording.Span(d) + " of the confirmation"
		}
		warnings = append(warnings, "not confirmed: "+words)
	}
	if r.Answer.NonMonotonic {
		warnings = append(warnings, "not monotonic: above the rate reported, at some higher load frames came back within the loss limit again")
	}
	return warnings
}

// pathWarnings say which paths are not proven, but for the one that the run's message names.
func pathWarnings(r *report.Report) []string {
	var warnings []string
	for _, p := range r.Path {
		isTold := p.Message != "" && strings.Contains(r.Message, p.Message)
		if !p.Proven && !isTold {
			warnings = append(warnings, fmt.Sprintf("path %s not proven: %s", wording.Direction(p.From, p.To),
				cmp.Or(p.Message, fmt.Sprintf("%d of %d marked frames came back", p.Received, p.Sent))))
		}
	}
	return warnings
}

// linkWarnings say which links went down or came up during the run.
func linkWarnings(r *report.Report) []string {
	var warnings []string
	for _, g := range r.Generators {
		for _, p := range g.Ports {
			if p.LinkChanges > 0 {
				warnings = append(warnings, fmt.Sprintf("the link of %s (generator %s) changed its state %s during the run; windows in which it did show nothing about the device's limit: check cable and ports, and whether the device restarted",
					p.Link, g.Name, wording.Counted(int(p.LinkChanges), "time")))
			}
		}
	}
	return warnings
}

func silenceWarnings(r *report.Report) []string {
	var warnings []string
	for _, s := range r.Silence {
		if s.PacketsPerSecond > 0 {
			warnings = append(warnings, fmt.Sprintf("not silent: %s received %s of background traffic while nothing was sent (generator %s)", s.Link, wording.PacketRate(s.PacketsPerSecond), s.Generator))
		}
	}
	return warnings
}

func totalWarnings(r *report.Report) []string {
	var warnings []string
	for _, t := range r.Totals {
		if !t.Drained {
			warnings = append(warnings, fmt.Sprintf("not drained: %s still had frames on their way at the end, so its totals are not settled", wording.Direction(t.From, t.To)))
		}
		if t.ReceiveErrors > 0 {
			warnings = append(warnings, fmt.Sprintf("the generator itself dropped %s of the frames that came back from %s", wording.Count(t.ReceiveErrors), wording.Direction(t.From, t.To)))
		}
		if t.SendDrops > 0 {
			warnings = append(warnings, fmt.Sprintf("up to %s of the frames that the generator's ports counted as sent from %s never left them", wording.Count(t.SendDrops), wording.Direction(t.From, t.To)))
		}
		if t.DamagedFrames > 0 {
			warnings = append(warnings, fmt.Sprintf("%s frames came damaged from %s, and count as lost; check cables, transceivers, MTU and the device's port", wording.Count(t.DamagedFrames), wording.Direction(t.From, t.To)))
		}
		if n := t.LostElsewhere(); n > 0 {
			warnings = append(warnings, fmt.Sprintf("this machine itself lost %s frames from %s, beside the %s that the Reference's limit took; give it processors that nothing else uses",
				wording.Count(n), wording.Direction(t.From, t.To), wording.Count(t.Limiter.Dropped)))
		}
	}
	return warnings
}

// burstWarnings say which generators don't send evenly, even if no frame was lost for it.
func burstWarnings(r *report.Report) []string {
	var warnings []string
	worst, windows := map[string]report.Burst{}, map[string]int{}
	for _, w := range r.Windows {
		listed := map[string]bool{}
		for _, b := range w.Bursts {
			if !listed[b.Generator] {
				windows[b.Generator]++
				listed[b.Generator] = true
			}
			if worse := worst[b.Generator]; b.Sent-b.Due > worse.Sent-worse.Due {
				worst[b.Generator] = b
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(worst)) {
		b := worst[name]
		warnings = append(warnings, fmt.Sprintf("generator %s sent in bursts in %s: at worst %s frames within %s on %s, where %s were due; give it processors that nothing else uses",
			name, wording.Counted(windows[name], "window"), wording.Count(b.Sent),
			b.Duration.Std().Round(time.Millisecond), b.Link, wording.Count(b.Due)))
	}
	return warnings
}

// What the host of a virtual machine takes of a processor's time is shown from this share on, on average or in the
// worst second. Below it, known answers stay within a percent (internal/host/machine has the measurements).
const (
	stolenPercent      = 1
	stolenWorstPercent = 5
)

// stolenWarnings say which generators' virtual machines lost processor time to their hosts.
func stolenWarnings(r *report.Report) []string {
	var warnings []string
	for _, s := range r.Stolen {
		if s.Percent >= stolenPercent || s.WorstPercent >= stolenWorstPercent {
			warnings = append(warnings, fmt.Sprintf("generator %s is on a virtual machine whose host took %s%% of its processors' time while traffic ran, %s%% in the worst second: a figure may be lower than the device's limit; measure where the processors are not shared",
				s.Generator, short(r1(s.Percent)), short(r1(s.WorstPercent))))
		}
	}
	return warnings
}

func windowWarnings(r *report.Report) []string {
	var invalid []report.Window
	for _, w := range r.Windows {
		if w.SaysNothing() {
			invalid = append(invalid, w)
		}
	}
	count, total, example := len(invalid), len(r.Windows), "the first is"
	if r.Thinned != nil {
		count, total, example = r.Thinned.InvalidWindows, r.Thinned.Windows, "one is"
	}
	if count == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %s %s nothing about the device", count, wording.Counted(total, "window"),
		wording.Verb(count, "says", "say"))
	if len(invalid) > 0 {
		text += fmt.Sprintf("; %s window %d: %s", example, invalid[0].Number,
			cmp.Or(invalid[0].Reason, "no reason given"))
	}
	return []string{text}
}

// outvotedWarnings say at which loads, the figure's or lower ones, some windows lost frames, and how many.
func outvotedWarnings(r *report.Report) []string {
	var warnings []string
	for _, o := range r.Answer.Outvoted {
		w := o.String()
		for _, window := range r.Windows {
			if len(o.Lossy) > 0 && window.Number == o.Lossy[0] && window.Reason != "" {
				w += ": " + window.Reason
			}
		}
		warnings = append(warnings, w+"; something disturbed it, or the device loses frames now and then: repeat the test where that matters")
	}
	return warnings
}
