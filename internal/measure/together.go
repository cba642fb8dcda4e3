package measure

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// SurelyLost is how many frames of a direction the device lost in any case, without what the generator itself
// dropped, and what the window's edges or a disturbance may account for. Where more came back than was sent it is
// the surplus, below zero.
func SurelyLost(m report.Direction) int64 {
	return surelyLostOf(m.Sent.Packets-m.Returned.Packets, m.GeneratorDrops(), m.EdgeFrames+m.DisturbedFrames)
}

// Combine makes one window of several, for an answer that all of them give. It doesn't ask what they are worth, so
// leave out those that do not count. One window stays as it is. The order of several makes no difference. These are
// the rules, per direction:
//
//   - Counters, edges and durations are added up. What lies between two windows is in neither.
//   - Rates and the share of the line rate are the windows' own, weighted by their durations. (Of one generator
//     that is counters ÷ duration; of several, each window has already divided each generator's counters by
//     that generator's time.)
//   - LossRatio is of the counters. LossRatioMin is of what was surely lost in each window, added up, or of the
//     counters added up if that is more: either is surely lost, and the second takes the edges of all windows
//     off at once. LossRatioMax is of what may have been lost in each window, added up.
//   - Quality is the worst.
//   - What observers saw is the mean over the time that it is of, and the least and the most in any window;
//     missing in one window, it is missing.
//   - Each percentile of latency is the longest of the windows', so at least that of all their frames.
//   - Sessions' counters and times are added up, and their goodput is all that was received in all the time.
//
// The whole has no Number, as it is no window of a Report, and neither bursts nor evidence, which stay with the
// windows that they were seen in. Phase, Load and Start are the earliest window's.
func Combine(windows []report.Window) report.Window {
	switch len(windows) {
	case 0:
		return report.Window{Quality: report.Invalid, Reason: "there is no window", GeneratorCPUPercent: -1}
	case 1:
		return windows[0]
	}
	first := slices.MinFunc(windows, func(a, b report.Window) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number))
	})
	whole := report.Window{Phase: first.Phase, Load: first.Load, Start: first.Start, GeneratorCPUPercent: -1}
	for _, w := range windows {
		whole.Duration += w.Duration
		whole.GeneratorCPUPercent = max(whole.GeneratorCPUPercent, w.GeneratorCPUPercent)
	}
	for _, d := range first.Directions {
		whole.Directions = append(whole.Directions, directionTogether(windows, d.From, d.To))
	}
	for _, g := range first.Generators {
		whole.Generators = append(whole.Generators, generatorTogether(windows, g.Name))
	}
	whole.Observed = observedTogether(windows)
	whole.Quality, whole.Reason = Worst(whole.Directions)
	return whole
}

// directionTogether is one direction of all windows that have it.
func directionTogether(windows []report.Window, source, target string) report.Direction {
	var parts []report.Direction
	var took []plan.Duration
	for _, w := range windows {
		for _, d := range w.Directions {
			if d.From == source && d.To == target {
				parts, took = append(parts, d), append(took, w.Duration)
			}
		}
	}
	whole := report.Direction{From: source, To: target, Quality: report.Good, Limiter: &report.Limiter{}}
	var surelyLost, atMost int64
	for _, d := range parts {
		whole.Sent, whole.Returned = whole.Sent.Add(d.Sent), whole.Returned.Add(d.Returned)
		whole.ReceiveErrors += d.ReceiveErrors
		whole.SendDrops, whole.DamagedFrames = whole.SendDrops+d.SendDrops, whole.DamagedFrames+d.DamagedFrames
		whole.MiscountedBytes, whole.ResizedBytes = whole.MiscountedBytes+d.MiscountedBytes, whole.ResizedBytes+
			d.ResizedBytes
		whole.EdgeFrames += d.EdgeFrames
		whole.DisturbedFrames += d.DisturbedFrames
		whole.SendersWaited += d.SendersWaited
		whole.MachineLost += d.MachineLost
		whole.Unstamped += d.Unstamped
		whole.Limiter = limiterTogether(whole.Limiter, d.Limiter)
		surelyLost += SurelyLost(d)
		atMost += mostLost(d)
		if severity(d.Quality) > severity(whole.Quality) {
			whole.Quality = d.Quality
		}
	}
	whole.Latency = latencyTogether(parts)
	lost, sent := whole.Sent.Packets-whole.Returned.Packets, whole.Sent.Packets
	whole.LossRatio, whole.LossRatioMin = units.RatioOf(lost, sent), units.RatioOf(max(surelyLost, SurelyLost(whole)),
		sent)
	whole.LossRatioMax = mostRatio(lost, atMost, sent)
	for _, rate := range ratesOfDirection {
		*rate(&whole) = weighted(parts, took, func(d report.Direction) int64 { return *rate(&d) })
	}
	whole.LineRatePercent = units.Percent(weighted(parts, took,
		func(d report.Direction) int64 { return int64(d.LineRatePercent) }))
	whole.Reason = fmt.Sprintf("%d windows together: %s", len(parts), CameBack(whole, len(parts)))
	if whole.Sessions = CombineSessions(sessionsOf(parts)); whole.Sessions != nil {
		whole.Limiter = nil
		limit := LimitOfSessions(*whole.Sessions)
		whole.Reason = fmt.Sprintf("%d windows together: %s; %s", len(parts), SessionsSentence(*whole.Sessions, limit),
			limit.Sentence)
	}
	return whole
}

