package observe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// observedMachine holds one machine's readings for one observer.
type observedMachine struct {
	name    string        // before the name of its series, or empty for the only machine
	instant time.Duration // in the run's time
	clock   time.Duration // the machine's own clock
	values  []value       // also where a value is missing, and then the value says why
	missing string        // why the machine has no readings
	spared  bool          // the machine wasn't asked
}

// machineReader reads a machine for an observer, from a generator or from the device's node.
type machineReader interface {
	ofGenerator(s Setup, g int, m Moment, name string) observedMachine
	ofDevice(m Moment, name string) observedMachine
}

// whyDeviceUnread is the reason that a device's machine has no readings.
const whyDeviceUnread = "nobody tells of the device's machine, and nothing says that it is the generators'"

// machines are the machines that an observer looks at. On one machine, that machine stands for each of them.
func (s Setup) machines(kind string, m Moment, t machineReader) (machines []observedMachine) {
	switch {
	case kind == plan.OfDUT && m.Device != nil:
		return []observedMachine{t.ofDevice(m, "")}
	case kind == plan.OfDUT && !s.OneMachine:
		return []observedMachine{{missing: whyDeviceUnread}}
	case kind == plan.OfNode && !s.OneMachine:
		return s.onNodes(m, t)
	}
	for g := range m.Readings {
		name := ""
		if len(m.Readings) > 1 && kind != plan.OfNode {
			name = s.generator(g) + " "
		}
		machines = append(machines, t.ofGenerator(s, g, m, name))
		if kind == plan.OfNode {
			break // this machine, once
		}
	}
	return machines
}

// onNodes are the nodes that generators and device are on, each once. A node has the readings of its first
// generator that answers, or else those that its device's pod took.
func (s Setup) onNodes(m Moment, t machineReader) (machines []observedMachine) {
	add := func(m observedMachine) {
		i := slices.IndexFunc(machines, func(listed observedMachine) bool { return listed.name == m.name })
		switch {
		case i < 0:
			machines = append(machines, m)
		case machines[i].missing != "" && m.missing == "":
			machines[i] = m
		}
	}
	for g := range m.Readings {
		name := "generator " + s.generator(g) + "'s " // a server that runs elsewhere
		if node := s.Nodes[s.generator(g)]; node != "" {
			name = node + " "
		}
		add(t.ofGenerator(s, g, m, name))
	}
	if s.DeviceNode != "" && m.Device != nil {
		add(t.ofDevice(m, s.DeviceNode+" "))
	}
	return machines
}

// valuesOf are the values of all machines, or why none has any.
func valuesOf(machines []observedMachine) (values []value, missing string) {
	var lacking []string
	for _, m := range machines {
		values = append(values, m.values...)
		if m.missing != "" {
			lacking = append(lacking, m.missing)
		}
	}
	if len(lacking) == len(machines) {
		return nil, strings.Join(lacking, "; ")
	}
	return values, ""
}

func (s Setup) generator(g int) string {
	if g < len(s.Generators) {
		return s.Generators[g]
	}
	return fmt.Sprintf("number %d", g)
}
