package frames

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// demand is what the present step asks for.
type demand struct {
	step  procedure.Step
	rates []units.PacketRate // by direction, or nil if no load was asked for yet
}

// totals counts what was sent and came back since traffic began.
type totals struct {
	journal *runner.Journal
	setup   *measure.Setup
	demand  *demand

	baseline []engine.Reading
	latest   []engine.Reading
	limited  []report.Limiter // the limits' counters before traffic began
}

// samples keeps readings for graphs, and reports progress.
type samples struct {
	journal  *runner.Journal
	topology *topology
	setup    *measure.Setup
	demand   *demand
	rates    *rates
	totals   *totals
	silence  *silence
	judge    *judge
	thefts   []theft // one for each generator
}

// share is the step's share of the target rate, for people. A warm-up has a rate of its own.
func (d *demand) share() units.Ratio {
	if d.step.Phase == report.WarmUp {
		return 0
	}
	return d.step.Load
}

// write writes, per direction, all that was sent and came back since the first start.
func (t *totals) write(latest []engine.Reading, limited []report.Limiter, drained bool) {
	t.journal.Report.Totals = nil
	counted := limitsBetween(t.limited, limited)
	for i, d := range t.setup.Directions {
		total := between(d, t.baseline, latest)
		total.Drained = drained
		if i < len(counted) {
			total.Limiter = &counted[i]
		}
		t.journal.Report.Totals = append(t.journal.Report.Totals, total)
	}
}

// add keeps a reading for graphs, and reports progress.
func (s *samples) add(readings []engine.Reading, inStep time.Duration) {
	for g, reading := range readings {
		s.thefts[g].add(reading.Stolen)
	}
	s.reportStolen()
	s.silence.quiet.keep(s.journal.Report, readings, s.totals.sample(readings))
	live := measure.Judge(s.setup.Window(measure.Span{Readings: measure.Pairwise(s.totals.latest, readings),
		Intended: s.demand.rates}), s.judge.goal())
	s.totals.latest = readings
	s.journal.Estimate(inStep)
	s.journal.Update(func(p *runner.Progress) {
		total := measure.Sum(live.Directions, s.rates.line)
		p.OfferedPacketsPerSecond, p.ReceivedPacketsPerSecond = total.Offered.PacketsPerSecond,
			total.Received.PacketsPerSecond
		p.ReceivedLayer1BitsPerSecond, p.LossRatio = total.Received.Layer1BitsPerSecond, total.LossRatio
	})
}

// sample is what was sent and came back since the traffic began, until readings that were taken just now.
func (t *totals) sample(readings []engine.Reading) report.Sample {
	s := report.Sample{Time: plan.Duration(time.Since(t.journal.Started)), Phase: t.demand.step.Phase,
		Load: t.demand.share(), CPUPercent: -1}
	for g, reading := range readings {
		s.CPUPercent = max(s.CPUPercent, reading.CPUPercent)
		s.QueueFull += reading.QueueFull - t.baseline[g].QueueFull
	}
	for i, d := range t.setup.Directions {
		total := between(d, t.baseline, readings)
		direction := report.SampleDirection{Sent: total.Sent, Returned: total.Returned,
			ReceiveErrors: total.ReceiveErrors}
		if t.demand.rates != nil { // else no load was asked for yet
			direction.IntendedPacketsPerSecond = t.demand.rates[i].Whole()
		}
		s.Directions = append(s.Directions, direction)
	}
	return s
}

// missing is how many frames of each direction, in the Plan's order, were sent since traffic began and have not come
// back.
func (t *totals) missing(readings []engine.Reading) []int64 {
	packets := make([]int64, len(t.setup.Directions))
	for i, d := range t.setup.Directions {
		total := between(d, t.baseline, readings)
		packets[i] = total.Sent.Packets - total.SendDrops - total.Returned.Packets - total.ReceiveErrors
	}
	return packets
}

// leaveOut moves the readings from which totals and graphs are counted, so that what was counted between two readings
// is left out.
func (t *totals) leaveOut(opening, closing []engine.Reading, limited []report.Limiter) {
	moved := slices.Clone(t.baseline)
	for g := range closing {
		moved[g].Ports = maps.Clone(moved[g].Ports) // the readings' maps are shared
		for port, counted := range closing[g].Ports {
			first, base := opening[g].Ports[port], moved[g].Ports[port]
			base.Sent = base.Sent.Add(counted.Sent.Sub(first.Sent))
			base.Received = base.Received.Add(counted.Received.Sub(first.Received))
			base.SendDrops += counted.SendDrops - first.SendDrops
			base.ReceiveErrors += counted.ReceiveErrors - first.ReceiveErrors
			base.Damaged += counted.Damaged - first.Damaged
			moved[g].Ports[port] = base
		}
	}
	t.baseline, t.latest = moved, closing
	t.limited = slices.Clone(t.limited)
	for i := range min(len(limited), len(t.limited)) {
		t.limited[i].Passed += limited[i].Passed
		t.limited[i].Dropped += limited[i].Dropped
	}
}

// theft follows how much processor time the host of a generator's virtual machine takes.
type theft struct {
	first, latest engine.Stolen
	worst         float64 // the largest share between two readings
}

// thefts begin with the readings before traffic, one for each generator.
func thefts(readings []engine.Reading) []theft {
	perGenerator := make([]theft, len(readings))
	for i, r := range readings {
		perGenerator[i] = theft{first: r.Stolen, latest: r.Stolen}
	}
	return perGenerator
}

// shortest is the shortest time over which a share means something, as the kernel counts in hundredths of a second.
const shortest = 800 * time.Millisecond

func (t *theft) add(latest engine.Stolen) {
	if latest.Instant-t.latest.Instant < shortest {
		return
	}
	t.worst = max(t.worst, share(t.latest, latest))
	t.latest = latest
}

// share is the share of processor time that was taken between two readings, or 0 where it is unknown.
func share(first, latest engine.Stolen) float64 {
	if first.Instant == 0 || latest.Instant <= first.Instant {
		return 0
	}
	return max(0, float64(latest.Time-first.Time)/float64(latest.Instant-first.Instant))
}

// reportStolen writes into the Report what was taken so far, if anything.
func (s *samples) reportStolen() {
	s.journal.Report.Stolen = nil
	for i, t := range s.thefts {
		if percent(t.worst) > 0 {
			s.journal.Report.Stolen = append(s.journal.Report.Stolen, report.Stolen{Generator: s.topology.names[i],
				Percent: percent(share(t.first, t.latest)), WorstPercent: percent(t.worst)})
		}
	}
}

// percent is a share, to a hundredth.
func percent(share float64) float64 { return math.Round(1e4*share) / 100 }
