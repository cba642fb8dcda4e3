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
	told := m.Readings[g].Processors
	one := observedMachine{name: name}
	if told.At == 0 || len(told.Each) == 0 {
		one.missing = fmt.Sprintf("generator %s doesn't tell of its processors: the software engine does, on Linux",
			s.generator(g))
	}
	one.at, one.clock = m.timeOf(g, told.At), told.At
	var each []machine.Processor
	for _, p := range told.Each {
		each = append(each, machine.Processor(p))
	}
	one.values = p.values(one, each)
	return one
}

// ofDevice are those of the device's node.
func (p processorTimes) ofDevice(m Moment, name string) observedMachine {
	one := observedMachine{name: name, at: m.Device.At + m.deviceBehind, clock: m.Device.At,
		missing: cmp.Or(m.Device.Missing, m.Device.NoProcessors)}
	if one.missing == "" && len(m.Device.Processors) == 0 {
		one.missing = "the device's node doesn't tell of its processors"
	}
	one.values = p.values(one, m.Device.Processors)
	return one
}

// values are a machine's series, of all processors together, and of each where there are few.
func (p processorTimes) values(n observedMachine, each []machine.Processor) (values []value) {
	var sum machine.Processor
	for _, p := range each {
		sum.Busy, sum.SoftIRQ, sum.Stolen = sum.Busy+p.Busy, sum.SoftIRQ+p.SoftIRQ, sum.Stolen+p.Stolen
	}
	values = p.times(n, report.AllProcessors, len(each), sum)
	if n.missing != "" || len(each) > signs.MostEach {
		return values
	}
	for _, one := range each {
		values = append(values, p.times(n, fmt.Sprintf("processor %d", one.Number), 1, one)...)
	}
	return values
}

// times are the three series of so many processors together, in seconds. The kernel tells each processor's in ticks.
func (processorTimes) times(n observedMachine, part string, processorsOf int, p machine.Processor) []value {
	seconds := func(name string, d time.Duration) value {
		return value{name: name, part: n.name + part, unit: "s", kind: report.Counter, at: n.at, clock: n.clock,
			number: d.Seconds(),
			step:   float64(processorsOf) * machine.Tick.Seconds(), source: n.name, missing: n.missing}
	}
	return []value{seconds("busy", p.Busy), seconds("softirq", p.SoftIRQ), seconds("stolen", p.Stolen)}
}
