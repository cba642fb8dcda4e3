package render

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// atLoadWords say what the table of latency by load is.
const atLoadWords = "Latency by load is of a trial at each load, after the result: a load is a share of the rate that the procedure found or held, 0 % single frames, and lost frames have no latency. It is from the stamp in each frame, right before it is sent, " +
	"to the receiving port; each time is at most 1 % too long. Jitter is the mean difference between two frames that followed each other. The generator's own part is in it and is never subtracted: " +
	"give the Report of the same test with a Loopback beside this one, and it stands below each row."

func atLoadWordsOf(r *report.Report) string {
	if sample := sampleWords(r); sample != "" {
		return sample + " " + atLoadWords
	}
	return atLoadWords
}

// sampleWords say which frames latency is of where not every frame is timed. They are empty where every frame is.
func sampleWords(r *report.Report) string {
	for _, l := range trialsAtLoads(r) {
		for _, d := range l.Directions {
			for _, s := range d.Latency {
				if s.Sample != nil {
					return fmt.Sprintf("Latency is a sample here: of a latency stream of each frame size beside the load, %s of one flow in each direction, and not of every frame. The generator tells its times in steps of %s, each rounded up.",
						wording.PacketRate(s.Sample.PacketsPerSecond),
						wording.Nanoseconds(s.Sample.ResolutionNanoseconds))
				}
			}
		}
	}
	return ""
}

// atLoadTable has how long frames were under way at each load, by direction and frame size. Below each row is what
// a Loopback in the same document had at the same share of its own rate. It is nil where nobody measured it.
func atLoadTable(r *report.Report, reports []*report.Report) *table {
	heads := []string{"latency at load", "frames"}
	for _, s := range shares {
		heads = append(heads, headOf(s))
	}
	t := newTable(1, append(heads, "jitter", "lost")...)
	for _, l := range trialsAtLoads(r) {
		for _, d := range l.Directions {
			for _, s := range d.Latency {
				t.rows = append(t.rows, rowAtLoad(wording.Share(l.load)+" "+wording.Direction(d.From, d.To)+", "+
					sizeText(s), d, s))
				for _, loop := range loopbacksOf(r, reports) {
					if loopback, size, found := sameFrames(loop, l.load, d, s.FrameSize); found {
						t.rows = append(t.rows, rowAtLoad("· a cable, at "+
							wording.PacketRate(loopback.Offered.PacketsPerSecond), loopback, size))
					}
				}
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t.withoutEmptyColumns()
}

// headOf is a column's head. The whole is the longest time.
func headOf(share string) string {
	if share == "all" {
		return "longest"
	}
	return share
}

func rowAtLoad(name string, d report.Direction, l report.Latency) []string {
	row := []string{name, timedOf(l)}
	for _, share := range shares {
		row = append(row, percentileText(l, share))
	}
	jitter, lost := "", ""
	if l.JitterNanoseconds != nil {
		jitter = wording.Nanoseconds(*l.JitterNanoseconds)
	}
	if d.LossRatio != 0 {
		lost = wording.Loss(d.LossRatio)
	}
	return append(row, jitter, lost)
}

// atLoadWarnings tell at which loads latency was to be measured and wasn't, and why.
func atLoadWarnings(r *report.Report) (warnings []string) {
	for _, l := range trialsAtLoads(r) {
		for _, m := range l.missing {
			warnings = append(warnings,
				fmt.Sprintf("latency%s at %s was not measured: %s", m.suffix, wording.Share(l.load), m.reason))
		}
	}
	return warnings
}

// trialAtLoad is the trial of latency at one load, with the directions that have one.
type trialAtLoad struct {
	report.Window

	load    units.Ratio
	missing []missingLatency
}

// missingLatency is why a trial, or one direction of it, has no latency.
type missingLatency struct{ suffix, reason string }

// trialsAtLoads are the trials of latency, in the order of the figures.
func trialsAtLoads(r *report.Report) (trials []trialAtLoad) {
	for _, f := range r.Answer.Figures {
		if f.LatencyLoad == nil || len(trials) > 0 && trials[len(trials)-1].load == *f.LatencyLoad {
			continue
		}
		t := trialAtLoad{load: *f.LatencyLoad}
		if i := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == f.Window }); i >= 0 {
			t.Window = r.Windows[i]
		} else {
			t.missing = append(t.missing, missingLatency{"", f.Missing})
		}
		t.Directions = slices.DeleteFunc(slices.Clone(t.Directions), func(d report.Direction) bool {
			reason := whyNoLatency(r, t.load, d.Name())
			if reason != "" {
				t.missing = append(t.missing, missingLatency{" of " + wording.Direction(d.From, d.To), reason})
			}
			return reason != ""
		})
		trials = append(trials, t)
	}
	return trials
}

// whyNoLatency is the reason that all figures of a direction at a load are missing for. It is empty where some figure
// is there, or they have several reasons.
func whyNoLatency(r *report.Report, at units.Ratio, direction string) (reason string) {
	for _, f := range r.Answer.Figures {
		if f.LatencyLoad == nil || *f.LatencyLoad != at || f.Direction != direction {
			continue
		}
		if f.Missing == "" || reason != "" && f.Missing != reason {
			return ""
		}
		reason = f.Missing
	}
	return reason
}

// percentileText is a percentile of frames for people, or empty for none.
func percentileText(l report.Latency, share string) string {
	p, ok := l.Of(share)
	switch {
	case !ok:
		return ""
	case p.Open:
		return "over " + wording.Nanoseconds(p.Nanoseconds)
	}
	return wording.Nanoseconds(p.Nanoseconds)
}

// sameFrames are those of another Report at the same share of its rate, in the same direction and of the same size.
func sameFrames(r *report.Report, load units.Ratio, template report.Direction,
	size int64) (d report.Direction, l report.Latency, found bool) {
	for _, candidate := range trialsAtLoads(r) {
		for _, d := range candidate.Directions {
			for _, l := range d.Latency {
				if candidate.load == load && d.Name() == template.Name() && l.FrameSize == size {
					return d, l, true
				}
			}
		}
	}
	return d, l, false
}
