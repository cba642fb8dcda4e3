package soak

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/units"
)

// direction is what the trials show of one direction.
type direction struct {
	Soak
	// highest is the highest load of a trial, atHighest the direction in the first trial of that load, and
	// offeredAtHighest what each trial of that load offered, in packets per second.
	highest          units.Ratio
	atHighest        report.Direction
	offeredAtHighest []float64
	// full is what a load of one asks of the direction, in packets per second.
	full float64
	// worst are the trials with every frame as lost that the device may have lost, and best with those alone that it
	// surely lost. Frames that the generator itself dropped are neither sent nor lost.
	worst, best []losscurve.Trial
	// lost is how many frames of worst are lost, and doubtful how many of these the device may not have lost.
	sent, lost, doubtful int64
	// unsure is how much more or less than the trials' loads may have been offered, in packets per second.
	unsure float64
}

// directionsOf gathers what the trials show of each direction.
func (s Soak) directionsOf(trials []report.Window) (directions []direction) {
	if len(trials) == 0 {
		return nil
	}
	highest := slices.MaxFunc(trials, func(a, b report.Window) int { return cmp.Compare(a.Load, b.Load) })
	for i, m := range highest.Directions {
		d := direction{Soak: s, highest: highest.Load, atHighest: m,
			full: float64(max(1, m.Intended.PacketsPerSecond)) / highest.Load.Float()}
		for _, w := range trials {
			d.add(w, i)
		}
		directions = append(directions, d)
	}
	return directions
}

// add takes in direction i of a trial.
func (d *direction) add(w report.Window, i int) {
	m := w.Directions[i]
	sent := m.Sent.Packets - m.GeneratorDrops()
	if sent <= 0 || m.Offered.PacketsPerSecond <= 0 {
		return
	}
	surely, possibly := measure.LossBetween(w, i, d.plan.LossRatio)
	offered := float64(m.Offered.PacketsPerSecond)
	d.worst = append(d.worst, losscurve.Trial{Load: offered, Sent: sent, Lost: possibly})
	d.best = append(d.best, losscurve.Trial{Load: offered, Sent: sent, Lost: surely})
	if w.Load == d.highest {
		d.offeredAtHighest = append(d.offeredAtHighest, offered)
	}
	d.sent, d.lost, d.doubtful = d.sent+sent, d.lost+possibly, d.doubtful+possibly-surely
	if w.Evidence != nil && i < len(w.Evidence.Directions) {
		e := w.Evidence.Directions[i]
		d.unsure = max(d.unsure, float64(e.MostOffered-e.Offered)/float64(units.PacketPerSecond))
	}
}

// fit fits curves of one shape to trials of the direction.
func (d direction) fit(shape losscurve.Shape, trials []losscurve.Trial) losscurve.Fit {
	return losscurve.FitTrials(shape, trials, losscurve.Question{LossRatio: d.plan.LossRatio.Float(),
		Lowest: d.leastRate(), Highest: d.full})
}

// leastRate is the lowest load of the soak, in packets per second of the direction.
func (d direction) leastRate() float64 { return d.full * d.lowest().Float() }

// loadOf is the load that asks the direction for so many packets per second.
func (d direction) loadOf(packetsPerSecond float64) units.Ratio {
	return d.onGrid(units.Ratio(min(1, packetsPerSecond/d.full) * float64(units.One)))
}

// onGrid moves a load to the grid, between the lowest and the highest.
func (s Soak) onGrid(load units.Ratio) units.Ratio {
	return min(units.One, max(s.lowest(), (load+grid/2)/grid*grid))
}
