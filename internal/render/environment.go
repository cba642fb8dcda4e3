package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// environmentFacts are what another run must have had, too, for its figures to be compared with these: generators and their machines, ports, the device's machine.
// What several have in common is said once. A Report of an older linerate has none.
func environmentFacts(r *report.Report) []fact {
	e := r.Environment
	if e == nil {
		return nil
	}
	var all, ports []fact
	for _, g := range e.Generators {
		words := generatorWords(g)
		if m := machineWords(g.Machine); m != "" {
			words = append(words, "on "+m)
		}
		all = append(all, fact{Term: g.Name, Text: strings.Join(words, " ")})
		for _, p := range g.Ports {
			if text := portWords(p); text != "" {
				ports = append(ports, fact{Term: p.Link, Text: text})
			}
		}
	}
	all = merged("", all)
	all = append(all, merged("port on ", ports)...)
	if e.Device != nil {
		all = append(all, fact{Term: "device's machine", Text: machineWords(*e.Device)})
	}
	return append(all, imageFacts(e)...)
}

// generatorWords are a generator in words: "TRex v3.06", "with 4 cores".
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

// machineWords are a machine in words; empty: nothing is known.
func machineWords(m report.Machine) string {
	var words []string
	say := func(before, word string) {
		if word != "" {
			words = append(words, before+word)
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

// portWords are a port in words; empty: nothing is known.
func portWords(p report.PortEnvironment) string {
	var words []string
	for _, of := range [][2]string{{"NIC ", p.NIC}, {"firmware ", p.Firmware}, {"driver ", p.Driver}, {"", p.Path}, {"receive drops ", p.ReceiveDrops}, {"congestion control ", p.CongestionControl}} {
		if of[1] != "" {
			words = append(words, of[0]+of[1])
		}
	}
	return strings.Join(words, ", ")
}

// merged are facts of which those that say the same are one, of all that they are about.
func merged(before string, facts []fact) (out []fact) {
	for _, f := range facts {
		i := slices.IndexFunc(out, func(o fact) bool { return o.Text == f.Text })
		switch {
		case i < 0:
			out = append(out, fact{Term: before + f.Term, Text: f.Text, Exact: f.Exact})
		case !slices.Contains(strings.Split(strings.TrimPrefix(out[i].Term, before), ", "), f.Term):
			out[i].Term += ", " + f.Term
		}
	}
	return out
}

// imageFacts are the images of generators; the device's are shown as what was measured.
func imageFacts(e *report.Environment) []fact {
	var images []fact
	for _, g := range e.Generators {
		for _, c := range g.Images {
			images = append(images, fact{Term: g.Name, Text: c.Short(), Exact: c.String()})
		}
	}
	return merged("image of ", images)
}
