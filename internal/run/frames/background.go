package frames

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// background measures what ports receive while nothing is sent.
type background struct {
	journal   *runner.Journal
	topology  *topology
	counters  *counters
	observers *observers
	rates     *rates
	setup     *measure.Setup
	judge     *judge
}

// listening is how long background traffic is measured.
const listening = time.Second

// measure reads what the ports receive while nothing is sent. The Report has it, and each judgement of a window
// counts how much loss it may hide.
func (b *background) measure(ctx context.Context) error {
	b.journal.Enter(runner.Listening, "listening for background traffic")
	began := time.Since(b.journal.Started)
	first, err := b.counters.read(ctx)
	if err != nil {
		return err
	}
	if err := b.linksUp(first); err != nil {
		return err
	}
	b.observers.Observe(first, runner.Limits{})
	if err := b.observers.keepSilence(ctx); err != nil {
		return err
	}
	latest, err := b.counters.read(ctx)
	if err != nil {
		return err
	}
	b.observers.Observe(latest, runner.Limits{})
	b.observers.idle(began, false)
	for g := range b.topology.names {
		for _, planned := range b.journal.Plan.Generators[g].Ports {
			b.addPort(g, planned.Link, first[g], latest[g])
		}
	}
	b.noteStrays(latest)
	return b.tooLoud()
}

// noteStrays warns, where a loss limit or a criterion is zero, of ports that count link upkeep among the test's frames.
func (b *background) noteStrays(readings []engine.Reading) {
	if b.judge.goal().MaxLossRatio > 0 && !b.journal.Plan.DemandsNoLoss() || b.counters.upkeep {
		return
	}
	for g, reading := range readings {
		for _, c := range reading.Ports {
			if !c.CountsStrays {
				b.journal.Note("generator %s counts ARP, neighbour discovery and the hellos of routing and link "+
					"protocols among what came back: each such frame hides one that was lost. "+
					"Where none may be lost, give the device fixed neighbours (ip neigh replace … nud permanent) and "+
					"turn these protocols off on the links under test, or use the software engine, which counts them "+
					"apart", b.topology.names[g])
				break
			}
		}
	}
}

// tooLoud is an error where background traffic is so strong that no load up to the target could be judged.
func (b *background) tooLoud() error {
	for i, d := range b.setup.Directions {
		if allowed := b.rates.full[i].Mul(b.judge.goal().MaxLossRatio); d.Background > allowed {
			return runner.Explain(fmt.Errorf("background traffic of %s on %s can hide more loss than the limit allows at any load up "+
				"to the target (%s of %s): "+
				"keep other traffic off the link%s", d.Background.FormatSI(), d.To, b.judge.goal().MaxLossRatio,
				b.rates.full[i].FormatSI(), b.journal.Plan.Advice(", or raise %s", procedure.MaxLossRatio)),
				report.Cause{Detail: report.BackgroundTraffic, Link: d.To})
		}
	}
	return nil
}

// addPort reports the background traffic of one port, and adds it to the direction that comes back there.
func (b *background) addPort(g int, link string, first, latest engine.Reading) {
	port := b.topology.index(g, link)
	duration := latest.Instant - first.Instant
	received := latest.Ports[port].Received.Sub(first.Ports[port].Received)
	rate := units.PacketRateOver(received.Packets, int64(duration))
	b.journal.Report.Silence = append(b.journal.Report.Silence, report.Silence{Link: link,
		Generator: b.topology.names[g], Received: received, Duration: plan.Duration(duration),
		PacketsPerSecond: rate.Whole()})
	if received.Packets > 0 {
		b.journal.Note("background traffic on %s of generator %s: %s", link, b.topology.names[g], rate.FormatSI())
	}
	for i := range b.setup.Directions {
		if d := &b.setup.Directions[i]; d.To == link {
			d.AddSilence(received, duration)
		}
	}
}

func (b *background) linksUp(readings []engine.Reading) error {
	for g := range b.topology.names {
		for _, planned := range b.journal.Plan.Generators[g].Ports {
			if port := b.topology.index(g, planned.Link); !readings[g].Ports[port].LinkUp {
				message := fmt.Sprintf("link %s: port %d of generator %s has no link: check the cable, and that the "+
					"device's port is up", planned.Link, port, b.topology.names[g])
				return errors.New(noted(message, b.topology.cautions(planned.Link)))
			}
		}
	}
	return nil
}
