package frames

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// silenceEvery is how often counters are read to see whether a direction fell silent, and closeEvery how often where
// one seems to. Reading takes processor time of a device on the same machine.
const silenceEvery, closeEvery = sampleEvery / 4, sampleEvery / 20

// silence follows which directions are silent, so that a device that was away for less than two samples is seen by
// the samples, and how long it takes to forward a frame:
//
//	readings  ┬───┬───┬───┬───┬───┬───┬───┬───┬
//	came back ████████████▌          ▐█████████
//	samples   ┬           ┬   ┬   ┬   ┬       ┬      one each second, and some where silence begins or ends
type silence struct {
	journal *runner.Journal
	setup   *measure.Setup
	totals  *totals
	quiet   quiet
}

// quiet is what the latest readings show of silence.
type quiet struct {
	readings []engine.Reading // the latest that were looked at
	sample   report.Sample    // of these readings
	reported bool             // the Report has that sample
	silent   []bool           // by direction, from the readings before until these
	rate     []float64        // by direction, how many frames came back in a second until these readings
	best     []float64        // by direction, how many did at best
	close    bool             // a direction is silent, or hears less than before, so look again soon
}

// awaitFirstFrames says that traffic begins after these readings. All directions are silent until its first frames
// are back, and silence shows how long that takes.
func (s *silence) awaitFirstFrames() {
	q := &s.quiet
	q.close = true
	for i := range q.silent {
		q.silent[i] = true
	}
	if q.readings != nil {
		q.keep(s.journal.Report, q.readings, q.sample)
	}
}

// follow keeps samples where a direction fell silent since the readings before, or was heard again.
func (s *silence) follow(readings []engine.Reading) {
	previous := &s.quiet
	if previous.readings == nil {
		return
	}
	directions := len(s.setup.Directions)
	current := quiet{readings: readings, sample: s.totals.sample(readings), silent: make([]bool, directions),
		rate: make([]float64, directions), best: previous.best}
	elapsed := (current.sample.Time - previous.sample.Time).Std()
	if elapsed < s.interval() {
		return
	}
	changed := false
	for i, d := range s.setup.Directions {
		passed := between(d, previous.readings, readings)
		returned := passed.Returned.Packets + passed.ReceiveErrors
		current.rate[i] = float64(returned) / elapsed.Seconds()
		current.best[i] = max(current.best[i], current.rate[i])
		current.silent[i] = measure.IsSilent(passed.Sent.Packets, returned, current.best[i]*elapsed.Seconds())
		if passed.Sent.Packets < measure.LeastSent && returned == 0 {
			// A generator begins a while after it was asked to, and a pause ends no silence.
			current.silent[i] = previous.silent[i]
		}
		current.close = current.close || current.silent[i] || current.rate[i] < previous.rate[i]/2
		changed = changed || previous.silent[i] != current.silent[i]
		current.reported = current.reported || previous.silent[i] && !current.silent[i]
	}
	if changed && !previous.reported {
		s.journal.Report.Samples = append(s.journal.Report.Samples, previous.sample)
	}
	if current.reported {
		s.journal.Report.Samples = append(s.journal.Report.Samples, current.sample)
	}
	*previous = current
}

// interval is how often to read counters for silence now.
func (s *silence) interval() time.Duration {
	if s.quiet.close {
		return closeEvery
	}
	return silenceEvery
}

// keep puts a sample into the Report, from which silence is looked for next.
func (q *quiet) keep(document *report.Report, readings []engine.Reading, sample report.Sample) {
	if q.reported && q.sample.Time == sample.Time {
		return
	}
	document.Samples = append(document.Samples, sample)
	q.readings, q.sample, q.reported = readings, sample, true
}

// begin looks for silence from these readings on.
func (s *silence) begin(readings []engine.Reading) {
	directions := len(s.setup.Directions)
	s.quiet = quiet{readings: readings, sample: s.totals.sample(readings), silent: make([]bool, directions),
		rate: make([]float64, directions), best: make([]float64, directions)}
}
