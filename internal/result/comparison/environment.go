package comparison

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// EnvironmentDifferences are the differences between the environments of a baseline's runs and those of a
// candidate's, the parts that matter most first. All runs of both sides must have had the same, so a part in which
// runs of one side differ is a difference, too. A part known of one side only is a difference that is not Known,
// and a part that neither side knows is none. A nil environment is unknown.
func EnvironmentDifferences(baseline, candidate []*report.Environment) []report.EnvironmentDifference {
	old, current := sideOf(baseline), sideOf(candidate)
	var differences []difference
	for _, listed := range [][]trait{old.order, current.order} {
		for _, t := range listed {
			if !slices.ContainsFunc(differences, func(d difference) bool { return d.trait.key() == t.key() }) {
				differences = append(differences, difference{t, old.text(t), current.text(t)})
			}
		}
	}
	differences = slices.DeleteFunc(differences, func(d difference) bool {
		values := old.values[d.trait.key()]
		return d.baseline == d.candidate && len(values) <= 1 || d.baseline == "" && !old.contains(d.trait) ||
			d.candidate == "" && !current.contains(d.trait)
	})
	slices.SortStableFunc(differences, func(a, b difference) int { return a.trait.rank() - b.trait.rank() })
	return mergePlaces(differences)
}

// trait is one property of an environment, such as the NIC driver of generator-0's port on west.
type trait struct {
	part      report.EnvironmentPart
	name      string // "NIC driver"
	generator string // empty where it is of no single one
	link      string
	place     string // what follows "of" in a sentence, or empty where there is only one such thing
	value     string
}

func (t trait) key() [3]string { return [3]string{t.name, t.generator, t.link} }

// rank orders parts by what matters most.
func (t trait) rank() int {
	return slices.Index(append(report.PartsToAllow(), report.PartHypervisor, report.PartKernel, report.PartTuning,
		report.PartCores, report.PartLinerate, report.PartImage), t.part)
}

// device is the trait's generator where the trait is the device's machine's.
const device = "\x00device"

// traits are all properties of an environment, in a fixed order. An unknown one has no value.
func traits(e *report.Environment) (list []trait) {
	several := len(e.Generators) > 1
	for _, g := range e.Generators {
		add := func(part report.EnvironmentPart, name, value string) {
			t := trait{part: part, name: name, generator: g.Name, value: value}
			if several || part == report.PartNode || part == report.PartProcessor || part == report.PartKernel ||
				part == report.PartTuning || part == report.PartHypervisor || part == report.PartImage {
				t.place = g.Name
			}
			list = append(list, t)
		}
		add(report.PartGenerator, "generator", strings.TrimSpace(g.Product+" "+g.Version))
		addMachineTraits(g.Machine, add)
		add(report.PartCores, "number of cores that send", number(g.Cores))
		if images := report.Builds(g.Images); images != "" {
			add(report.PartImage, "image", images)
		}
		for _, p := range g.Ports {
			for _, t := range []trait{
				{part: report.PartPath, name: "path of frames", value: p.Path}, {part: report.PartNIC, name: "NIC",
					value: p.NIC},
				{part: report.PartNIC, name: "NIC firmware", value: p.Firmware},
				{part: report.PartDriver, name: "NIC driver", value: p.Driver},
				{part: report.PartGenerator, name: "congestion control", value: p.CongestionControl},
			} {
				t.generator, t.link, t.place = g.Name, p.Link, p.Link
				if several {
					t.place = g.Name + "'s " + p.Link
				}
				list = append(list, t)
			}
		}
	}
	if e.Device != nil {
		addMachineTraits(*e.Device, func(part report.EnvironmentPart, name, value string) {
			list = append(list, trait{part: part, name: name, generator: device, place: "the device", value: value})
		})
	}
	return append(list, trait{part: report.PartLinerate, name: "version of linerate", value: e.Linerate})
}

