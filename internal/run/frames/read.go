package frames

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// The bounds of reading counters: together shorter than the ten seconds after which a generator stops without a heartbeat.
const (
	readTimeout  = 2 * time.Second
	readAttempts = 3
)

// read takes one reading of every generator, all at the same time. Reading changes nothing, so it is tried again after an error that
// doesn't decide the run; a window that was delayed by that shows the delay.
func (r *run) read(ctx context.Context) ([]engine.Reading, error) {
	return r.readBy(ctx, func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error) {
		return e.Read(ctx, ports)
	})
}

// readAll is read with all counters of missing frames, including those that ports report only on request.
func (r *run) readAll(ctx context.Context) ([]engine.Reading, error) {
	return r.readBy(ctx, func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error) {
		if more, is := e.(engine.EdgeReader); is {
			return more.ReadEdge(ctx, ports)
		}
		return e.Read(ctx, ports)
	})
}

// reader reads one generator's ports.
type reader func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error)

func (r *run) readBy(ctx context.Context, by reader) ([]engine.Reading, error) {
	readings := make([]engine.Reading, len(r.gens))
	err := r.each(ctx, readAttempts*readTimeout, "read the counters of", func(ctx context.Context, g int) (err error) {
		readings[g], err = r.readOne(ctx, g, by)
		return err
	})
	if err == nil {
		r.followLinks(readings)
		readings = r.withoutStrays(readings)
		r.lookForSilence(readings)
		return readings, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// withoutStrays subtracts received link upkeep, such as ARP and routers' hellos, from readings, where ports count them apart and no stream of the test sends such frames: a device asks now and then whether its neighbour is
// still there, and each such request would hide a lost frame.
func (r *run) withoutStrays(readings []engine.Reading) []engine.Reading {
	if r.upkeep {
		return readings
	}
	for _, one := range readings {
		for port, c := range one.Ports {
			c.Received = c.Received.Sub(c.Strays)
			one.Ports[port] = c
		}
	}
	return readings
}

func (r *run) readOne(ctx context.Context, g int, by reader) (engine.Reading, error) {
	var last error
	for range readAttempts {
		attempt, cancel := context.WithTimeout(ctx, readTimeout)
		reading, err := by(attempt, r.gens[g].Engine, r.ports(g))
		cancel()
		if err == nil || errors.Is(err, engine.ErrLost) || errors.Is(err, engine.ErrTaken) {
			return reading, err
		}
		last = err
		if ctx.Err() != nil {
			break
		}
	}
	return engine.Reading{}, fmt.Errorf("%w (%d attempts): %w", engine.ErrSilent, readAttempts, last)
}

// silence is how long background traffic is measured.
const silence = time.Second

// listen reads what the ports receive while nothing is sent. The Report has it, and each judgement of a window counts how much loss it may hide.
func (r *run) listen(ctx context.Context) error {
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Listening, "listening for background traffic" })
	began := time.Since(r.Started)
	first, err := r.read(ctx)
	if err != nil {
		return err
	}
	if err := r.linksUp(first); err != nil {
		return err
	}
	r.observe(first, runner.Limits{})
	if err := r.keepSilence(ctx); err != nil {
		return err
	}
	last, err := r.read(ctx)
	if err != nil {
		return err
	}
	r.observe(last, runner.Limits{})
	r.idle(began, false)
	for g := range r.gens {
		for _, planned := range r.Plan.Generators[g].Ports {
			r.heard(g, planned.Link, first[g], last[g])
		}
	}
	r.noteStrays(last)
	return r.tooLoud()
}

// noteStrays warns, where a loss limit or a criterion is zero, of ports that count link upkeep among the test's frames.
func (r *run) noteStrays(readings []engine.Reading) {
	if r.goal().MaxLossRatio > 0 && !r.Plan.DemandsNoLoss() || r.upkeep {
		return
	}
	for g, reading := range readings {
		for _, c := range reading.Ports {
			if !c.StraysTold {
				r.Note("generator %s counts ARP, neighbour discovery and the hellos of routing and link protocols among what came back: each such frame hides one that was lost. "+
					"Where none may be lost, give the device fixed neighbours (ip neigh replace … nud permanent) and turn these protocols off on the links under test, or use the software engine, which counts them apart", r.gens[g].Name)
				break
			}
		}
	}
}

// tooLoud is an error where background traffic is so strong that no load up to the target could be judged.
func (r *run) tooLoud() error {
	for i, d := range r.setup.Directions {
		if most := r.full[i].Mul(r.goal().MaxLossRatio); d.Background > most {
			return fmt.Errorf("background traffic of %s on %s can hide more loss than the limit allows at any load up to the target (%s of %s): "+
				"keep other traffic off the link%s", d.Background.FormatSI(), d.To, r.goal().MaxLossRatio, r.full[i].FormatSI(), r.Plan.Advice(", or raise %s", procedure.MaxLossRatio))
		}
	}
	return nil
}

// heard reports the background traffic of one port, and adds it to the direction that comes back there.
func (r *run) heard(g int, link string, first, last engine.Reading) {
	port := r.gens[g].PortOfLink[link]
	took := last.At - first.At
	received := last.Ports[port].Received.Sub(first.Ports[port].Received)
	rate := units.PacketRateOver(received.Packets, int64(took))
	r.Report.Silence = append(r.Report.Silence, report.Silence{Link: link, Generator: r.gens[g].Name, Received: received, Duration: plan.Duration(took),
		PacketsPerSecond: rate.Whole()})
	if received.Packets > 0 {
		r.Note("background traffic on %s of generator %s: %s", link, r.gens[g].Name, rate.FormatSI())
	}
	for i := range r.setup.Directions {
		if d := &r.setup.Directions[i]; d.To == link {
			d.AddSilence(received, took)
		}
	}
}

func (r *run) linksUp(readings []engine.Reading) error {
	for g := range r.gens {
		for _, planned := range r.Plan.Generators[g].Ports {
			if port := r.gens[g].PortOfLink[planned.Link]; !readings[g].Ports[port].LinkUp {
				return fmt.Errorf("link %s: port %d of generator %s has no link: check the cable, and that the device's port is up", planned.Link, port, r.gens[g].Name)
			}
		}
	}
	return nil
}
