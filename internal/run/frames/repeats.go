package frames

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Numbered frames leave each port in small groups, 2 500 a second at first, and captured frames are fetched in
// between. Where the device has returned all but the last group by then, groups are twice as large from there on, so
// that the check takes a second and not four. Where it hasn't, groups are as small as at first. They end early once a
// frame came twice, as that decides.
//
//	10 frames │ 4 ms │ 10 frames │ 4 ms │ … 250 frames │ fetch: all are back │ 20 frames │ 4 ms │ 20 frames │ …
//
// A slower device loses some of them, which proves nothing. A first group is small enough for a short queue.
const (
	numberedAtOnce = 10
	numberedLarge  = 40
	numberedQuiet  = 500 * time.Millisecond // without a frame, after which those that are missing are given up
	numberedGap    = 4 * time.Millisecond
	numberedFetch  = 250
	numberedMost   = 10 * time.Second // a generator that is slow to answer sends fewer frames
)

// numberedLane holds the numbered frames that one generator sends in a direction, and how many of them it has sent.
type numberedLane struct {
	direction, generator int
	lane                 path.Lane
	probes               []path.Probe
	sent                 int
}

// proveNoRepeats sends numbered frames, in all directions at once, and checks whether any comes twice. A duplicate
// replaces a lost frame in the counters, which can't show the difference.
func (p *prover) proveNoRepeats(ctx context.Context) error {
	p.journal.Enter(runner.Proving, "sending numbered frames, to see whether any comes twice")
	lanes, err := p.numbered()
	if err != nil {
		return err
	}
	arrivals, err := p.capture(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
		arrivals, err := p.injectNumbered(ctx, captures, lanes)
		if err != nil {
			return nil, err
		}
		arrived, latestAt := path.Marked(arrivals), time.Now()
		return p.see(ctx, captures, arrivals, func(arrivals []path.Arrival) bool {
			if marked := path.Marked(arrivals); marked > arrived {
				arrived, latestAt = marked, time.Now()
			}
			return repeated(lanes, arrivals) || arrived >= sentOf(lanes) || time.Since(latestAt) > numberedQuiet
		}, proveWait, proveLinger)
	})
	if err != nil {
		return fmt.Errorf("look for frames that come twice: %w", err)
	}
	return p.judgeRepeats(lanes, arrivals)
}

func (p *prover) judgeRepeats(lanes []*numberedLane, arrivals []path.Arrival) error {
	for i, d := range p.journal.Plan.Directions {
		var sent []path.Probe
		for _, l := range lanes {
			if l.direction == i {
				sent = append(sent, l.probes[:l.sent]...)
			}
		}
		found, check := path.Repeats(sent, arrivals), &p.journal.Report.Path[i]
		check.Repeats = &found
		message := path.SayRepeats(d, found)
		p.journal.Note("path %s→%s: %s", d.From, d.To, message)
		contradiction := path.Contradiction(d, p.topology.device(), sent, arrivals)
		if contradiction != nil && check.Proven {
			check.Proven, check.Message, check.Fault = false, contradiction.Message, contradiction.Fault
		}
		if found.Twice > 0 {
			check.Proven, check.Message = false, message
			check.Fault = &report.Cause{Detail: report.FramesRepeated, Link: d.From, Direction: d.Name()}
		}
	}
	return firstUnproven(p.journal.Report.Path)
}

// numberedOf is the distance between the first token numbers of two directions.
const numberedOf = 1 << 20

// numbered makes the frames of all directions, divided among the generators that send there.
func (p *prover) numbered() ([]*numberedLane, error) {
	var lanes []*numberedLane
	for i, d := range p.journal.Plan.Directions {
		share := cmp.Or(p.frames, path.NumberedFor(p.journal.Plan.Procedure.MaxLossRatio)) / max(1,
			len(p.topology.senders(d)))
		first := uint32(1<<30 + i*numberedOf)
		err := p.onLanes(d, func(g int, lane path.Lane, templates [][]byte) error {
			probes, err := path.Numbered(lane, templates, share, p.seed(), first)
			lanes = append(lanes, &numberedLane{direction: i, generator: g, lane: lane, probes: probes})
			first += uint32(share)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return lanes, nil
}

// injectNumbered sends the frames of all lanes at the same time, until all are sent or the time is over, and fetches
// captured frames in between.
func (p *prover) injectNumbered(ctx context.Context, captures []engine.Capture,
	lanes []*numberedLane) (arrivals []path.Arrival, err error) {
	waiting := func(l *numberedLane) bool { return l.sent < len(l.probes) }
	atOnce := numberedAtOnce
	for end := time.Now().Add(numberedMost); slices.ContainsFunc(lanes, waiting) && time.Now().Before(end) &&
		!repeated(lanes, arrivals); {
		if err := p.injectRound(ctx, lanes, atOnce); err != nil {
			return nil, err
		}
		got, err := p.fetch(ctx, captures)
		if err != nil {
			return nil, err
		}
		arrivals = append(arrivals, got...)
		if sentOf(lanes)-path.Marked(arrivals) <= atOnce*len(lanes) {
			atOnce = min(2*atOnce, numberedLarge)
		} else {
			atOnce = numberedAtOnce
		}
	}
	return arrivals, nil
}

func sentOf(lanes []*numberedLane) (sent int) {
	for _, l := range lanes {
		sent += l.sent
	}
	return sent
}

// repeated says that a frame of some lane came twice.
func repeated(lanes []*numberedLane, arrivals []path.Arrival) bool {
	return slices.ContainsFunc(lanes, func(l *numberedLane) bool {
		return path.Repeats(l.probes[:l.sent], arrivals).Twice > 0
	})
}

// injectRound sends the next group of frames of each lane, in one goroutine for each generator.
func (p *prover) injectRound(ctx context.Context, lanes []*numberedLane, atOnce int) error {
	return p.fleet.callAll(ctx, callTimeout, "send numbered frames from", func(ctx context.Context, g int) error {
		waiting := func(l *numberedLane) bool { return l.generator == g && l.sent < len(l.probes) }
		for range numberedFetch / atOnce {
			if !slices.ContainsFunc(lanes, waiting) {
				return nil
			}
			if err := bounded.Pause(ctx, numberedGap); err != nil {
				return err
			}
			for _, l := range lanes {
				if l.generator != g || l.sent == len(l.probes) {
					continue
				}
				var group [][]byte
				for _, p := range l.probes[l.sent:min(l.sent+atOnce, len(l.probes))] {
					group = append(group, p.Frame)
				}
				if err := p.fleet.engines[g].Inject(ctx, l.lane.Send, group); err != nil {
					return err
				}
				l.sent += len(group)
			}
		}
		return nil
	})
}
