package reporttest

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// bench is a made-up lab with a device with an exact limit, a generator with another, and a clock that only counts.
// It writes what a run would have written, without a run.
type bench struct {
	product, loadtest string
	mix               units.Traffic
	directions        []plan.Direction
	limit             int64 // of the device, packets/s and direction, 0 if none
	capacity          int64 // of the generator, packets/s and direction, 0 if none
	line              units.BitRate
	steps             int
	cutAfter          int // steps after which the run is interrupted, 0 if none

	clock    time.Duration
	sent     []units.Traffic
	returned []units.Traffic
	r        *report.Report
	lastGap  int64
}

// Option changes what is measured.
type Option func(*bench)

// Limited gives the device a limit in each direction.
func Limited(packetsPerSecond int64) Option { return func(b *bench) { b.limit = packetsPerSecond } }

// Weak gives the generator a limit in each direction.
func Weak(packetsPerSecond int64) Option { return func(b *bench) { b.capacity = packetsPerSecond } }

// Steps is how many steps the ramp has.
func Steps(n int) Option { return func(b *bench) { b.steps = n } }

// CutAfter interrupts the run after n steps.
func CutAfter(n int) Option { return func(b *bench) { b.cutAfter = n } }

func named(product, loadtest string) Option {
	return func(b *bench) { b.product, b.loadtest = product, loadtest }
}

// Frames replaces IMIX by frames of one size.
func Frames(size int64) Option {
	return func(b *bench) { b.mix = units.Traffic{Packets: 1, Bytes: size} }
}

// Lanes replaces the directions by pairs of links, so that "west", "east" is west→east.
func Lanes(pairs ...string) Option {
	return func(b *bench) {
		b.directions = nil
		for i := 0; i < len(pairs); i += 2 {
			b.directions = append(b.directions, plan.Direction{From: pairs[i], To: pairs[i+1]})
		}
	}
}

// IMIX is the composition of 28 × 64, 16 × 594 and 4 × 1518 bytes.
func IMIX() units.Traffic { return units.Traffic{Packets: 48, Bytes: 17368} }

// Measured runs the bench with warm-up, ramp, refinement, confirmation and hold as far as the options let it.
func Measured(options ...Option) *report.Report {
	b := &bench{product: "VPP", loadtest: "imix", mix: IMIX(), line: units.Gbps, steps: 10,
		directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}}
	for _, o := range options {
		o(b)
	}
	b.prepare()
	b.run()
	b.settle()
	return b.r
}

func (b *bench) prepare() {
	for i := range b.directions {
		b.directions[i].Mix = b.mix
	}
	b.sent, b.returned = make([]units.Traffic, len(b.directions)), make([]units.Traffic, len(b.directions))
	started := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	b.r = &report.Report{Version: report.Version, Producer: "linerate v0.1.0", Plan: b.plan(), Started: started,
		Ending: report.Completed}
	generator := report.Generator{Name: "generator-0", Product: "TRex v3.06", Server: "10.42.0.17:4501",
		Hostname: "node-7", CPUModel: "Intel(R) Xeon(R) D-2123IT CPU @ 2.20GHz", Cores: 4,
		StartSkew: plan.Duration(340 * time.Microsecond)}
	for i, l := range b.r.Plan.Links {
		b.r.LineRates = append(b.r.LineRates, report.LineRate{Link: l.Name, BitsPerSecond: b.line, Source: "spec"})
		b.r.Silence = append(b.r.Silence, report.Silence{Link: l.Name, Generator: "generator-0",
			Duration: plan.Duration(time.Second)})
		generator.Ports = append(generator.Ports, report.GeneratorPort{Link: l.Name, Index: i,
			Name: fmt.Sprintf("0000:03:0a.%d", i), Driver: "net_iavf", MAC: fmt.Sprintf("02:00:00:00:00:%02x", i+1),
			NextHopMAC: fmt.Sprintf("02:00:00:00:01:%02x", i+1), FlowControl: "off"})
	}
	b.r.Generators = []report.Generator{generator}
	for _, d := range b.directions {
		b.r.Path = append(b.r.Path, report.PathCheck{From: d.From, To: d.To, Proven: true, Sent: 8, Received: 8,
			Message: "8 of 8 frames on " + d.To + ", source MAC 02:00:00:00:01:02, TTL 63"})
	}
}

