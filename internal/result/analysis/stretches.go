package analysis

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
)

// stretch is what a direction sent and got back from one moment of a run to another.
type stretch struct {
	from, to time.Duration
	// asked is in frames per second. came are frames, damaged ones too.
	asked, sent, came int64
	// sentBytes and cameBytes are without damaged frames.
	sentBytes, cameBytes int64
	damaged              int64 // of the frames that came
	// back is how much of what was sent came back later.
	back int64
}

func (s stretch) lasted() time.Duration { return s.to - s.from }

// between is the stretch of direction i between two samples.
func between(a, b report.Sample, i int) stretch {
	from, to := a.Directions[i], b.Directions[i]
	sent, came, damaged := to.Sent.Sub(from.Sent), to.Returned.Sub(from.Returned), to.ReceiveErrors-from.ReceiveErrors
	return stretch{from: a.At.Std(), to: b.At.Std(), asked: to.IntendedPacketsPerSecond, sent: sent.Packets, came: came.Packets + damaged, sentBytes: sent.Bytes, cameBytes: came.Bytes, damaged: damaged}
}

// cut makes stretches of what is between these samples; none: the samples don't have that direction.
func cut(samples []report.Sample, i int) (all []stretch) {
	for n := range max(0, len(samples)-1) {
		if i >= min(len(samples[n].Directions), len(samples[n+1].Directions)) {
			return nil
		}
		all = append(all, between(samples[n], samples[n+1], i))
	}
	return all
}

// stretchesOf are the stretches of a run in direction i, between samples; without samples its windows.
func stretchesOf(r *report.Report, i int) []stretch {
	if len(r.Samples) < 2 {
		return windowsAsStretches(r, i)
	}
	all := cut(r.Samples, i)
	for n := range all {
		s, was, is := &all[n], r.Samples[n].Directions[i].Sessions, r.Samples[n+1].Directions[i].Sessions
		if is == nil {
			s.back = cameLater(r.Samples[n+1:], i, s.to+longestDelay)
			continue
		}
		if seldom(r) {
			return nil
		}
		s.sent, s.came = measure.LeastSent, 0 // connections have something to send at any time
		if was != nil && is.ReceivedBytes > was.ReceivedBytes {
			s.came = s.sent
		}
	}
	return all
}

// cameLater is by how much more came back than was sent after the first of these samples, until a moment: frames that were under way then.
func cameLater(samples []report.Sample, i int, until time.Duration) (most int64) {
	for _, s := range samples[1:] {
		if s.At.Std() > until {
			break
		}
		later := between(samples[0], s, i)
		most = max(most, later.came-later.sent)
	}
	return most
}

// windowsAsStretches are the windows of a Report without samples.
func windowsAsStretches(r *report.Report, i int) (all []stretch) {
	for _, w := range r.Windows {
		if i >= len(w.Directions) {
			return nil
		}
		d := w.Directions[i]
		s := stretch{from: w.Start.Std(), to: (w.Start + w.Duration).Std(), asked: d.Intended.PacketsPerSecond, sent: d.Sent.Packets, came: d.Returned.Packets + d.ReceiveErrors}
		if s.sent > 0 {
			all = append(all, s)
		}
	}
	return all
}
