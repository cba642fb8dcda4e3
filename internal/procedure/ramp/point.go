package ramp

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// point is a window as the search sees it. Asked is the intended load, load the offered one: they differ where the generator could not keep up, and loss is judged at the load that the device
// really got.
type point struct {
	window      int // index into the history
	asked, load units.Ratio
	lossy       bool // loss in some direction that is surely the device's
	clean       bool // every direction Good or Short
	short       bool // some direction offered less than asked
	long        bool // held for the confirmation's duration
	fooled      bool // clean, but too short to see what a long look saw
	unheld      bool // clean, but no long look at it, or at a lower load, could be judged
	withdrawn   bool // lossy in the staircase, in a trouble that passed
	dropped     bool // Invalid while the generator dropped frames that reached it
	bursts      bool // Invalid as frames were lost while the generator sent in bursts
	machine     bool // Invalid as frames were lost that the device's limit lets through, or while those who carry them waited for processors
}

// pointOf reads window i of the history.
func pointOf(w report.Window, i int) point {
	p := point{window: i, asked: w.Load, load: w.Load, clean: len(w.Directions) > 0, bursts: w.LostToBursts(), machine: w.LostToMachine() || w.LostToDisturbance()}
	for _, d := range w.Directions {
		p.lossy = p.lossy || d.Quality == report.Lossy
		p.clean = p.clean && (d.Quality == report.Good || d.Quality == report.Short)
		p.short = p.short || d.Quality == report.Short || d.Quality == report.Lossy && offeredLoad(d, w.Load) < w.Load
		p.dropped = p.dropped || d.Quality == report.Invalid && d.GeneratorDrops() > 0
	}
	for _, d := range w.Directions {
		if d.Quality == report.Lossy || p.clean {
			p.load = min(p.load, offeredLoad(d, w.Load))
		}
	}
	return p
}

// offeredLoad is the direction's load as it was offered. Differences up to 1 % are noise of the reading, and the load counts as asked for.
func offeredLoad(d report.Direction, asked units.Ratio) units.Ratio {
	share := units.RatioOf(d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)
	if d.Intended.PacketsPerSecond == 0 || share >= units.One*99/100 {
		return asked
	}
	return mul(asked, share)
}

// noticeablyLess says that two offered loads differ by more than the noise of the reading.
func noticeablyLess(a, than units.Ratio) bool { return a < than-than/100 }

// unclear says that the window neither shows loss nor its absence.
func (p point) unclear() bool { return !p.lossy && !p.clean }

// isGenerators says that the window is unclear because of the generator.
func (p point) isGenerators() bool { return p.dropped || p.bursts }

// isGeneratorsOrMachines says that the window is unclear because of the generator, or of the machine that plays the device.
func (p point) isGeneratorsOrMachines() bool { return p.isGenerators() || p.machine }

// mul is a share of a share; both are at most about one.
func mul(a, b units.Ratio) units.Ratio {
	return units.Ratio(units.PacketRate(a).Mul(b))
}

// width is how far lo lies below hi, as a share of hi.
func width(lo, hi units.Ratio) units.Ratio { return units.RatioOf(int64(hi-lo), int64(hi)) }
