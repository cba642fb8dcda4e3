package comparison

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// EnvironmentDifferences are what differs between the environments of a baseline's runs and those of a candidate's, the parts that matter most first. All runs of both sides must have had the
// same: a part in which runs of one side differ is a difference, too. What is known of one side only is a difference that is not Known; what neither side knows is none. A nil environment is
// unknown.
func EnvironmentDifferences(baseline, candidate []*report.Environment) []report.EnvironmentDifference {
	was, is := sideOf(baseline), sideOf(candidate)
	var all []difference
	for _, of := range [][]trait{was.order, is.order} {
		for _, t := range of {
			if !slices.ContainsFunc(all, func(d difference) bool { return d.trait.key() == t.key() }) {
				all = append(all, difference{t, was.text(t), is.text(t)})
			}
		}
	}
	all = slices.DeleteFunc(all, func(d difference) bool {
		values := was.values[d.trait.key()]
		return d.was == d.is && len(values) <= 1 || d.was == "" && !was.has(d.trait) || d.is == "" && !is.has(d.trait)
	})
	slices.SortStableFunc(all, func(a, b difference) int { return a.trait.rank() - b.trait.rank() })
	return mergePlaces(all)
}

// trait is one property of an environment: the NIC driver of generator-0's port on west.
type trait struct {
	part      report.EnvironmentPart
	what      string // "NIC driver"
	generator string // empty: of no single one
	link      string
	place     string // what follows "of" in a sentence; empty: there is only one such thing
	value     string
}

func (t trait) key() [3]string { return [3]string{t.what, t.generator, t.link} }

// rank orders parts by what matters most.
func (t trait) rank() int {
	return slices.Index(append(report.PartsToAllow(), report.PartHypervisor, report.PartKernel, report.PartTuning, report.PartCores, report.PartLinerate, report.PartImage), t.part)
}

// device is the trait's generator where the trait is the device's machine's.
const device = "\x00device"

// traits are all properties of an environment, in a fixed order; an unknown one has no value.
func traits(e *report.Environment) (all []trait) {
	several := len(e.Generators) > 1
	for _, g := range e.Generators {
		of := func(part report.EnvironmentPart, what, value string) {
			t := trait{part: part, what: what, generator: g.Name, value: value}
			if several || part == report.PartNode || part == report.PartProcessor || part == report.PartKernel || part == report.PartTuning || part == report.PartHypervisor || part == report.PartImage {
				t.place = g.Name
			}
			all = append(all, t)
		}
		of(report.PartGenerator, "generator", strings.TrimSpace(g.Product+" "+g.Version))
		addMachineTraits(g.Machine, of)
		of(report.PartCores, "number of cores that send", number(g.Cores))
		if images := report.Builds(g.Images); images != "" {
			of(report.PartImage, "image", images)
		}
		for _, p := range g.Ports {
			for _, t := range []trait{
				{part: report.PartPath, what: "path of frames", value: p.Path}, {part: report.PartNIC, what: "NIC", value: p.NIC},
				{part: report.PartNIC, what: "NIC firmware", value: p.Firmware}, {part: report.PartDriver, what: "NIC driver", value: p.Driver},
				{part: report.PartGenerator, what: "congestion control", value: p.CongestionControl},
			} {
				t.generator, t.link, t.place = g.Name, p.Link, p.Link
				if several {
					t.place = g.Name + "'s " + p.Link
				}
				all = append(all, t)
			}
		}
	}
	if e.Device != nil {
		addMachineTraits(*e.Device, func(part report.EnvironmentPart, what, value string) {
			all = append(all, trait{part: part, what: what, generator: device, place: "the device", value: value})
		})
	}
	return append(all, trait{part: report.PartLinerate, what: "version of linerate", value: e.Linerate})
}

