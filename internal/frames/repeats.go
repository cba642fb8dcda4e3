package frames

import (
	"cmp"
	"context"
	"fmt"
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

// seekRepeats sends numbered frames, all directions at once, and looks whether any comes twice: what comes twice makes up for what is lost, and counters don't tell one from the other.
func (r *run) seekRepeats(ctx context.Context) error {
	r.Tell(func(p *runner.Progress) {
		p.Phase, p.Message = runner.Proving, "sending numbered frames, to see whether any comes twice"
	})
	probes, err := r.numbered()
	if err != nil {
		return err
	}
	var sent []path.Probe
	seen, err := r.sendAndSee(ctx, func(ctx context.Context, captures []engine.Capture) (seen []path.Seen, err error) {
		sent, seen, err = r.injectNumbered(ctx, captures, probes)
		if err != nil {
			return nil, err
		}
		return r.see(ctx, captures, seen, len(sent))
	})
	if err != nil {
		return fmt.Errorf("look for frames that come twice: %w", err)
	}
	return r.judgeRepeats(sent, seen)
}

func (r *run) judgeRepeats(sent []path.Probe, seen []path.Seen) error {
	var failed *pathError
	for i, d := range r.Plan.Directions {
		found := path.Repeats(r.ofDirection(sent, i), seen)
		check := &r.Report.Path[i]
		check.Repeats = &found
		said := path.SayRepeats(d, found)
		r.Note("path %s→%s: %s", d.From, d.To, said)
		if found.Twice == 0 {
			continue
		}
		check.Proven, check.Message = false, said
		if failed == nil {
			failed = &pathError{*check}
		}
	}
	if failed != nil {
		return failed
	}
	return nil
}

// numberedOf is how the tokens of a direction are numbered: from here to the next direction's.
const numberedOf = 1 << 20

// numbered makes the frames of all directions, shared out among the generators that send there.
func (r *run) numbered() ([]path.Probe, error) {
	var probes []path.Probe
	for i, d := range r.Plan.Directions {
		senders := r.senders(d)
		each := cmp.Or(r.opts.Numbered, path.NumberedFor(r.Plan.Procedure.MaxLossRatio)) / max(1, len(senders))
		for k, g := range senders {
			lane, err := r.lane(g, d)
			if err != nil {
				return nil, err
			}
			more, err := path.Numbered(lane, templates(r.planned(g, d.From)), each, uint64(r.Started.UnixNano()), uint32(1<<30+i*numberedOf+k*each))
			if err != nil {
				return nil, err
			}
			probes = append(probes, more...)
		}
	}
	return probes, nil
}

// ofDirection are the frames among these that belong to the direction with this index.
func (r *run) ofDirection(probes []path.Probe, index int) (of []path.Probe) {
	d := r.Plan.Directions[index]
	for _, g := range r.senders(d) {
		lane, err := r.lane(g, d)
		if err != nil {
			continue // numbered had it
		}
		for _, p := range probes {
			if p.Lane == lane {
				of = append(of, p)
			}
		}
	}
	return of
}

// sendingPort is a port of a generator.
type sendingPort struct {
	generator string
	port      int
}

// injectNumbered sends the frames of all ports side by side, and fetches what was captured in between. It says which were sent before its time was over.
func (r *run) injectNumbered(ctx context.Context, captures []engine.Capture, probes []path.Probe) (sent []path.Probe, seen []path.Seen, err error) {
	waiting := map[sendingPort][]path.Probe{}
	for _, p := range probes {
		of := sendingPort{p.Lane.Generator, p.Lane.Send}
		waiting[of] = append(waiting[of], p)
	}
	for end := time.Now().Add(numberedMost); len(waiting) > 0 && time.Now().Before(end); {
		round := map[sendingPort][]path.Probe{}
		for of, rest := range waiting {
			n := min(numberedFetch, len(rest))
			round[of], sent = rest[:n], append(sent, rest[:n]...)
			if waiting[of] = rest[n:]; len(waiting[of]) == 0 {
				delete(waiting, of)
			}
		}
		if err := r.injectRound(ctx, round); err != nil {
			return nil, nil, err
		}
		got, err := r.fetch(ctx, captures)
		if err != nil {
			return nil, nil, err
		}
		seen = append(seen, got...)
	}
	return sent, seen, nil
}

// injectRound sends so many frames of each port, a few at once.
func (r *run) injectRound(ctx context.Context, round map[sendingPort][]path.Probe) error {
	return r.each(ctx, callTimeout, "send numbered frames from", func(ctx context.Context, g int) error {
		for at := 0; at < numberedFetch; at += numberedAtOnce {
			if err := pause.For(ctx, numberedGap); err != nil {
				return err
			}
			for of, probes := range round {
				if of.generator != r.gens[g].Name || at >= len(probes) {
					continue
				}
				if err := r.gens[g].Engine.Inject(ctx, of.port, frames(probes[at:min(at+numberedAtOnce, len(probes))])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func frames(probes []path.Probe) [][]byte {
	out := make([][]byte, len(probes))
	for i, p := range probes {
		out[i] = p.Frame
	}
	return out
}
