package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
)

// most is of how many of a machine's processors each has series of its own; of more there are those of all together.
const most = 8

// processorTimes are how the processors of machines spend their time: of the generators', as these say it with their counters, and of the device's node, which
// somebody else asks. It costs a machine one look at /proc/stat in a tenth of a second at most.
type processorTimes struct{}

// machine is what one told of its processors.
type machine struct {
	name    string        // before the name of its series; empty: it is the only one
	at      time.Duration // in the run's time
	clock   time.Duration // its own
	each    []processors.Processor
	missing string // why it told nothing
}

func (processorTimes) read(s Setup, of string, m Moment) (values []value, missing string) {
	all := s.machines(of, m)
	var lacking []string
	for _, each := range all {
		values = append(values, each.values()...)
		if each.missing != "" {
			lacking = append(lacking, each.missing)
		}
	}
	if len(lacking) == len(all) {
		return nil, strings.Join(lacking, "; ")
	}
	return values, ""
}

// unasked is why there is nothing of a device's machine.
const unasked = "nobody tells of the device's machine, and nothing says that it is the generators'"

// machines are those whose processors an observer looks at. On one machine they are its own, whosever they are to be.
func (s Setup) machines(of string, m Moment) (all []machine) {
	switch {
	case of == plan.OfDUT && m.Device != nil:
		return []machine{m.device("")}
	case of == plan.OfDUT && !s.OneMachine:
		return []machine{{missing: unasked}}
	case of == plan.OfNode && !s.OneMachine:
		return s.onNodes(m)
	}
	for g, r := range m.Readings {
		name := ""
		if len(m.Readings) > 1 && of != plan.OfNode {
			name = s.generator(g) + " "
		}
		all = append(all, s.generators(g, r, m, name))
		if of == plan.OfNode {
			break // this machine, once
		}
	}
	return all
}

// onNodes are the nodes that generators and device are on, each once: as the first generator tells that is there, else as somebody on it tells for the device's sake.
func (s Setup) onNodes(m Moment) (all []machine) {
	add := func(one machine) {
		i := slices.IndexFunc(all, func(have machine) bool { return have.name == one.name })
		switch {
		case i < 0:
			all = append(all, one)
		case all[i].missing != "" && one.missing == "":
			all[i] = one
		}
	}
	for g, r := range m.Readings {
		name := "generator " + s.generator(g) + "'s " // a server that runs elsewhere
		if node := s.Nodes[s.generator(g)]; node != "" {
			name = node + " "
		}
		add(s.generators(g, r, m, name))
	}
	if s.DeviceNode != "" && m.Device != nil {
		add(m.device(s.DeviceNode + " "))
	}
	return all
}

// generators is the machine of a generator.
func (s Setup) generators(g int, r engine.Reading, m Moment, name string) machine {
	one := machine{name: name}
	if r.Processors.At == 0 || len(r.Processors.Each) == 0 {
		one.missing = fmt.Sprintf("generator %s doesn't tell of its processors: the software engine does, on Linux", s.generator(g))
		return one
	}
	one.at, one.clock = m.timeOf(g, r.Processors.At), r.Processors.At
	for _, p := range r.Processors.Each {
		one.each = append(one.each, processors.Processor(p))
	}
	return one
}

// device is the device's node.
func (m Moment) device(name string) machine {
	one := machine{name: name, at: m.Device.At + m.deviceBehind, clock: m.Device.At, each: m.Device.Processors, missing: cmp.Or(m.Device.Missing, m.Device.NoProcessors)}
	if one.missing == "" && len(one.each) == 0 {
		one.missing = "the device's node doesn't tell of its processors"
	}
	return one
}

// values are its series': of all processors together, and of each where there are few.
func (n machine) values() (values []value) {
	var sum processors.Processor
	for _, p := range n.each {
		sum.Busy, sum.SoftIRQ, sum.Stolen = sum.Busy+p.Busy, sum.SoftIRQ+p.SoftIRQ, sum.Stolen+p.Stolen
	}
	values = n.times(report.AllProcessors, len(n.each), sum)
	if n.missing != "" || len(n.each) > most {
		return values
	}
	for _, p := range n.each {
		values = append(values, n.times(fmt.Sprintf("processor %d", p.Number), 1, p)...)
	}
	return values
}

// times are the three series of so many processors together, in seconds. The kernel tells each processor's in ticks.
func (n machine) times(of string, processorsOf int, p processors.Processor) []value {
	seconds := func(name string, d time.Duration) value {
		return value{name: name, of: n.name + of, unit: "s", kind: report.Counter, at: n.at, clock: n.clock, number: d.Seconds(),
			step: float64(processorsOf) * processors.Tick.Seconds(), source: n.name, missing: n.missing}
	}
	return []value{seconds("busy", p.Busy), seconds("softirq", p.SoftIRQ), seconds("stolen", p.Stolen)}
}

func (s Setup) generator(g int) string {
	if g < len(s.Generators) {
		return s.Generators[g]
	}
	return fmt.Sprintf("number %d", g)
}
