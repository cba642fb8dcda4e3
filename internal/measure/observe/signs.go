package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// machineSigns are the vital signs of one type that machines tell of themselves. Generators send theirs with their
// counters, and the device's node sends its own on request. Package signs lists the types.
type machineSigns struct{ owner string }

func (o machineSigns) read(s Setup, kind string, m Moment) (values []value, missing string) {
	machines := slices.DeleteFunc(s.machines(kind, m, o), func(machine observedMachine) bool { return machine.spared })
	if len(machines) == 0 {
		return nil, ""
	}
	return valuesOf(machines)
}

// spared says that an answer lacks this type since nobody asked for it. Only types that take something from the
// device are ever left out of a question. An answer may be older than the moment at which it is the newest, so the
// question counts, not the moment.
func (o machineSigns) spared(reading signs.Reading, asked []string) bool {
	return reading.Type == "" && signs.Kinds[o.owner].Intrusive && !slices.Contains(asked, o.owner)
}

func (o machineSigns) ofGenerator(s Setup, g int, m Moment, name string) observedMachine {
	reading := readingOf(m.Readings[g].Signs, o.owner)
	result := observedMachine{name: name, instant: m.timeOf(g, reading.At+reading.Took/2), clock: reading.At +
		reading.Took/2,
		missing: reading.Missing}
	if result.missing == "" && len(reading.Values) == 0 {
		result.missing = fmt.Sprintf("generator %s doesn't tell of its machine's %s: the software engine does",
			s.generator(g), signs.Kinds[o.owner].What)
	}
	result.values, result.spared = o.values(result, reading), o.spared(reading, m.Readings[g].RequestedSigns)
	return result
}

func (o machineSigns) ofDevice(m Moment, name string) observedMachine {
	reading := readingOf(m.Device.Signs, o.owner)
	result := observedMachine{name: name, instant: reading.At + reading.Took/2 + m.deviceBehind, clock: reading.At +
		reading.Took/2,
		missing: cmp.Or(m.Device.Missing, reading.Missing)}
	if result.missing == "" && len(reading.Values) == 0 {
		result.missing = "the device's node doesn't tell of its " + signs.Kinds[o.owner].What
	}
	result.values, result.spared = o.values(result, reading), m.Device.Missing == "" &&
		o.spared(reading, m.Device.Asked)
	return result
}

func readingOf(readings []signs.Reading, signType string) signs.Reading {
	if i := slices.IndexFunc(readings, func(t signs.Reading) bool { return t.Type == signType }); i >= 0 {
		return readings[i]
	}
	return signs.Reading{}
}

// values are a machine's series. A machine without readings has each series that every machine has, and the series
// say why.
func (o machineSigns) values(n observedMachine, reading signs.Reading) (values []value) {
	kind := signs.Kinds[o.owner]
	if n.missing != "" {
		reading.Values = nil
		for _, s := range kind.Series {
			reading.Values = append(reading.Values, signs.Value{Series: s.Name,
				Part: map[bool]string{true: signs.OfAllProcessors}[s.OfAll]})
		}
	}
	for _, v := range reading.Values {
		s, ok := kind.Find(v.Series)
		if !ok {
			continue // no series of this kind
		}
		result := value{name: s.Name, part: n.name + cmp.Or(v.Part, "machine"), unit: s.Unit, kind: report.Gauge,
			instant: n.instant,
			clock:   n.clock, doubt: reading.Took / 2, number: v.Number, step: v.Step, source: n.name,
			missing: cmp.Or(n.missing, v.Missing)}
		if s.Counter {
			result.kind = report.Counter
		}
		if v.Missing != "" {
			result.source = strings.Join([]string{n.name, v.Series}, " ") // only this series lacks it
		}
		values = append(values, result)
	}
	return values
}

// deviceOrGenerators are interfaces. The device's machine tells of the device's, and the generators of their own
// with each port's counters.
type deviceOrGenerators struct {
	device     machineSigns
	generators interfaces
}

func (o deviceOrGenerators) read(s Setup, kind string, m Moment) (values []value, missing string) {
	if kind == plan.OfDUT {
		return o.device.read(s, kind, m)
	}
	return o.generators.read(s, kind, m)
}

// Wanted says which vital signs to ask for now, of all that a Plan's observers look at. It leaves out those that
// take something from the device while it is judged. It is safe for concurrent use. A nil Wanted wants nothing.
type Wanted struct {
	generators, device []string
	judged             atomic.Bool
}

// Want is the vital signs that these observers look at. On one machine the generators' readings are the device's,
// too.
func Want(of []plan.Observer, oneMachine bool) *Wanted {
	w := &Wanted{}
	for _, o := range of {
		_, sign := observers[o.Type].(machineSigns)
		switch {
		case o.Type == plan.ObserveInterfaces && o.Observed != plan.OfDUT: // generators send them with ports' counters
		case !sign && o.Type != plan.ObserveInterfaces:
		default:
			if oneMachine || o.Observed != plan.OfDUT {
				w.generators = appendOnce(w.generators, o.Type)
			}
			if !oneMachine && o.Observed != plan.OfGenerator {
				w.device = appendOnce(w.device, o.Type)
			}
		}
	}
	return w
}

// appendOnce appends the item to a list that doesn't have it.
func appendOnce(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// OfGenerators are the types to ask generators for.
func (w *Wanted) OfGenerators() []string {
	if w == nil {
		return nil
	}
	return w.due(w.generators)
}

// OfDevice are the types to ask the device's node for.
func (w *Wanted) OfDevice() []string {
	if w == nil {
		return nil
	}
	return w.due(w.device)
}

func (w *Wanted) due(types []string) (dueTypes []string) {
	for _, t := range types {
		if !w.judged.Load() || !signs.Kinds[t].Intrusive {
			dueTypes = append(dueTypes, t)
		}
	}
	return dueTypes
}

// Judge says that the device is judged from now on, or that it isn't.
func (w *Wanted) Judge(judged bool) {
	if w != nil {
		w.judged.Store(judged)
	}
}

// Intrusive says that something is wanted which isn't asked for while the device is judged.
func (w *Wanted) Intrusive() bool {
	return w != nil && slices.ContainsFunc(slices.Concat(w.generators, w.device),
		func(t string) bool { return signs.Kinds[t].Intrusive })
}