func (b *bench) plan() *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Engine: "TRex", DUT: plan.DUT{Type: "Pod", Forwarding: plan.L3},
		Directions: b.directions,
		Test:       plan.Test{Name: "vpp-imix", Namespace: "lab", Attempt: 1, Product: b.product, Loadtest: b.loadtest},
		Procedure: plan.Procedure{Type: "Ramp", MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
			WarmupRate:     units.Rate{Kind: units.Packets, Micros: 1_000_000_000},
			WarmupDuration: plan.Duration(4 * time.Second),
			TargetRate:     units.Rate{Kind: units.LinePercent, Micros: 100_000_000},
			RampDuration:   plan.Duration(time.Duration(b.steps) * 2 * time.Second),
			StepDuration:   plan.Duration(2 * time.Second), SettleDuration: plan.Duration(500 * time.Millisecond),
			Precision:       units.One / 200,
			ConfirmDuration: plan.Duration(10 * time.Second), HoldDuration: plan.Duration(6 * time.Second)}},
		Criteria: []plan.Criterion{{Name: "imix-line-rate", Metric: "LineRatePercent", Direction: "Each", Min: "95"}},
	}
	generator := plan.Generator{Name: "generator-0"}
	for _, d := range b.directions {
		p.Links = append(p.Links, plan.Link{Name: d.From, LineRate: b.line,
			DUT: plan.DUTEnd{Addresses: []netip.Prefix{netip.MustParsePrefix("198.18.0.1/24")}}})
		generator.Ports = append(generator.Ports, plan.GeneratorPort{Link: d.From, Share: 1, ShareOf: 1,
			Streams: []stream.Stream{}})
	}
	if len(p.Links) == 1 { // with one direction only, its far end is a link too
		p.Links = append(p.Links, plan.Link{Name: b.directions[0].To, LineRate: b.line})
	}
	p.Generators = []plan.Generator{generator}
	return p
}

func (b *bench) run() {
	b.note("path proven in every direction; the ports are silent")
	b.window(report.WarmUp, units.One*1000/units.Ratio(b.top()), 4*time.Second)
	highest := units.Ratio(0)
	for i := range b.steps {
		if b.cutAfter > 0 && i >= b.cutAfter {
			b.r.Ending, b.r.Message = report.Interrupted,
				"stopped by a person while ramping; run it again for a whole measurement"
			b.answer(highest, b.firstLossy())
			return
		}
		load := units.One * units.Ratio(i+1) / units.Ratio(b.steps)
		if w := b.window(report.Ramping, load, 2*time.Second); w.Quality != report.Lossy && b.firstLossy() == 0 {
			highest = load
		}
	}
	lowestLossy := b.firstLossy()
	for lowestLossy > 0 && float64(lowestLossy-highest) > float64(lowestLossy)*0.005 {
		load := (highest + lowestLossy) / 2
		if b.window(report.Refine, load, 2*time.Second).Quality == report.Lossy {
			lowestLossy = load
		} else {
			highest = load
		}
	}
	b.window(report.Confirm, highest, 10*time.Second)
	b.r.Answer.Confirmed = true
	b.answer(highest, lowestLossy)
	b.window(report.Hold, units.One, 6*time.Second)
}

func (b *bench) firstLossy() units.Ratio {
	for _, w := range b.r.Windows {
		if w.Phase == report.Ramping && w.Quality == report.Lossy {
			return w.Load
		}
	}
	return 0
}

// top is 100 % of the line rate in packets/s and direction.
func (b *bench) top() int64 { return units.LinePacketRate(b.mix, b.line).Whole() }

// window plays a load, sampled each second, and judges it without its first half second.
func (b *bench) window(phase report.Phase, load units.Ratio, took time.Duration) *report.Window {
	intended := int64(float64(b.top()) * float64(load) / float64(units.One))
	offered := intended
	if b.capacity > 0 {
		offered = min(offered, b.capacity)
	}
	received := offered
	if b.limit > 0 && offered > b.limit {
		b.lastGap++
		received = b.limit - int64(float64(b.limit)*0.004*math.Abs(math.Sin(float64(b.lastGap))))
	}
	w := report.Window{Number: len(b.r.Windows) + 1, Phase: phase, Load: load, Start: plan.Duration(b.clock +
		500*time.Millisecond), Duration: plan.Duration(took - 500*time.Millisecond),
		Quality: report.Good, Reason: "loss within the limit", GeneratorCPUPercent: 3 +
			80*float64(offered)/float64(b.top())}
	for _, d := range b.directions {
		w.Directions = append(w.Directions, b.measure(d, intended, offered, received, w.Duration.Std()))
	}
	w.Quality, w.Reason = w.Directions[0].Quality, w.Directions[0].Reason
	b.r.Windows = append(b.r.Windows, w)
	b.sample(w, intended, offered, received, took)
	return &b.r.Windows[len(b.r.Windows)-1]
}

func (b *bench) measure(d plan.Direction, intended, offered, received int64, took time.Duration) report.Direction {
	sent, returned := b.traffic(offered, took), b.traffic(received, took)
	m := report.Direction{From: d.From, To: d.To, Intended: b.flow(intended), Offered: b.flow(offered),
		Received: b.flow(received), Sent: sent, Returned: returned,
		LossRatio: units.RatioOf(sent.Packets-returned.Packets, sent.Packets), Quality: report.Good,
		Reason: "loss within the limit"}
	m.LossRatioMin = m.LossRatio
	m.LineRatePercent = units.PercentOf(m.Received.Layer1BitsPerSecond, int64(b.line))
	switch {
	case m.LossRatio > units.One/1000:
		m.Quality, m.Reason = report.Lossy, "loss of "+m.LossRatio.String()+" is above 0.001"
	case offered*100 < intended*99:
		m.Quality, m.Reason = report.Short, "offered less than 99 % of what was intended"
	}
	return m
}

