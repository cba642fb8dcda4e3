package analysis

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
)

// stretch is what a direction sent and got back from one moment of a run to another.
type stretch struct {
	start, end time.Duration
	// asked is in frames per second. came are frames, damaged ones too.
	asked, sent, came int64
	// sentBytes and cameBytes are without damaged frames.
	sentBytes, cameBytes int64
	damaged              int64 // of the frames that came
	// returned is how much of what was sent came back later.
	returned int64
}

func (s stretch) lasted() time.Duration { return s.end - s.start }

// between is the stretch of direction i between two samples.
func between(a, b report.Sample, i int) stretch {
	earlier, later := a.Directions[i], b.Directions[i]
	sent, came, damaged := later.Sent.Sub(earlier.Sent), later.Returned.Sub(earlier.Returned),
		later.ReceiveErrors-earlier.ReceiveErrors
	return stretch{start: a.Time.Std(), end: b.Time.Std(), asked: later.IntendedPacketsPerSecond, sent: sent.Packets,
		came: came.Packets + damaged, sentBytes: sent.Bytes, cameBytes: came.Bytes, damaged: damaged}
}

// cut makes stretches of the times between these samples. There are none where the samples don't have that
// direction.
func cut(samples []report.Sample, i int) (stretches []stretch) {
	for n := range max(0, len(samples)-1) {
		if i >= min(len(samples[n].Directions), len(samples[n+1].Directions)) {
			return nil
		}
		stretches = append(stretches, between(samples[n], samples[n+1], i))
	}
	return stretches
}

// stretchesOf are the stretches of a run in direction i, between samples. Without samples they are its windows.
func stretchesOf(r *report.Report, i int) []stretch {
	if len(r.Samples) < 2 {
		return windowsAsStretches(r, i)
	}
	stretches := cut(r.Samples, i)
	for n := range stretches {
		s, earlier, later := &stretches[n], r.Samples[n].Directions[i].Sessions, r.Samples[n+1].Directions[i].Sessions
		if later == nil {
			s.returned = cameLater(r.Samples[n+1:], i, s.end+longestDelay)
			continue
		}
		if seldom(r) {
			return nil
		}
		s.sent, s.came = measure.LeastSent, 0 // connections have something to send at any time
		if earlier != nil && later.ReceivedBytes > earlier.ReceivedBytes {
			s.came = s.sent
		}
	}
	return stretches
}

// cameLater is by how much more came back than was sent after the first of these samples, until a moment, as frames
// were under way then.
func cameLater(samples []report.Sample, i int, limit time.Duration) (highest int64) {
	for _, s := range samples[1:] {
		if s.Time.Std() > limit {
			break
		}
		later := between(samples[0], s, i)
		highest = max(highest, later.came-later.sent)
	}
	return highest
}

// windowsAsStretches are the windows of a Report without samples.
func windowsAsStretches(r *report.Report, i int) (stretches []stretch) {
	for _, w := range r.Windows {
		if i >= len(w.Directions) {
			return nil
		}
		d := w.Directions[i]
		s := stretch{start: w.Start.Std(), end: (w.Start + w.Duration).Std(), asked: d.Intended.PacketsPerSecond,
			sent: d.Sent.Packets, came: d.Returned.Packets + d.ReceiveErrors}
		if s.sent > 0 {
			stretches = append(stretches, s)
		}
	}
	return stretches
}
