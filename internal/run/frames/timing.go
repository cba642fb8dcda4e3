package frames

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// timing follows the streams whose frames are timed.
type timing struct {
	journal  *runner.Journal
	topology *topology
	fleet    *fleet
	setup    *measure.Setup
	demand   *demand
	streams  []stamped
}

// stamped is a stream whose frames are timed. Its size is that of its frames, FCS included, or 0 if the size varies.
type stamped struct {
	direction, generator int
	id                   uint32
	size                 int64
	sample               *report.LatencySample // nil if each frame has a stamp
}

// sampleResolution is the resolution of the times that a generator reports for its latency streams.
const sampleResolution = time.Microsecond

// sampleOf describes a latency stream from which the procedure's latency is read, or nil if the stream is of another
// kind.
func (t *timing) sampleOf(s stream.Stream) *report.LatencySample {
	if t.journal.Plan.Procedure.Latency == nil || !s.Enabled || !s.FlowStats.Enabled ||
		s.FlowStats.RuleType != "latency" {
		return nil
	}
	return &report.LatencySample{PacketsPerSecond: int64(math.Round(s.Mode.Rate.Value)),
		ResolutionNanoseconds: sampleResolution.Nanoseconds()}
}

// streamsOf are a generator's streams in a direction, without stamps where its port doesn't follow them.
func (t *timing) streamsOf(g, direction int) []stream.Stream {
	streams := t.topology.planned(g, t.journal.Plan.Directions[direction].From).Streams
	if t.untimed(g, t.journal.Plan.Directions[direction]) == "" {
		return streams
	}
	plain := slices.Clone(streams)
	for i := range plain {
		if plain[i].FlowStats.Stamped {
			plain[i].FlowStats = stream.Flow{}
		}
	}
	return plain
}

// find finds the streams whose frames are timed, and notes why the frames of a direction can't be timed where the
// Plan asks for it.
func (t *timing) find() {
	t.streams, t.journal.Report.Untimed = nil, nil
	for i, d := range t.journal.Plan.Directions {
		for _, g := range t.topology.senders(d) {
			streams := t.topology.planned(g, d.From).Streams
			for _, s := range streams {
				if sample := t.sampleOf(s); sample != nil {
					t.streams = append(t.streams, stamped{i, g, s.FlowStats.StreamID, sizeOf(s), sample})
				}
			}
			if !slices.ContainsFunc(streams, func(s stream.Stream) bool { return s.FlowStats.Stamped }) {
				continue
			}
			if reason := t.untimed(g, d); reason != "" {
				t.notTimed(g, d, reason)
				t.journal.Note("frames of %s are sent without stamps, and not timed: %s", d.Name(), reason)
				continue
			}
			for _, s := range streams {
				if s.FlowStats.Stamped {
					t.streams = append(t.streams, stamped{i, g, s.FlowStats.StreamID, sizeOf(s), nil})
				}
			}
		}
	}
}

func (t *timing) notTimed(g int, d plan.Direction, reason string) {
	t.journal.Report.Untimed = append(t.journal.Report.Untimed, report.Untimed{Generator: t.topology.names[g],
		From: d.From, To: d.To, Reason: reason})
}

// sizeOf is the size of a stream's frames, FCS included, or 0 if it varies.
func sizeOf(s stream.Stream) int64 {
	if sizes := measure.SizesOf([]stream.Stream{s}, measure.Sizes{}); sizes.Shortest == sizes.Longest {
		return sizes.Longest
	}
	return 0
}

// untimed says why frames that a generator sends in a direction can't be timed. It is empty if they can.
func (t *timing) untimed(g int, d plan.Direction) string {
	if _, follows := t.fleet.engines[g].(engine.Follower); !follows {
		return fmt.Sprintf("generator %s follows none", t.topology.names[g])
	}
	for _, link := range []string{d.From, d.To} {
		port, err := t.topology.port(g, link)
		if err != nil {
			return fmt.Sprintf("generator %s has no port on %s, and another machine's clock can't time its frames",
				t.topology.names[g], link)
		}
		if port.Untimed != "" {
			return fmt.Sprintf("generator %s on %s: %s", t.topology.names[g], link, port.Untimed)
		}
	}
	return ""
}

// follow reads what became of frames with stamps so far, by generator, or nil if there are none, or it can't be read.
func (t *timing) follow(ctx context.Context) []map[uint32]engine.Followed {
	if len(t.streams) == 0 {
		return nil
	}
	byGenerator := make([]map[uint32]engine.Followed, len(t.topology.names))
	err := t.fleet.callAll(ctx, readTimeout, "read the stamps of", func(ctx context.Context, g int) (err error) {
		var stampedIDs, samples []uint32
		for _, s := range t.streams {
			switch {
			case s.generator != g:
			case s.sample != nil:
				samples = append(samples, s.id)
			default:
				stampedIDs = append(stampedIDs, s.id)
			}
		}
		if len(stampedIDs) > 0 {
			byGenerator[g], err = t.fleet.engines[g].(engine.Follower).Followed(ctx, stampedIDs)
		}
		if len(samples) > 0 && err == nil {
			byGenerator[g], err = t.sampled(ctx, g, samples)
		}
		return err
	})
	if errors.Is(err, engine.ErrIncompatible) {
		t.giveUpSamples(err)
	}
	if err != nil {
		t.journal.Note("the latency of a window is not known: %v", err)
		return nil
	}
	return byGenerator
}