// addMachineTraits passes on the properties of a machine.
func addMachineTraits(m report.Machine, add func(part report.EnvironmentPart, name, value string)) {
	add(report.PartNode, "node", m.Node)
	add(report.PartProcessor, "CPU", m.CPUModel)
	add(report.PartProcessor, "number of processors", number(m.Processors))
	add(report.PartHypervisor, "hypervisor", m.Hypervisor)
	add(report.PartKernel, "kernel", m.Kernel)
	add(report.PartTuning, "set-up of the machine", m.Tuning)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// side is what is known of the environments of one side's runs.
type side struct {
	order    []trait
	values   map[[3]string][]string // that are known, each once
	recorded bool
}

func sideOf(environments []*report.Environment) side {
	s := side{values: map[[3]string][]string{}}
	for _, e := range environments {
		if e == nil {
			continue
		}
		s.recorded = true
		for _, t := range traits(e) {
			k := t.key()
			if _, found := s.values[k]; !found {
				s.order = append(s.order, t)
				s.values[k] = nil
			}
			if t.value != "" && !slices.Contains(s.values[k], t.value) {
				s.values[k] = append(s.values[k], t.value)
			}
		}
	}
	return s
}

// text is a trait's values on this side, in alphabetical order, as runs have no order. It is empty where they are
// unknown.
func (s side) text(t trait) string {
	return strings.Join(slices.Sorted(slices.Values(s.values[t.key()])), " or ")
}

// contains says whether the side has this part at all, known or not. A different number of generators is a
// difference of the Plans. A side without any known environment may have any part.
func (s side) contains(t trait) bool {
	_, ok := s.values[t.key()]
	return ok || !s.recorded
}

type difference struct {
	trait               trait
	baseline, candidate string
}

// mergePlaces merges differences that are the same in several places, and names the places.
func mergePlaces(differences []difference) (merged []report.EnvironmentDifference) {
	for len(differences) > 0 {
		first := differences[0]
		alike := func(d difference) bool {
			return d.trait.part == first.trait.part && d.trait.name == first.trait.name &&
				d.baseline == first.baseline && d.candidate == first.candidate
		}
		var places []string
		for _, d := range differences {
			if alike(d) && d.trait.place != "" {
				places = append(places, d.trait.place)
			}
		}
		name := first.trait.name
		if len(places) > 0 {
			name += " of " + listText(places)
		}
		merged = append(merged, report.EnvironmentDifference{Part: first.trait.part, What: name, Was: first.baseline,
			Is: first.candidate})
		differences = slices.DeleteFunc(differences, alike)
	}
	return merged
}

// listText is "west, north and east".
func listText(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// NotAllowed are the differences for which no change is claimed, as they need to be allowed, and are not.
func NotAllowed(differences []report.EnvironmentDifference,
	allowed []report.EnvironmentPart) (refused []report.EnvironmentDifference) {
	for _, d := range differences {
		if d.Known() && d.Part.NeedsLeave() && !slices.Contains(allowed, d.Part) {
			refused = append(refused, d)
		}
	}
	return refused
}

// SeveralEnvironments says that runs with a common median were measured in several environments, in parts that need
// to be allowed. It is empty where they were not.
func SeveralEnvironments(runs []*report.Environment) string {
	differences := NotAllowed(EnvironmentDifferences(runs, runs), nil)
	var words []string
	for _, d := range differences[:min(len(differences), mostApart)] {
		words = append(words, d.What+" was "+d.Was)
	}
	if len(words) == 0 {
		return ""
	}
	return "its runs were measured in several environments: " + strings.Join(words, "; ")
}

// mostApart is how many differences a sentence names.
const mostApart = 4

// EnvironmentText has the differences in one sentence, those known on both sides first. It is empty where there are
// none.
func EnvironmentText(differences []report.EnvironmentDifference) string {
	var named []report.EnvironmentDifference
	var wasUnknown, isUnknown []string
	for _, d := range differences {
		switch {
		case d.Known():
			named = append(named, d)
		case d.Was == "":
			wasUnknown = append(wasUnknown, d.What)
		default:
			isUnknown = append(isUnknown, d.What)
		}
	}
	var words []string
	if len(named) > 0 {
		words = append(words, "of the environment, "+differencesText(named))
	}
	for _, unknown := range []struct {
		owner string
		names []string
	}{{"the baseline's runs", wasUnknown}, {"these runs", isUnknown}} {
		if n := len(unknown.names); n > mostApart {
			words = append(words, fmt.Sprintf("of the environment of %s %s and %d more are unknown", unknown.owner,
				strings.Join(unknown.names[:mostApart], ", "), n-mostApart))
		} else if n > 0 {
			words = append(words, fmt.Sprintf("of the environment of %s unknown: %s", unknown.owner,
				strings.Join(unknown.names, ", ")))
		}
	}
	return strings.Join(words, "; ")
}

// differencesText has the first of the differences in words.
func differencesText(differences []report.EnvironmentDifference) string {
	var words []string
	for _, d := range differences[:min(len(differences), mostApart)] {
		words = append(words, d.String())
	}
	if n := len(differences) - mostApart; n > 0 {
		words = append(words, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(words, "; ")
}

// Refusal says for which differences no change is claimed, and the way out. It is empty where all that need to be
// allowed are.
func Refusal(differences []report.EnvironmentDifference, allowed []report.EnvironmentPart) string {
	differences = NotAllowed(differences, allowed)
	if len(differences) == 0 {
		return ""
	}
	var parts []string
	for _, d := range differences {
		if part := string(d.Part); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return fmt.Sprintf("measured in another environment, so it is unknown whether the device changed: %s; measure both sides in the same one, or allow it: "+
		"allowedDifferences: [%s], on the command line --allow-different %s", differencesText(differences),
		strings.Join(parts, ", "), strings.Join(parts, ","))
}
