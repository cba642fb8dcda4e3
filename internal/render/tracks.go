package render

import (
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// maxPoints bounds how many readings a graph draws. More are averaged together, which the graph says.
const maxPoints = 900

// track is what a graph shows, which is all directions together, or one.
type track struct {
	Name     string
	index    int     // of the direction, or -1 for all
	capacity float64 // packets/s at 100 % of line rate, or 0 where unknown
	sessions bool    // it is of connections, and not of frames
}

// tracksOf are the graphs that a report deserves, the sum first, and each direction where there are several.
func tracksOf(r *report.Report) []track {
	directions := report.PlanOf(r).Directions
	if report.PlanOf(r).Sessions != nil {
		return sessionTracks(directions)
	}
	if report.PlanOf(r).Procedure.Type == plan.TypeTrains {
		return nil // trains have no rates
	}
	var tracks []track
	total := track{Name: "all directions", index: -1}
	complete := true
	for i, d := range directions {
		capacity := units.LinePacketRate(d.Mix, lineRateOf(r, d.To)).PerSecond()
		complete = complete && capacity > 0
		total.capacity += capacity
		tracks = append(tracks, track{Name: wording.Direction(d.From, d.To), index: i, capacity: capacity})
	}
	if !complete {
		total.capacity = 0
	}
	if len(tracks) == 1 {
		return tracks
	}
	return append([]track{total}, tracks...)
}

// reading is what the generator's counters said between two moments, in seconds, and of frames in packets/s.
type reading struct {
	start, end                  float64
	intended, offered, received float64
	goodput, retransmits        float64 // of sessions instead, in bits/s and segments/s, or -1 where unknown
	cpu                         float64 // percent, or -1 where unknown
	phase                       report.Phase
}

// readings are the samples as rates of the track, and over how many samples each is averaged. Where there are no
// samples, the windows serve.
func (t track) readings(r *report.Report) ([]reading, int) {
	if t.sessions {
		return t.sessionReadings(r)
	}
	if len(r.Samples) == 0 {
		return t.windowReadings(r), 1
	}
	stride := max(1, (len(r.Samples)+maxPoints-1)/maxPoints)
	var readings []reading
	earlier := report.Sample{Directions: make([]report.SampleDirection, len(report.PlanOf(r).Directions))}
	for i, later := range r.Samples {
		if i%stride != stride-1 && i != len(r.Samples)-1 {
			continue
		}
		if took := (later.Time - earlier.Time).Std().Seconds(); took > 0 {
			intended, sent, returned := t.counts(later)
			_, sentBefore, returnedBefore := t.counts(earlier)
			readings = append(readings, reading{start: earlier.Time.Std().Seconds(), end: later.Time.Std().Seconds(),
				intended: float64(intended),
				offered:  max(float64(sent-sentBefore)/took, 0), received: max(float64(returned-returnedBefore)/took,
					0),
				cpu: later.CPUPercent, phase: later.Phase})
		}
		earlier = later
	}
	return readings, stride
}

func (t track) windowReadings(r *report.Report) []reading {
	var readings []reading
	for _, w := range t.windows(r) {
		readings = append(readings, reading{start: w.start, end: w.end, intended: float64(w.intended),
			offered: float64(w.offered), received: float64(w.received), cpu: w.cpu, phase: w.phase})
	}
	return readings
}

// counts are the track's intended rate and its packets so far.
func (t track) counts(s report.Sample) (intended, sent, returned int64) {
	for i, d := range s.Directions {
		if t.index < 0 || t.index == i {
			intended += d.IntendedPacketsPerSecond
			sent += d.Sent.Packets
			returned += d.Returned.Packets
		}
	}
	return intended, sent, returned
}

// judgedWindow is a window as the track sees it.
type judgedWindow struct {
	number                      int
	phase                       report.Phase
	start, end                  float64 // seconds
	intended, offered, received int64
	loss                        float64
	quality                     report.Quality
	reason                      string
	cpu                         float64
	// of a track of sessions, goodput and retransmits instead of the packets, or nil where nobody knows them
	sessions   *report.Sessions
	ofSessions bool
}

// windows are the report's windows as the track sees them. The sum's loss is of all packets, its quality the window's.
func (t track) windows(r *report.Report) []judgedWindow {
	var windows []judgedWindow
	for _, w := range r.Windows {
		if t.index >= 0 && t.index < len(w.Directions) && w.Directions[t.index].Quality == report.Unjudged {
			continue // another direction's
		}
		if w.Phase == report.Bursting {
			continue // of which no rate is received
		}
		j := judgedWindow{number: w.Number, phase: w.Phase, start: w.Start.Std().Seconds(),
			end: (w.Start + w.Duration).Std().Seconds(), quality: w.Quality, reason: w.Reason,
			cpu: w.GeneratorCPUPercent}
		if j.ofSessions = t.sessions; t.sessions {
			j.sessions = t.sessionsIn(w)
		}
		var sent, returned int64
		for i, d := range w.Directions {
			if t.index >= 0 && t.index != i {
				continue
			}
			j.intended += d.Intended.PacketsPerSecond
			j.offered += d.Offered.PacketsPerSecond
			j.received += d.Received.PacketsPerSecond
			sent, returned = sent+d.Sent.Packets, returned+d.Returned.Packets
			if t.index == i {
				j.quality, j.reason = d.Quality, d.Reason
			}
		}
		j.loss = units.RatioOf(sent-returned, sent).Float()
		windows = append(windows, j)
	}
	return windows
}

// result is the track's part of the result, the rates offered and received at the moment reported.
func (t track) result(r *report.Report) (offered, received int64, ok bool) {
	if !report.HasFigure(r) || t.index >= len(r.Answer.Directions) {
		return 0, 0, false
	}
	if t.index < 0 {
		return r.Answer.Total.Offered.PacketsPerSecond, r.Answer.Total.Received.PacketsPerSecond, true
	}
	d := r.Answer.Directions[t.index]
	return d.Offered.PacketsPerSecond, d.Received.PacketsPerSecond, true
}

// headline is the report's line as it holds for the track. Of one direction it says whether that is a limit or a
// bound.
func (t track) headline(r *report.Report) report.Headline {
	h := figures.HeadlineOf(r)
	if t.index >= 0 && t.index < len(r.Answer.Directions) {
		return figures.HeadlineIn(h, r, r.Answer.Directions[t.index])
	}
	return h
}

// standing is what kind of answer the report gives for the track.
func (t track) standing(r *report.Report) string {
	if t.index < 0 || t.index >= len(r.Answer.Directions) || r.Answer.Directions[t.index].Limit == nil {
		return answer.Standing(r)
	}
	switch h := t.headline(r); {
	case h.Bound:
		return lowerBound
	case h.Unconfirmed:
		return notConfirmed
	case r.Answer.Directions[t.index].Estimate != nil:
		return estimated
	}
	return saturated
}

// stretch is a run of readings in one phase.
type stretch struct {
	phase      report.Phase
	start, end float64
}

// stretches are the phases as the readings passed through them.
func stretches(readings []reading) []stretch {
	var stretches []stretch
	for _, g := range readings {
		if final := len(stretches) - 1; final >= 0 && stretches[final].phase == g.phase {
			stretches[final].end = g.end
			continue
		}
		stretches = append(stretches, stretch{g.phase, g.start, g.end})
	}
	return stretches
}

// title describes a window in words, under the pointer at its mark.
func (w judgedWindow) title() string {
	if w.ofSessions {
		return w.sessionsTitle()
	}
	return "window " + strconv.Itoa(w.number) + ", " + phaseText(w.phase) + ": intended " +
		wording.PacketRate(w.intended) + ", offered " + wording.PacketRate(w.offered) + ", received " +
		wording.PacketRate(w.received) +
		", loss " + wording.Loss(units.RatioOfShare(w.loss)) + ". " + string(w.quality) + ": " + w.reason
}

// phaseText is a phase in lower case, as in a sentence.
func phaseText(p report.Phase) string {
	switch p {
	case report.WarmUp:
		return "warm-up"
	case report.Ramping:
		return "ramp"
	case report.Refine:
		return "refine"
	case report.Confirm:
		return "confirm"
	case report.Hold:
		return "hold"
	case report.AllAtOnce:
		return "all at once"
	case report.Trial:
		return "trial"
	case report.Bursting:
		return "burst"
	case report.InTrains:
		return "trains"
	case report.AtLoad:
		return "latency"
	case report.Profiled:
		return "profile"
	case report.Draining, report.Ended: // no window's
	}
	return string(p)
}
