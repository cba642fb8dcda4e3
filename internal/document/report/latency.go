package report

import "github.com/linerate-dev/linerate/internal/units"

// Latency is how long frames of one size were under way in one direction of a window, from the stamp, which is
// written right before a frame is sent, to the receiving port's program. The generator's own part is included. The
// same test with a Loopback shows how long that is. Nothing is ever subtracted.
type Latency struct {
	// FrameSize is in bytes, FCS included, or 0 where it varies.
	FrameSize int64 `json:"frameSize,omitempty"`
	// Frames came and were timed. Duplicates had come before, Late ones came after a later one of their stream, and
	// Stale ones are either of the two, too long after to tell. All three are among Frames.
	Frames     int64 `json:"frames"`
	Duplicates int64 `json:"duplicates,omitempty"`
	Late       int64 `json:"late,omitempty"`
	Stale      int64 `json:"stale,omitempty"`
	// Sample is which frames these are where only some are timed. It is nil where every frame of this size is.
	Sample *LatencySample `json:"sample,omitempty"`
	// Merged frames came, but could not be timed, because the kernel had merged several into one buffer.
	Merged int64 `json:"merged,omitempty"`
	// Uncounted frames came and were timed, but the generator had no room to keep their times.
	Uncounted int64 `json:"uncounted,omitempty"`
	// Within are the percentiles, at most 1 % too long, from the median to the longest time. They are of all frames
	// that came. A percentile with fewer than ten frames above it is left out, and so is one that the Merged and
	// Uncounted frames could change. For several windows together, each is the longest of theirs, and the
	// percentile of all their frames is no longer than that.
	Within []Percentile `json:"within,omitempty"`
	// JitterNanoseconds is the mean difference between the latencies of two frames of a stream that followed each
	// other (RFC 4689). It is nil where no two did.
	JitterNanoseconds *int64 `json:"jitterNanoseconds,omitempty"`
	// Histogram is the whole distribution in nanoseconds, as HdrHistogram encodes it (V2, compressed, base64), in
	// windows of phase Latency alone.
	Histogram string `json:"histogram,omitempty"`
}

// LatencySample is a latency stream, whose frames of one flow the generator sends besides the load, and times.
type LatencySample struct {
	PacketsPerSecond int64 `json:"packetsPerSecond"`
	// ResolutionNanoseconds is the resolution of their times, each rounded up to a multiple of it.
	ResolutionNanoseconds int64 `json:"resolutionNanoseconds"`
}

// Percentile is the time within which a share of the frames came.
type Percentile struct {
	// Share is p50, p90, p99, p99.9, p99.99, p99.999, or all.
	Share string `json:"share"`
	// Nanoseconds is that time. Open says that it was at least that, and how much longer is unknown.
	Nanoseconds int64 `json:"nanoseconds"`
	Open        bool  `json:"open,omitempty"`
}

// Came is how many frames came, timed or not.
func (l Latency) Came() int64 { return l.Frames + l.Merged }

// Timed is how many frames have a known time, from which the percentiles are taken.
func (l Latency) Timed() int64 { return l.Frames - l.Uncounted }

// Of is the percentile of a share, or false for none.
func (l Latency) Of(share string) (Percentile, bool) {
	for _, p := range l.Within {
		if p.Share == share {
			return p, true
		}
	}
	return Percentile{}, false
}

// Untimed is why a generator's frames of a direction were sent without the time stamps that were asked for.
type Untimed struct {
	Generator string `json:"generator"`
	From      string `json:"from"`
	To        string `json:"to"`
	Reason    string `json:"reason"`
}

// LatencyMedian is a figure of latency of several runs together.
type LatencyMedian struct {
	Metric Metric `json:"metric"`
	// Direction, LatencyLoad and FrameSize are as in Figure.
	Direction   string      `json:"direction"`
	LatencyLoad units.Ratio `json:"latencyLoad"`
	FrameSize   int64       `json:"frameSize,omitempty"`
	// Runs is how many runs have the figure, Missing how many don't.
	Runs    int `json:"runs"`
	Missing int `json:"missing,omitempty"`
	// Nanoseconds is the median of those that have it. The true median lies from Low to High with this confidence.
	// Spread is how far the runs are apart. It is 0 where no run has it.
	Nanoseconds     int64         `json:"nanoseconds,omitempty"`
	LowNanoseconds  int64         `json:"lowNanoseconds,omitempty"`
	HighNanoseconds int64         `json:"highNanoseconds,omitempty"`
	Confidence      units.Percent `json:"confidencePercent,omitempty"`
	SpreadPercent   units.Percent `json:"spreadPercent,omitempty"`
	// Open says that for some run it is unknown how much longer it was.
	Open bool `json:"open,omitempty"`
	// Judgement, Change and Message say how it compares with the first side's, as in Compared. They are empty where
	// it is compared with nothing. Less is better.
	Judgement Judgement `json:"judgement,omitempty"`
	Change    *Change   `json:"change,omitempty"`
	Message   string    `json:"message,omitempty"`
}

// Same says whether two are of the same figure.
func (m LatencyMedian) Same(o LatencyMedian) bool {
	return m.Metric == o.Metric && m.Direction == o.Direction && m.LatencyLoad == o.LatencyLoad &&
		m.FrameSize == o.FrameSize
}
