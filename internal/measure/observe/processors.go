package observe

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// processorTimes are how the processors of machines spend their time. Generators send theirs with their counters.
// Another program asks the device's node. Each costs a machine one look at /proc/stat in a tenth of a second at
// most.
type processorTimes struct{}

func (p processorTimes) read(s Setup, kind string, m Moment) (values []value, missing string) {
	return valuesOf(s.machines(kind, m, p))
}

// ofGenerator are the processors of a generator's machine.
func (p processorTimes) ofGenerator(s Setup, g int, m Moment, name string) observedMachine {
	reading := m.Readings[g].Processors
	result := observedMachine{name: name}
	if reading.Instant == 0 || len(reading.List) == 0 {
		result.missing = fmt.Sprintf("generator %s doesn't tell of its processors: the software engine does, on Linux",
			s.generator(g))
	}
	result.instant, result.clock = m.timeOf(g, reading.Instant), reading.Instant
	var processors []machine.Processor
	for _, p := range reading.List {
		processors = append(processors, machine.Processor(p))
	}
	result.values = p.values(result, processors)
	return result
}

// ofDevice are those of the device's node.
func (p processorTimes) ofDevice(m Moment, name string) observedMachine {
	result := observedMachine{name: name, instant: m.Device.At + m.deviceBehind, clock: m.Device.At,
		missing: cmp.Or(m.Device.Missing, m.Device.NoProcessors)}
	if result.missing == "" && len(m.Device.Processors) == 0 {
		result.missing = "the device's node doesn't tell of its processors"
	}
	result.values = p.values(result, m.Device.Processors)
	return result
}

// values are a machine's series, of all processors together, and of each processor where there are few.
func (p processorTimes) values(n observedMachine, processors []machine.Processor) (values []value) {
	var sum machine.Processor
	for _, p := range processors {
		sum.Busy, sum.SoftIRQ, sum.Stolen = sum.Busy+p.Busy, sum.SoftIRQ+p.SoftIRQ, sum.Stolen+p.Stolen
	}
	values = p.times(n, report.AllProcessors, len(processors), sum)
	if n.missing != "" || len(processors) > signs.MostEach {
		return values
	}
	for _, processor := range processors {
		values = append(values, p.times(n, fmt.Sprintf("processor %d", processor.Number), 1, processor)...)
	}
	return values
}

// times are the three series of so many processors together, in seconds. The kernel counts each processor's in
// ticks.
func (processorTimes) times(n observedMachine, part string, processorsOf int, p machine.Processor) []value {
	seconds := func(name string, d time.Duration) value {
		return value{name: name, part: n.name + part, unit: "s", kind: report.Counter, instant: n.instant,
			clock:  n.clock,
			number: d.Seconds(),
			step:   float64(processorsOf) * machine.Tick.Seconds(), source: n.name, missing: n.missing}
	}
	return []value{seconds("busy", p.Busy), seconds("softirq", p.SoftIRQ), seconds("stolen", p.Stolen)}
}
