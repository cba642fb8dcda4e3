package frames

import (
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
)

// theft follows how much processor time the host of a generator's virtual machine takes.
type theft struct {
	first, last engine.Stolen
	worst       float64 // the largest share between two readings
}

// thefts begin with the readings before traffic, one for each generator.
func thefts(readings []engine.Reading) []theft {
	all := make([]theft, len(readings))
	for i, r := range readings {
		all[i] = theft{first: r.Stolen, last: r.Stolen}
	}
	return all
}

// shortest is the shortest time over which a share means something: the kernel counts in hundredths of a second.
const shortest = 800 * time.Millisecond

func (t *theft) add(now engine.Stolen) {
	if now.At-t.last.At < shortest {
		return
	}
	t.worst = max(t.worst, share(t.last, now))
	t.last = now
}

// share is the share of processor time that was taken between two readings; 0 where it is unknown.
func share(from, to engine.Stolen) float64 {
	if from.At == 0 || to.At <= from.At {
		return 0
	}
	return max(0, float64(to.Time-from.Time)/float64(to.At-from.At))
}

// reportStolen writes into the Report what was taken so far, if anything.
func (r *run) reportStolen() {
	r.Report.Stolen = nil
	for i, t := range r.drive.thefts {
		if percent(t.worst) > 0 {
			r.Report.Stolen = append(r.Report.Stolen, report.Stolen{Generator: r.gens[i].Name, Percent: percent(share(t.first, t.last)), WorstPercent: percent(t.worst)})
		}
	}
}

// percent is a share, to a hundredth.
func percent(share float64) float64 { return math.Round(1e4*share) / 100 }