// sampled reads a generator's latency streams. A generator that reports no times for them, or none that can be read,
// won't do so later either. They are no longer timed, and the Report says why.
func (t *timing) sampled(ctx context.Context, g int, ids []uint32) (map[uint32]engine.Followed, error) {
	sampler, samples := t.fleet.engines[g].(engine.Sampler)
	if !samples {
		return nil, fmt.Errorf("%w: generator %s reports no times of latency streams", engine.ErrIncompatible,
			t.topology.names[g])
	}
	return sampler.Sampled(ctx, ids)
}

// giveUpSamples ends the timing of all latency streams.
func (t *timing) giveUpSamples(reason error) {
	for i, d := range t.journal.Plan.Directions {
		for _, g := range t.topology.senders(d) {
			if slices.ContainsFunc(t.streams, func(s stamped) bool {
				return s.sample != nil && s.direction == i && s.generator == g
			}) {
				t.notTimed(g, d, reason.Error())
			}
		}
	}
	t.streams = slices.DeleteFunc(t.streams, func(s stamped) bool { return s.sample != nil })
}

// latency is the latency of frames between two readings, in the order of the Plan's directions, or nil where one of
// the readings is unknown.
func (t *timing) latency(first, latest []map[uint32]engine.Followed) [][]report.Latency {
	if len(first) == 0 || len(latest) == 0 {
		return nil
	}
	type class struct {
		direction int
		size      int64
	}
	bySize, samples := map[class]engine.Followed{}, map[class]*report.LatencySample{}
	for _, s := range t.streams {
		key := class{s.direction, s.size}
		f := minus(latest[s.generator][s.id], first[s.generator][s.id])
		if s.sample != nil {
			timed := int64(f.Transits.Frames())
			f.Received = max(f.Received, timed) // in the first reading the counter may have been ahead of the histogram
			f.Uncounted = f.Received - timed    // also where the histogram began anew between the two readings
			samples[key] = addSamples(samples[key], s.sample)
		}
		bySize[key] = plus(bySize[key], f)
	}
	byDirection := make([][]report.Latency, len(t.journal.Plan.Directions))
	for key, f := range bySize {
		l := latencyOf(key.size, f)
		l.Sample = samples[key]
		if t.demand.step.Phase == report.AtLoad {
			l.Histogram = t.encoded(f.Transits)
		}
		byDirection[key.direction] = append(byDirection[key.direction], l)
	}
	for _, sizes := range byDirection {
		slices.SortFunc(sizes, func(a, b report.Latency) int { return cmp.Compare(a.FrameSize, b.FrameSize) })
	}
	return byDirection
}

// addSamples is the sample that two generators' samples make together.
func addSamples(a, b *report.LatencySample) *report.LatencySample {
	if a == nil {
		return b
	}
	return &report.LatencySample{PacketsPerSecond: a.PacketsPerSecond + b.PacketsPerSecond,
		ResolutionNanoseconds: a.ResolutionNanoseconds}
}

// encoded is a whole distribution as the Report holds it, or empty where there is none.
func (t *timing) encoded(h transit.Histogram) string {
	if h.Frames() == 0 {
		return ""
	}
	text, err := h.Encode()
	if err != nil { // impossible of times that are buckets' own
		t.journal.Note("the distribution of a window's latency is missing: %v", err)
	}
	return text
}

func minus(latest, first engine.Followed) engine.Followed {
	return engine.Followed{Received: latest.Received - first.Received, Duplicates: latest.Duplicates - first.Duplicates,
		Late: latest.Late - first.Late, Stale: latest.Stale - first.Stale,
		Merged: latest.Merged - first.Merged, Uncounted: latest.Uncounted - first.Uncounted,
		Varied: latest.Varied - first.Varied, Changes: latest.Changes - first.Changes,
		Transits: latest.Transits.Since(first.Transits)}
}

func plus(a, b engine.Followed) engine.Followed {
	b.Transits.Merge(a.Transits)
	return engine.Followed{Received: a.Received + b.Received, Duplicates: a.Duplicates + b.Duplicates,
		Late: a.Late + b.Late, Stale: a.Stale + b.Stale, Merged: a.Merged + b.Merged, Uncounted: a.Uncounted +
			b.Uncounted,
		Varied: a.Varied + b.Varied, Changes: a.Changes + b.Changes, Transits: b.Transits}
}

func latencyOf(size int64, f engine.Followed) report.Latency {
	l := report.Latency{FrameSize: size, Frames: f.Received, Duplicates: f.Duplicates, Late: f.Late, Stale: f.Stale,
		Merged: f.Merged, Uncounted: f.Uncounted}
	l.Within = measure.PercentilesOf(f.Transits, l.Came()-l.Timed())
	if f.Changes > 0 {
		l.JitterNanoseconds = new((f.Varied / time.Duration(f.Changes)).Nanoseconds())
	}
	return l
}

// unstamped is how many frames without stamps came back in a trial, by direction.
func (t *timing) unstamped(first, latest []engine.Reading, latency [][]report.Latency) []int64 {
	if latency == nil {
		return nil
	}
	var counts []int64
	for i, d := range t.setup.Directions {
		packets := between(d, first, latest).Returned.Packets
		for _, l := range latency[i] {
			packets -= l.Frames + l.Merged
		}
		if slices.ContainsFunc(t.streams, func(s stamped) bool { return s.direction == i && s.sample != nil }) {
			packets = 0 // most frames have no stamp
		}
		if untimed := func(u report.Untimed) bool { return u.From == d.From && u.To == d.To }; len(latency[i]) == 0 ||
			slices.ContainsFunc(t.journal.Report.Untimed, untimed) {
			packets = 0 // some generator sends frames without stamps
		}
		counts = append(counts, max(packets, 0))
	}
	return counts
}
