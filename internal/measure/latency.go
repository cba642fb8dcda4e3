package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// fillLatency fills in what stamps showed of a direction's latency.
func (s Span) fillLatency(direction int, m *report.Direction) {
	if direction < len(s.Latency) {
		m.Latency = s.Latency[direction]
	}
	if direction < len(s.Unstamped) {
		m.Unstamped = s.Unstamped[direction]
	}
}

// PercentilesOf are the percentiles of a distribution, of whose frames so many more arrived without a known time.
func PercentilesOf(h transit.Histogram, missing int64) (percentiles []report.Percentile) {
	for _, a := range h.Read(uint64(max(missing, 0))).Shares {
		percentiles = append(percentiles, report.Percentile{Share: a.Share.String(), Nanoseconds: a.Time.Nanoseconds(),
			Open: !a.Measured})
	}
	return percentiles
}

// latencyTogether combines the latency of several windows. It adds up frames. Each percentile is the longest of the
// windows', so at least that of all their frames. A percentile that some window lacks is left out.
func latencyTogether(parts []report.Direction) []report.Latency {
	bySize := map[int64][]report.Latency{}
	for _, d := range parts {
		if len(d.Latency) == 0 {
			return nil // nothing is known of one window's frames, and so not how long all were under way at most
		}
		for _, l := range d.Latency {
			bySize[l.FrameSize] = append(bySize[l.FrameSize], l)
		}
	}
	var latencies []report.Latency
	for size, ofSize := range bySize {
		whole := report.Latency{FrameSize: size, Sample: ofSize[0].Sample, Within: slices.Clone(ofSize[0].Within),
			JitterNanoseconds: jitterTogether(ofSize)}
		for _, l := range ofSize {
			whole.Frames, whole.Duplicates, whole.Late = whole.Frames+l.Frames, whole.Duplicates+l.Duplicates,
				whole.Late+l.Late
			whole.Stale, whole.Merged, whole.Uncounted = whole.Stale+l.Stale, whole.Merged+l.Merged, whole.Uncounted+
				l.Uncounted
			whole.Within = longest(whole.Within, l)
		}
		latencies = append(latencies, whole)
	}
	slices.SortFunc(latencies, func(a, b report.Latency) int { return cmp.Compare(a.FrameSize, b.FrameSize) })
	return latencies
}

// jitterTogether is the mean of several windows' jitter, weighted by their frames. It is nil where some window has
// none.
func jitterTogether(latencies []report.Latency) *int64 {
	sum, frames := 0.0, 0.0
	for _, l := range latencies {
		if l.JitterNanoseconds == nil {
			return nil
		}
		sum, frames = sum+float64(*l.JitterNanoseconds)*float64(l.Frames), frames+float64(l.Frames)
	}
	if frames == 0 {
		return nil
	}
	return new(int64(math.Round(sum / frames)))
}

func longest(percentiles []report.Percentile, l report.Latency) (longer []report.Percentile) {
	for _, p := range percentiles {
		second, ok := l.Of(p.Share)
		if !ok {
			continue
		}
		p.Nanoseconds, p.Open = max(p.Nanoseconds, second.Nanoseconds), p.Open || second.Open
		longer = append(longer, p)
	}
	return longer
}