func sessionsOf(parts []report.Direction) (sessions []*report.Sessions) {
	for _, d := range parts {
		sessions = append(sessions, d.Sessions)
	}
	return sessions
}

// limiterTogether adds up what a Reference's limit counted. It is nil where one window doesn't say it.
func limiterTogether(a, b *report.Limiter) *report.Limiter {
	if a == nil || b == nil {
		return nil
	}
	return &report.Limiter{Passed: a.Passed + b.Passed, Dropped: a.Dropped + b.Dropped}
}

// generatorTogether is one generator's part of all windows that name it.
func generatorTogether(windows []report.Window, name string) report.GeneratorShare {
	var parts []report.GeneratorShare
	var took []plan.Duration
	for _, w := range windows {
		for _, g := range w.Generators {
			if g.Name == name {
				parts, took = append(parts, g), append(took, w.Duration)
			}
		}
	}
	return report.GeneratorShare{Name: name,
		OfferedPacketsPerSecond: weighted(parts, took,
			func(g report.GeneratorShare) int64 { return g.OfferedPacketsPerSecond }),
		ReceivedPacketsPerSecond: weighted(parts, took,
			func(g report.GeneratorShare) int64 { return g.ReceivedPacketsPerSecond })}
}

// ratesOfDirection are a direction's rates that windows together have the mean of.
var ratesOfDirection = []func(*report.Direction) *int64{
	func(m *report.Direction) *int64 { return &m.Intended.PacketsPerSecond },
	func(m *report.Direction) *int64 { return &m.Intended.Layer1BitsPerSecond },
	func(m *report.Direction) *int64 { return &m.Intended.Layer2BitsPerSecond },
	func(m *report.Direction) *int64 { return &m.Offered.PacketsPerSecond },
	func(m *report.Direction) *int64 { return &m.Offered.Layer1BitsPerSecond },
	func(m *report.Direction) *int64 { return &m.Offered.Layer2BitsPerSecond },
	func(m *report.Direction) *int64 { return &m.Received.PacketsPerSecond },
	func(m *report.Direction) *int64 { return &m.Received.Layer1BitsPerSecond },
	func(m *report.Direction) *int64 { return &m.Received.Layer2BitsPerSecond },
}

// weighted is the mean of the parts' values, each weighted by how long it took, rounded to the nearest whole
// number. Parts that took no time count for a nanosecond.
func weighted[T any](parts []T, took []plan.Duration, value func(T) int64) int64 {
	sum, total := new(big.Int), new(big.Int)
	for i, p := range parts {
		weight := big.NewInt(max(1, int64(took[i])))
		sum.Add(sum, new(big.Int).Mul(big.NewInt(value(p)), weight))
		total.Add(total, weight)
	}
	if total.Sign() == 0 {
		return 0
	}
	// Rounded by adding half and rounding down, which Euclid's division does for negative values, too.
	twice := new(big.Int).Add(sum.Lsh(sum, 1), total)
	return twice.Div(twice, total.Lsh(total, 1)).Int64()
}
