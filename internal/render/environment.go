package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// environmentFacts are what another run must have had, too, for its figures to be compared with these, such as
// generators and their machines, ports, and the device's machine. A fact that several have in common is said once.
// A run that reached no generator has none.
func environmentFacts(r *report.Report) []fact {
	e := r.Environment
	if e == nil {
		return nil
	}
	var facts, ports []fact
	for _, g := range e.Generators {
		words := generatorWords(g)
		if m := machineWords(g.Machine); m != "" {
			words = append(words, "on "+m)
		}
		facts = append(facts, fact{Term: g.Name, Text: strings.Join(words, " ")})
		for _, p := range g.Ports {
			if text := portWords(p); text != "" {
				ports = append(ports, fact{Term: p.Link, Text: text})
			}
		}
	}
	facts = merged("", facts)
	facts = append(facts, merged("port on ", ports)...)
	if e.Device != nil {
		facts = append(facts, fact{Term: "device's machine", Text: machineWords(*e.Device)})
	}
	return append(facts, imageFacts(e)...)
}

// generatorWords are a generator in words, such as "TRex v3.06" or "with 4 cores".
func generatorWords(g report.GeneratorEnvironment) (words []string) {
	for _, word := range []string{g.Product, g.Version} {
		if word != "" {
			words = append(words, word)
		}
	}
	if g.Cores > 0 {
		words = append(words, "with "+wording.Counted(g.Cores, "core"))
	}
	return words
}

// machineWords are a machine in words, or empty where nothing is known.
func machineWords(m report.Machine) string {
	var words []string
	say := func(prefix, word string) {
		if word != "" {
			words = append(words, prefix+word)
		}
	}
	say("", m.Node)
	say("", m.CPUModel)
	if m.Processors > 0 {
		words = append(words, strconv.Itoa(m.Processors)+" "+wording.Verb(m.Processors, "processor", "processors"))
	}
	say("kernel ", m.Kernel)
	if m.Hypervisor == "none" {
		words = append(words, "bare metal")
	} else {
		say("hypervisor ", m.Hypervisor)
	}
	say("on processors ", m.Allowed)
	say("", m.Tuning)
	return strings.Join(words, ", ")
}

// portWords are a port in words, or empty where nothing is known.
func portWords(p report.PortEnvironment) string {
	var words []string
	for _, part := range [][2]string{{"NIC ", p.NIC}, {"firmware ", p.Firmware}, {"driver ", p.Driver}, {"", p.Path},
		{"receive drops ", p.ReceiveDrops}, {"congestion control ", p.CongestionControl}} {
		if part[1] != "" {
			words = append(words, part[0]+part[1])
		}
	}
	return strings.Join(words, ", ")
}

// merged are facts of which those that say the same are one, of all that they are about.
func merged(prefix string, facts []fact) (merged []fact) {
	for _, f := range facts {
		i := slices.IndexFunc(merged, func(o fact) bool { return o.Text == f.Text })
		switch {
		case i < 0:
			merged = append(merged, fact{Term: prefix + f.Term, Text: f.Text, Exact: f.Exact})
		case !slices.Contains(strings.Split(strings.TrimPrefix(merged[i].Term, prefix), ", "), f.Term):
			merged[i].Term += ", " + f.Term
		}
	}
	return merged
}

// imageFacts are the images of generators. The device's images are shown as what was measured.
func imageFacts(e *report.Environment) []fact {
	var images []fact
	for _, g := range e.Generators {
		for _, c := range g.Images {
			images = append(images, fact{Term: g.Name, Text: c.Short(), Exact: c.String()})
		}
	}
	return merged("image of ", images)
}
