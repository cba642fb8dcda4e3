package observe

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
)

// most is of how many of a machine's processors each has series of its own; of more there are those of all together.
const most = 8

// processorTimes are how the processors of the generators' machines spend their time, as these say it with their counters. On one machine they are the device's,
// too. It costs that machine one look at /proc/stat in a tenth of a second at most.
type processorTimes struct{}

func (processorTimes) read(s Setup, m Moment) (values []value, missing string) {
	for g, reading := range m.Readings {
		p := reading.Processors
		if p.At == 0 || len(p.Each) == 0 {
			missing = fmt.Sprintf("generator %s doesn't tell of its processors: the software engine does, on Linux", s.generator(g))
			continue
		}
		whose := ""
		if len(m.Readings) > 1 {
			whose = s.generator(g) + " "
		}
		at := m.timeOf(g, p.At)
		var busy, soft, stolen time.Duration
		for _, each := range p.Each {
			busy, soft, stolen = busy+each.Busy, soft+each.SoftIRQ, stolen+each.Stolen
		}
		values = append(values, times(whose+report.AllProcessors, at, len(p.Each), busy, soft, stolen)...)
		if len(p.Each) > most {
			continue
		}
		for _, each := range p.Each {
			values = append(values, times(fmt.Sprintf("%sprocessor %d", whose, each.Number), at, 1, each.Busy, each.SoftIRQ, each.Stolen)...)
		}
	}
	if len(values) > 0 {
		missing = ""
	}
	return values, missing
}

// times are the three series of so many processors together, in seconds. The kernel tells each processor's in ticks.
func times(of string, at time.Duration, processorsOf int, busy, soft, stolen time.Duration) []value {
	seconds := func(name string, d time.Duration) value {
		return value{name: name, of: of, unit: "s", kind: report.Counter, at: at, number: d.Seconds(), step: float64(processorsOf) * processors.Tick.Seconds()}
	}
	return []value{seconds("busy", busy), seconds("softirq", soft), seconds("stolen", stolen)}
}

func (s Setup) generator(g int) string {
	if g < len(s.Generators) {
		return s.Generators[g]
	}
	return fmt.Sprintf("number %d", g)
}
