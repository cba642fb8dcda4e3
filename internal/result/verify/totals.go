package verify

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// clocks is how far the runner's clock and a generator's may be apart over a run, plus the time that the last
// reading may take to arrive.
const clocks = time.Second

// times finds parts of the run that are out of order, or outside of the run.
func (s *subject) times() Check {
	d := newDiffer(CheckTimes)
	took := s.Finished.Sub(s.Started)
	if took < 0 {
		d.found("the report", "finished", "it ends at %s, before it begins at %s",
			s.Finished.UTC().Format(time.RFC3339), s.Started.UTC().Format(time.RFC3339))
		return d.done()
	}
	var final *report.Window
	for i := range s.Windows {
		w := &s.Windows[i]
		object := fmt.Sprintf("window %d", w.Number)
		if end := w.Start.Std() + w.Duration.Std(); end > took+took/100+clocks {
			d.found(object, "start", "it ends %s after the run began, but the run took %s", end, took)
		}
		if final != nil && (w.Number <= final.Number || w.Start < final.Start+final.Duration*9/10) {
			d.found(object, "start", "it starts at %s, but window %d before it starts at %s and lasts %s",
				w.Start.Std(), final.Number, final.Start.Std(), final.Duration.Std())
		}
		final = w
	}
	for i, sample := range s.Samples {
		if moment := sample.Time.Std(); moment < 0 || moment > took+took/100+clocks {
			d.found(fmt.Sprintf("sample %d", i+1), "at", "it was taken %s after the run began, but the run took %s",
				moment, took)
		}
	}
	return d.done()
}

// totals compares the sums of the windows' counters with those of the whole run, of which windows are a part.
func (s *subject) totals() Check {
	d := newDiffer(CheckTotals)
	if s.Plan.Sessions != nil {
		d.notVerified("sessions have no totals")
		return d.done()
	}
	if len(s.Totals) == 0 {
		if len(s.Windows) > 0 {
			d.notVerified("the report has no totals, as traffic was not stopped properly")
		}
		return d.done()
	}
	if len(s.Totals) != len(s.Plan.Directions) {
		d.found("totals", "", "they are of %d directions, but the plan has %d", len(s.Totals), len(s.Plan.Directions))
		return d.done()
	}
	for i, t := range s.Totals {
		if name := s.Plan.Directions[i].Name(); (plan.Direction{From: t.From, To: t.To}).Name() != name {
			d.found("totals", "", "direction %d is %s→%s, but the plan's is %s", i+1, t.From, t.To, name)
			continue
		}
		s.total(d, i)
	}
	return d.done()
}

// total compares the windows of direction i with its total, except windows with faulty readings, whose counters may
// have been cleared.
func (s *subject) total(d *differ, i int) {
	var sum report.Total
	for _, w := range s.Windows {
		if w.Evidence != nil && w.Evidence.Fault != "" {
			continue
		}
		m := w.Directions[i]
		sum.Sent, sum.Returned = sum.Sent.Add(m.Sent), sum.Returned.Add(m.Returned)
		sum.ReceiveErrors, sum.SendDrops, sum.DamagedFrames = sum.ReceiveErrors+m.ReceiveErrors, sum.SendDrops+
			m.SendDrops, sum.DamagedFrames+m.DamagedFrames
	}
	t := s.Totals[i]
	object := "total of " + s.Plan.Directions[i].Name()
	for _, count := range []struct {
		field         string
		windows, runs int64
	}{
		{"sent.packets", sum.Sent.Packets, t.Sent.Packets}, {"sent.bytes", sum.Sent.Bytes, t.Sent.Bytes},
		{"returned.packets", sum.Returned.Packets, t.Returned.Packets},
		{"returned.bytes", sum.Returned.Bytes, t.Returned.Bytes}, {"receiveErrors", sum.ReceiveErrors, t.ReceiveErrors},
		{"sendDrops", sum.SendDrops, t.SendDrops},
		{"damagedFrames", sum.DamagedFrames, t.DamagedFrames},
	} {
		if count.windows > count.runs {
			d.add(Finding{Object: object, Field: count.field, Stands: fmt.Sprint(count.runs),
				Gives: fmt.Sprint(count.windows),
				Message: fmt.Sprintf("%s: %s is %d, but the windows alone counted %d", object, count.field, count.runs,
					count.windows)})
		}
	}
}

// environment compares environment, line rates and background traffic with what generators and ports reported.
func (s *subject) environment() Check {
	d := newDiffer(CheckEnvironment)
	if recomputed := report.EnvironmentOf(s.Report); s.Environment != nil && recomputed == nil {
		d.notVerified("what generators reported about themselves was not kept, so the environment was not verified")
	} else {
		d.compare("environment", s.Environment, recomputed)
	}
	for _, l := range s.LineRates {
		for _, link := range s.Plan.Links {
			if link.Name == l.Link && l.Source == "spec" {
				d.compareAt("line rate of "+l.Link, "bitsPerSecond", l.BitsPerSecond, link.LineRate)
			}
		}
	}
	for _, silence := range s.Silence {
		d.compareAt(fmt.Sprintf("silence on %s of generator %s", silence.Link, silence.Generator), "packetsPerSecond",
			silence.PacketsPerSecond,
			units.PacketRateOver(silence.Received.Packets, int64(silence.Duration)).Whole())
	}
	return d.done()
}
