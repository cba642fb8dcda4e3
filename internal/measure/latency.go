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
func PercentilesOf(h transit.Histogram, missing int64) (all []report.Percentile) {
	for _, a := range h.Read(uint64(max(missing, 0))).Shares {
		all = append(all, report.Percentile{Share: a.Share.String(), Nanoseconds: a.Within.Nanoseconds(), Open: !a.Known})
	}
	return all
}

// latencyTogether combines the latency of several windows: frames are added up, and each percentile is the longest of the windows', so at least that of all their frames. A percentile that some
// window lacks is left out.
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
	var all []report.Latency
	for size, each := range bySize {
		whole := report.Latency{FrameSize: size, Sample: each[0].Sample, Within: slices.Clone(each[0].Within), JitterNanoseconds: jitterTogether(each)}
		for _, l := range each {
			whole.Frames, whole.Duplicates, whole.Late = whole.Frames+l.Frames, whole.Duplicates+l.Duplicates, whole.Late+l.Late
			whole.Stale, whole.Merged, whole.Uncounted = whole.Stale+l.Stale, whole.Merged+l.Merged, whole.Uncounted+l.Uncounted
			whole.Within = longest(whole.Within, l)
		}
		all = append(all, whole)
	}
	slices.SortFunc(all, func(a, b report.Latency) int { return cmp.Compare(a.FrameSize, b.FrameSize) })
	return all
}

// jitterTogether is the mean of several windows' jitter, weighted by their frames; nil: some window has none.
func jitterTogether(each []report.Latency) *int64 {
	sum, frames := 0.0, 0.0
	for _, l := range each {
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

func longest(within []report.Percentile, l report.Latency) (out []report.Percentile) {
	for _, p := range within {
		other, told := l.Of(p.Share)
		if !told {
			continue
		}
		p.Nanoseconds, p.Open = max(p.Nanoseconds, other.Nanoseconds), p.Open || other.Open
		out = append(out, p)
	}
	return out
}