// addMachineTraits passes on the properties of a machine.
func addMachineTraits(m report.Machine, of func(part report.EnvironmentPart, what, value string)) {
	of(report.PartNode, "node", m.Node)
	of(report.PartProcessor, "CPU", m.CPUModel)
	of(report.PartProcessor, "number of processors", number(m.Processors))
	of(report.PartHypervisor, "hypervisor", m.Hypervisor)
	of(report.PartKernel, "kernel", m.Kernel)
	of(report.PartTuning, "set-up of the machine", m.Tuning)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// side is what is known of the environments of one side's runs.
type side struct {
	order  []trait
	values map[[3]string][]string // that are known, each once
	known  bool
}

func sideOf(environments []*report.Environment) side {
	s := side{values: map[[3]string][]string{}}
	for _, e := range environments {
		if e == nil {
			continue
		}
		s.known = true
		for _, t := range traits(e) {
			k := t.key()
			if _, seen := s.values[k]; !seen {
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

// text is a trait's values on this side, in alphabetical order, as runs have no order; empty: unknown.
func (s side) text(t trait) string {
	return strings.Join(slices.Sorted(slices.Values(s.values[t.key()])), " or ")
}

// has says whether the side has this part at all, known or not. A different number of generators is a difference of the Plans. A side without any known environment may have any part.
func (s side) has(t trait) bool {
	_, has := s.values[t.key()]
	return has || !s.known
}

type difference struct {
	trait   trait
	was, is string
}

// mergePlaces merges differences that are the same in several places, and names the places.
func mergePlaces(all []difference) (out []report.EnvironmentDifference) {
	for len(all) > 0 {
		first := all[0]
		alike := func(d difference) bool {
			return d.trait.part == first.trait.part && d.trait.what == first.trait.what && d.was == first.was && d.is == first.is
		}
		var places []string
		for _, d := range all {
			if alike(d) && d.trait.place != "" {
				places = append(places, d.trait.place)
			}
		}
		what := first.trait.what
		if len(places) > 0 {
			what += " of " + listText(places)
		}
		out = append(out, report.EnvironmentDifference{Part: first.trait.part, What: what, Was: first.was, Is: first.is})
		all = slices.DeleteFunc(all, alike)
	}
	return out
}

// listText is "west, north and east".
func listText(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// NotAllowed are those of the differences for which no change is claimed: they need to be allowed, and are not.
func NotAllowed(apart []report.EnvironmentDifference, allowed []report.EnvironmentPart) (out []report.EnvironmentDifference) {
	for _, d := range apart {
		if d.Known() && d.Part.NeedsLeave() && !slices.Contains(allowed, d.Part) {
			out = append(out, d)
		}
	}
	return out
}

// SeveralEnvironments says that runs with a common median were measured in several environments, in parts that need to be allowed; empty: they were not.
func SeveralEnvironments(runs []*report.Environment) string {
	apart := NotAllowed(EnvironmentDifferences(runs, runs), nil)
	var words []string
	for _, d := range apart[:min(len(apart), mostApart)] {
		words = append(words, d.What+" was "+d.Was)
	}
	if len(words) == 0 {
		return ""
	}
	return "its runs were measured in several environments: " + strings.Join(words, "; ")
}

// mostApart is how many differences a sentence names.
const mostApart = 4

// EnvironmentText has the differences in one sentence, those known on both sides first; empty: there are none.
func EnvironmentText(apart []report.EnvironmentDifference) string {
	var known []report.EnvironmentDifference
	var wasUnknown, isUnknown []string
	for _, d := range apart {
		switch {
		case d.Known():
			known = append(known, d)
		case d.Was == "":
			wasUnknown = append(wasUnknown, d.What)
		default:
			isUnknown = append(isUnknown, d.What)
		}
	}
	var words []string
	if len(known) > 0 {
		words = append(words, "of the environment, "+differencesText(known))
	}
	for _, unknown := range []struct {
		whose string
		what  []string
	}{{"the baseline's runs", wasUnknown}, {"these runs", isUnknown}} {
		if n := len(unknown.what); n > mostApart {
			words = append(words, fmt.Sprintf("of the environment of %s %s and %d more are unknown", unknown.whose, strings.Join(unknown.what[:mostApart], ", "), n-mostApart))
		} else if n > 0 {
			words = append(words, fmt.Sprintf("of the environment of %s unknown: %s", unknown.whose, strings.Join(unknown.what, ", ")))
		}
	}
	return strings.Join(words, "; ")
}

// differencesText has the first of the differences in words.
func differencesText(apart []report.EnvironmentDifference) string {
	var words []string
	for _, d := range apart[:min(len(apart), mostApart)] {
		words = append(words, d.String())
	}
	if n := len(apart) - mostApart; n > 0 {
		words = append(words, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(words, "; ")
}

// Refusal says for which differences no change is claimed, and the way out; empty: all that need to be allowed are.
func Refusal(apart []report.EnvironmentDifference, allowed []report.EnvironmentPart) string {
	apart = NotAllowed(apart, allowed)
	if len(apart) == 0 {
		return ""
	}
	var parts []string
	for _, d := range apart {
		if part := string(d.Part); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return fmt.Sprintf("measured in another environment, so it is unknown whether the device changed: %s; measure both sides in the same one, or allow it: "+
		"allowDifferent: [%s], on the command line --allow-different %s", differencesText(apart), strings.Join(parts, ", "), strings.Join(parts, ","))
}
