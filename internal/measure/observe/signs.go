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
type machineSigns struct{ of string }

func (o machineSigns) read(s Setup, kind string, m Moment) (values []value, missing string) {
	machines := slices.DeleteFunc(s.machines(kind, m, o), func(one observedMachine) bool { return one.spared })
	if len(machines) == 0 {
		return nil, ""
	}
	return valuesOf(machines)
}

// spared says that an answer lacks this type since nobody asked for it. Only types that take something from the
// device are ever left out of a question. An answer may be older than the moment at which it is the newest, so the
// question counts, not the moment.
func (o machineSigns) spared(told signs.Reading, asked []string) bool {
	return told.Type == "" && signs.Kinds[o.of].Intrusive && !slices.Contains(asked, o.of)
}

func (o machineSigns) ofGenerator(s Setup, g int, m Moment, name string) observedMachine {
	told := readingOf(m.Readings[g].Signs, o.of)
	one := observedMachine{name: name, at: m.timeOf(g, told.At+told.Took/2), clock: told.At + told.Took/2,
		missing: told.Missing}
	if one.missing == "" && len(told.Values) == 0 {
		one.missing = fmt.Sprintf("generator %s doesn't tell of its machine's %s: the software engine does",
			s.generator(g), signs.Kinds[o.of].What)
	}
	one.values, one.spared = o.values(one, told), o.spared(told, m.Readings[g].Asked)
	return one
}

func (o machineSigns) ofDevice(m Moment, name string) observedMachine {
	told := readingOf(m.Device.Signs, o.of)
	one := observedMachine{name: name, at: told.At + told.Took/2 + m.deviceBehind, clock: told.At + told.Took/2,
		missing: cmp.Or(m.Device.Missing, told.Missing)}
	if one.missing == "" && len(told.Values) == 0 {
		one.missing = "the device's node doesn't tell of its " + signs.Kinds[o.of].What
	}
	one.values, one.spared = o.values(one, told), m.Device.Missing == "" && o.spared(told, m.Device.Asked)
	return one
}

func readingOf(readings []signs.Reading, of string) signs.Reading {
	if i := slices.IndexFunc(readings, func(t signs.Reading) bool { return t.Type == of }); i >= 0 {
		return readings[i]
	}
	return signs.Reading{}
}

// values are a machine's series'. Of one that tells nothing there is one of each that every machine has, which says
// why.
func (o machineSigns) values(n observedMachine, told signs.Reading) (values []value) {
	kind := signs.Kinds[o.of]
	if n.missing != "" {
		told.Values = nil
		for _, s := range kind.Series {
			told.Values = append(told.Values, signs.Value{Series: s.Name,
				Part: map[bool]string{true: signs.OfAllProcessors}[s.OfAll]})
		}
	}
	for _, v := range told.Values {
		s, known := kind.Find(v.Series)
		if !known {
			continue // of a newer linerate
		}
		one := value{name: s.Name, part: n.name + cmp.Or(v.Part, "machine"), unit: s.Unit, kind: report.Gauge, at: n.at,
			clock: n.clock, doubt: told.Took / 2, number: v.Number, step: v.Step, source: n.name,
			missing: cmp.Or(n.missing, v.Missing)}
		if s.Counter {
			one.kind = report.Counter
		}
		if v.Missing != "" {
			one.source = strings.Join([]string{n.name, v.Series}, " ") // of this series alone
		}
		values = append(values, one)
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

// Want is what these observers look at. On one machine the generators' readings tell of the device's, too.
func Want(of []plan.Observer, oneMachine bool) *Wanted {
	w := &Wanted{}
	for _, o := range of {
		_, sign := observers[o.Type].(machineSigns)
		switch {
		case o.Type == plan.ObserveInterfaces && o.Of != plan.OfDUT: // told with ports' counters
		case !sign && o.Type != plan.ObserveInterfaces:
		default:
			if oneMachine || o.Of != plan.OfDUT {
				w.generators = appendOnce(w.generators, o.Type)
			}
			if !oneMachine && o.Of != plan.OfGenerator {
				w.device = appendOnce(w.device, o.Type)
			}
		}
	}
	return w
}

// appendOnce is a list that has it, once.
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

func (w *Wanted) due(types []string) (all []string) {
	for _, t := range types {
		if !w.judged.Load() || !signs.Kinds[t].Intrusive {
			all = append(all, t)
		}
	}
	return all
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
