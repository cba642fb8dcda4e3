package frames

import (
	"context"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// rates are the line rates of links, and what the procedure's rates are for each direction.
type rates struct {
	journal  *runner.Journal
	topology *topology

	line    map[string]units.BitRate // by link, or none where it is unknown
	warmups []units.PacketRate       // by direction
	full    []units.PacketRate       // by direction, for a load of one
}

// resolve finds each link's line rate, and converts the procedure's rates to packets per second for each direction.
func (r *rates) resolve(context.Context) error {
	for _, l := range r.journal.Plan.Links {
		rate, source := r.lineRate(l)
		if rate > 0 {
			r.line[l.Name] = rate
			r.journal.Report.LineRates = append(r.journal.Report.LineRates, report.LineRate{Link: l.Name,
				BitsPerSecond: rate, Source: source})
		}
	}
	for _, d := range r.journal.Plan.Directions {
		rates := r.journal.Procedure.Rates().Of(d.Name())
		full, err := r.packetRate(rates.Full, d)
		if err != nil {
			return err
		}
		warmup := full
		if rates.WarmUp.Field != "" {
			if warmup, err = r.packetRate(rates.WarmUp, d); err != nil {
				return err
			}
		}
		r.full, r.warmups = append(r.full, full), append(r.warmups, warmup)
		r.journal.Note("%s→%s: target %s, line rate %s", d.From, d.To, full.FormatSI(), lineText(r.line[d.To]))
	}
	return nil
}

func lineText(rate units.BitRate) string {
	if rate == 0 {
		return "unknown"
	}
	return rate.FormatSI()
}

// lineRate is a link's line rate. It is the spec's, else that of the generators' slowest physical port on the link,
// and 0 if it is unknown.
func (r *rates) lineRate(l plan.Link) (rate units.BitRate, source string) {
	if l.LineRate > 0 {
		return l.LineRate, "spec"
	}
	for g := range r.topology.names {
		if !r.topology.hasPort(g, l.Name) {
			continue
		}
		p, err := r.topology.port(g, l.Name)
		if err != nil || p.Virtual || p.Speed <= 0 {
			return 0, ""
		}
		if rate == 0 || p.Speed < rate {
			rate = p.Speed
		}
	}
	return rate, "port"
}

// packetRate is a rate of the procedure for one direction. 100 % is what the slower of the two links carries. A
// higher rate is refused.
func (r *rates) packetRate(rate procedure.Rate, d plan.Direction) (units.PacketRate, error) {
	slower, line := r.slower(d)
	v, err := rate.PacketRateOf(d.Mix, line)
	if err != nil {
		return 0, fmt.Errorf("%s for %s→%s: %w", r.journal.Plan.NameOf(rate.Field), d.From, d.To, err)
	}
	if lineLimit := units.LinePacketRate(d.Mix, line); line > 0 && v > lineLimit {
		return 0, fmt.Errorf("%s for %s→%s: %s is %s, more than link %s carries (%s of this traffic at %s): ask for "+
			"at most 100%%",
			r.journal.Plan.NameOf(rate.Field), d.From, d.To, rate, v.FormatSI(), slower, lineLimit.FormatSI(), line)
	}
	return v, nil
}

// slower is the slower of a direction's links whose rate is known.
func (r *rates) slower(d plan.Direction) (string, units.BitRate) {
	sender, receiver := r.line[d.From], r.line[d.To]
	if receiver > 0 && (sender == 0 || receiver < sender) {
		return d.To, receiver
	}
	return d.From, sender
}