func (b *bench) traffic(packetsPerSecond int64, took time.Duration) units.Traffic {
	packets := int64(float64(packetsPerSecond) * took.Seconds())
	return units.Traffic{Packets: packets, Bytes: packets * b.mix.Bytes / b.mix.Packets}
}

func (b *bench) flow(packetsPerSecond int64) report.Flow {
	r := units.PacketRate(packetsPerSecond) * units.PacketPerSecond
	return report.Flow{PacketsPerSecond: packetsPerSecond, Layer1BitsPerSecond: int64(r.Layer1(b.mix)),
		Layer2BitsPerSecond: int64(r.Layer2(b.mix))}
}

func (b *bench) sample(w report.Window, intended, offered, received int64, took time.Duration) {
	for end := b.clock + took; b.clock < end; {
		b.clock += time.Second
		s := report.Sample{Time: plan.Duration(b.clock), Phase: w.Phase, Load: w.Load,
			CPUPercent: w.GeneratorCPUPercent}
		for i := range b.directions {
			b.sent[i] = b.sent[i].Add(b.traffic(offered, time.Second))
			b.returned[i] = b.returned[i].Add(b.traffic(received, time.Second))
			s.Directions = append(s.Directions, report.SampleDirection{IntendedPacketsPerSecond: intended,
				Sent: b.sent[i], Returned: b.returned[i]})
		}
		b.r.Samples = append(b.r.Samples, s)
	}
}

// answer writes the result as the highest clean load says.
func (b *bench) answer(highest, lossy units.Ratio) {
	res := &b.r.Answer
	if highest == 0 {
		res.Reason, res.Message = report.NotMeasured, "no window of the ramp was finished"
		return
	}
	var source report.Window
	for _, w := range b.r.Windows {
		if w.Load == highest && w.Phase != report.WarmUp && w.Phase != report.Hold {
			source = w
		}
	}
	res.Measured, res.Window, res.Directions = true, source.Number, source.Directions
	res.Total = b.sum(source)
	res.MaxReceived = b.sum(b.fastest())
	switch {
	case lossy > 0:
		res.Saturated, res.Reason, res.Resolution = true, report.LossAboveLimit, units.One/200
		res.Message = fmt.Sprintf("at %s each way more frames are lost than allowed",
			wording.PacketRate(int64(float64(b.top())*float64(lossy)/float64(units.One))))
	case b.r.Ending == report.Interrupted:
		res.Reason, res.Message = report.Inconclusive, "every step up to "+highest.Percent().String()+
			"% of the target was clean"
	case source.Quality == report.Short:
		res.Reason, res.Message = report.GeneratorLimited, fmt.Sprintf("%s each way were intended and %s were sent",
			wording.PacketRate(source.Directions[0].Intended.PacketsPerSecond),
			wording.PacketRate(source.Directions[0].Offered.PacketsPerSecond))
	default:
		res.Reason, res.Message = report.TargetReached, "100% of line rate was the target"
	}
}

func (b *bench) fastest() report.Window {
	best := b.r.Windows[0]
	for _, w := range b.r.Windows {
		if w.Directions[0].Received.PacketsPerSecond > best.Directions[0].Received.PacketsPerSecond {
			best = w
		}
	}
	return best
}

func (b *bench) sum(w report.Window) *report.Sum {
	s := &report.Sum{Window: w.Number, LossRatio: w.Directions[0].LossRatio, LossRatioMin: w.Directions[0].LossRatioMin,
		LineRatePercent: w.Directions[0].LineRatePercent}
	for _, d := range w.Directions {
		s.Intended, s.Offered, s.Received = plus(s.Intended, d.Intended), plus(s.Offered, d.Offered),
			plus(s.Received, d.Received)
	}
	return s
}

func plus(a, b report.Flow) report.Flow {
	return report.Flow{PacketsPerSecond: a.PacketsPerSecond + b.PacketsPerSecond,
		Layer1BitsPerSecond: a.Layer1BitsPerSecond + b.Layer1BitsPerSecond,
		Layer2BitsPerSecond: a.Layer2BitsPerSecond + b.Layer2BitsPerSecond}
}

func (b *bench) settle() {
	for i, d := range b.directions {
		b.r.Totals = append(b.r.Totals, report.Total{From: d.From, To: d.To, Sent: b.sent[i], Returned: b.returned[i],
			Drained: true})
	}
	b.r.Finished = b.r.Started.Add(b.clock + 1200*time.Millisecond)
	b.r.Verdict = report.Verdict{Outcome: report.Undecided}
}

func (b *bench) note(message string) {
	b.r.Notes = append(b.r.Notes, report.Note{Time: plan.Duration(b.clock), Message: message})
}
