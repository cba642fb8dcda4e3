package frames

import (
	"context"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// resolveRates finds each link's line rate, and converts the procedure's rates to packets per second for each direction.
func (r *run) resolveRates(context.Context) error {
	for _, l := range r.Plan.Links {
		rate, source := r.lineRate(l)
		if rate > 0 {
			r.lineRates[l.Name] = rate
			r.Report.LineRates = append(r.Report.LineRates, report.LineRate{Link: l.Name, BitsPerSecond: rate, Source: source})
		}
	}
	for _, d := range r.Plan.Directions {
		rates := r.Procedure.Rates()
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
		r.Note("%s→%s: target %s, line rate %s", d.From, d.To, full.FormatSI(), lineText(r.lineRates[d.To]))
	}
	return r.prepareMeasure()
}

func lineText(rate units.BitRate) string {
	if rate == 0 {
		return "unknown"
	}
	return rate.FormatSI()
}

// lineRate is a link's line rate: the spec's, else that of the generators' slowest physical port on it; 0: unknown.
func (r *run) lineRate(l plan.Link) (rate units.BitRate, source string) {
	if l.LineRate > 0 {
		return l.LineRate, "spec"
	}
	for g := range r.gens {
		if !r.on(g, l.Name) {
			continue
		}
		p, err := r.port(g, l.Name)
		if err != nil || p.Virtual || p.Speed <= 0 {
			return 0, ""
		}
		if rate == 0 || p.Speed < rate {
			rate = p.Speed
		}
	}
	return rate, "port"
}

// packetRate is a rate of the procedure for one direction. 100 % is what the slower of the two links carries; more than that is refused.
func (r *run) packetRate(rate procedure.Rate, d plan.Direction) (units.PacketRate, error) {
	slower, line := r.slower(d)
	v, err := rate.PacketRateOf(d.Mix, line)
	if err != nil {
		return 0, fmt.Errorf("%s for %s→%s: %w", r.Plan.NameOf(rate.Field), d.From, d.To, err)
	}
	if most := units.LinePacketRate(d.Mix, line); line > 0 && v > most {
		return 0, fmt.Errorf("%s for %s→%s: %s is %s, more than link %s carries (%s of this traffic at %s): ask for at most 100%%",
			r.Plan.NameOf(rate.Field), d.From, d.To, rate, v.FormatSI(), slower, most.FormatSI(), line)
	}
	return v, nil
}

// slower is the slower of a direction's links whose rate is known.
func (r *run) slower(d plan.Direction) (string, units.BitRate) {
	from, to := r.lineRates[d.From], r.lineRates[d.To]
	if to > 0 && (from == 0 || to < from) {
		return d.To, to
	}
	return d.From, from
}

// prepareMeasure says which ports count each direction.
func (r *run) prepareMeasure() error {
	r.setup = measure.Setup{Limit: r.Plan.DUT.KnownLimit(), SharesKernel: r.Plan.DUT.SharesGeneratorsKernel()}
	for _, g := range r.gens {
		r.setup.Generators = append(r.setup.Generators, g.Name)
	}
	r.vitals = r.observers()
	for _, d := range r.Plan.Directions {
		m := measure.Direction{From: d.From, To: d.To, Mix: d.Mix, LineRate: r.lineRates[d.To], Reshapes: r.Plan.DUT.Forwarding == plan.AsConfigured}
		for _, g := range r.senders(d) {
			back, err := r.partner(g, d.From, d.To)
			if err != nil {
				return err
			}
			pair := measure.Pair{Generator: g, Send: r.index(g, d.From), Receiver: back, Receive: r.index(back, d.To), Share: r.planned(g, d.From).Share}
			pair.Streams, pair.Extra = measure.PaceOf(r.planned(g, d.From).Streams)
			m.Pairs = append(m.Pairs, pair)
			m.Sizes = measure.SizesOf(r.planned(g, d.From).Streams, m.Sizes)
			r.upkeep = r.upkeep || slices.ContainsFunc(r.planned(g, d.From).Streams, stream.MayKeepLinkUp)
		}
		r.setup.Directions = append(r.setup.Directions, m)
	}
	return nil
}

// loads are the loads of each generator's ports, whose sum in each direction is exactly the direction's rate. A port that sends nothing
// isn't among them.
func (r *run) loads(rates []units.PacketRate) [][]engine.PortLoad {
	loads := make([][]engine.PortLoad, len(r.gens))
	for i, d := range r.Plan.Directions {
		weights := r.weights(d)
		for g, part := range rates[i].Apportion(weights...) {
			if weights[g] > 0 && part > 0 {
				loads[g] = append(loads[g], engine.PortLoad{Port: r.index(g, d.From), Rate: part})
			}
		}
	}
	return loads
}
