package frames

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/path"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/runner"
)

// Numbered frames leave each port a few at a time, 2 500 a second, and what was captured is fetched in between:
//
//	10 frames │ 4 ms │ 10 frames │ 4 ms │ … 250 frames │ fetch │ 10 frames │ …
//
// A device that forwards less loses some, which proves nothing; few enough come at once for a short queue.
const (
	numberedAtOnce = 10
	numberedGap    = 4 * time.Millisecond
	numberedFetch  = 250
	numberedMost   = 10 * time.Second // a generator that takes its time with each request sends fewer
)

// numberedLane is the numbered frames of a direction that one generator sends, and how many of them it has sent.
type numberedLane struct {
	direction, generator int
	lane                 path.Lane
	probes               []path.Probe
	sent                 int
}

// seekRepeats sends numbered frames, all directions at once, and looks whether any comes twice: what comes twice makes up for what is lost, and counters don't tell one from the other.
func (r *run) seekRepeats(ctx context.Context) error {
	r.Update(func(p *runner.Progress) {
		p.Phase, p.Message = runner.Proving, "sending numbered frames, to see whether any comes twice"
	})
	lanes, err := r.numbered()
	if err != nil {
		return err
	}
	seen, err := r.sendAndSee(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Seen, error) {
		seen, err := r.injectNumbered(ctx, captures, lanes)
		if err != nil {
			return nil, err
		}
		sent := 0
		for _, l := range lanes {
			sent += l.sent
		}
		return r.see(ctx, captures, seen, allMarked(sent), proveWait, proveLinger)
	})
	if err != nil {
		return fmt.Errorf("look for frames that come twice: %w", err)
	}
	return r.judgeRepeats(lanes, seen)
}

func (r *run) judgeRepeats(lanes []*numberedLane, seen []path.Seen) error {
	for i, d := range r.Plan.Directions {
		var sent []path.Probe
		for _, l := range lanes {
			if l.direction == i {
				sent = append(sent, l.probes[:l.sent]...)
			}
		}
		found, check := path.Repeats(sent, seen), &r.Report.Path[i]
		check.Repeats = &found
		said := path.SayRepeats(d, found)
		r.Note("path %s→%s: %s", d.From, d.To, said)
		if found.Twice > 0 {
			check.Proven, check.Message = false, said
		}
	}
	return firstUnproven(r.Report.Path)
}

// numberedOf is how the tokens of a direction are numbered: from here to the next direction's.
const numberedOf = 1 << 20

// numbered makes the frames of all directions, shared out among the generators that send there.
func (r *run) numbered() ([]*numberedLane, error) {
	var lanes []*numberedLane
	for i, d := range r.Plan.Directions {
		each := cmp.Or(r.opts.Numbered, path.NumberedFor(r.Plan.Procedure.MaxLossRatio)) / max(1, len(r.senders(d)))
		first := uint32(1<<30 + i*numberedOf)
		err := r.onLanes(d, func(g int, lane path.Lane, templates [][]byte) error {
			probes, err := path.Numbered(lane, templates, each, r.seed(), first)
			lanes = append(lanes, &numberedLane{direction: i, generator: g, lane: lane, probes: probes})
			first += uint32(each)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return lanes, nil
}

// injectNumbered sends the frames of all lanes side by side, until all are sent or its time is over, and fetches what was captured in between.
func (r *run) injectNumbered(ctx context.Context, captures []engine.Capture, lanes []*numberedLane) (seen []path.Seen, err error) {
	waiting := func(l *numberedLane) bool { return l.sent < len(l.probes) }
	for end := time.Now().Add(numberedMost); slices.ContainsFunc(lanes, waiting) && time.Now().Before(end); {
		if err := r.injectRound(ctx, lanes); err != nil {
			return nil, err
		}
		got, err := r.fetch(ctx, captures)
		if err != nil {
			return nil, err
		}
		seen = append(seen, got...)
	}
	return seen, nil
}

// injectRound sends the next frames of each lane, a few at once; each generator's lanes are its own goroutine's.
func (r *run) injectRound(ctx context.Context, lanes []*numberedLane) error {
	return r.each(ctx, callTimeout, "send numbered frames from", func(ctx context.Context, g int) error {
		for range numberedFetch / numberedAtOnce {
			if err := pause.For(ctx, numberedGap); err != nil {
				return err
			}
			for _, l := range lanes {
				if l.generator != g || l.sent == len(l.probes) {
					continue
				}
				var few [][]byte
				for _, p := range l.probes[l.sent:min(l.sent+numberedAtOnce, len(l.probes))] {
					few = append(few, p.Frame)
				}
				if err := r.gens[g].Engine.Inject(ctx, l.lane.Send, few); err != nil {
					return err
				}
				l.sent += len(few)
			}
		}
		return nil
	})
}
