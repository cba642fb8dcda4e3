package comparison

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// lab is an environment of one generator with two ports; changes make another one of it.
func lab(changes ...func(*report.Environment)) *report.Environment {
	e := &report.Environment{Linerate: "linerate v0.2.0", Generators: []report.GeneratorEnvironment{generator("generator-0", "west", "east")}}
	for _, change := range changes {
		change(e)
	}
	return e
}

func generator(name string, links ...string) report.GeneratorEnvironment {
	g := report.GeneratorEnvironment{Name: name, Product: "TRex", Version: "v3.06", Cores: 4,
		Machine: report.Machine{Node: "node-1", CPUModel: "AMD EPYC 7313", Processors: 32, Kernel: "6.1.0-18", Hypervisor: "none"}}
	for _, link := range links {
		g.Ports = append(g.Ports, report.PortEnvironment{Link: link, NIC: "8086:1593", Firmware: "4.20", Driver: "net_ice", Path: "DPDK"})
	}
	return g
}

func first(change func(*report.GeneratorEnvironment)) func(*report.Environment) {
	return func(e *report.Environment) { change(&e.Generators[0]) }
}

func ports(change func(*report.PortEnvironment)) func(*report.Environment) {
	return first(func(g *report.GeneratorEnvironment) {
		for i := range g.Ports {
			change(&g.Ports[i])
		}
	})
}

func TestWhatDiffersBetweenTwoEnvironmentsIsNamedWithBothValues(t *testing.T) {
	for name, c := range map[string]struct {
		is   *report.Environment
		want string // part: difference; …
	}{
		"nothing":       {lab(), ""},
		"the generator": {lab(first(func(g *report.GeneratorEnvironment) { g.Product, g.Version = "linerate software engine", "" })), "Generator: generator: TRex v3.06, then linerate software engine"},
		"its version":   {lab(first(func(g *report.GeneratorEnvironment) { g.Version = "v3.08" })), "Generator: generator: TRex v3.06, then TRex v3.08"},
		"how it sends":  {lab(ports(func(p *report.PortEnvironment) { p.Path = "AF_PACKET" })), "Path: path of frames of west and east: DPDK, then AF_PACKET"},
		"a card":        {lab(first(func(g *report.GeneratorEnvironment) { g.Ports[1].NIC = "15b3:1017" })), "NIC: NIC of east: 8086:1593, then 15b3:1017"},
		"firmware":      {lab(ports(func(p *report.PortEnvironment) { p.Firmware = "4.30" })), "NIC: NIC firmware of west and east: 4.20, then 4.30"},
		"a driver":      {lab(first(func(g *report.GeneratorEnvironment) { g.Ports[0].Driver = "net_iavf" })), "Driver: NIC driver of west: net_ice, then net_iavf"},
		"the node":      {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Node = "node-2" })), "Node: node of generator-0: node-1, then node-2"},
		"the CPU":       {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.CPUModel = "Xeon" })), "Processor: CPU of generator-0: AMD EPYC 7313, then Xeon"},
		"fewer CPUs":    {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Processors = 16 })), "Processor: number of processors of generator-0: 32, then 16"},
		"a hypervisor":  {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Hypervisor = "QEMU" })), "Hypervisor: hypervisor of generator-0: none, then QEMU"},
		"the kernel":    {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Kernel = "6.1.0-20" })), "Kernel: kernel of generator-0: 6.1.0-18, then 6.1.0-20"},
		"its cores":     {lab(first(func(g *report.GeneratorEnvironment) { g.Cores = 8 })), "Cores: number of cores that send: 4, then 8"},
		"its image, of which the baseline knows nothing": {lab(first(func(g *report.GeneratorEnvironment) {
			g.Images = []plan.Container{{Name: "trex", Image: "lab/trex:3.06", ImageID: "lab/trex@sha256:aa"}}
		})), ""},
		"linerate": {lab(func(e *report.Environment) { e.Linerate = "linerate v0.3.0" }), "Linerate: version of linerate: linerate v0.2.0, then linerate v0.3.0"},
		"what matters most comes first": {lab(func(e *report.Environment) { e.Linerate = "linerate v0.3.0" }, first(func(g *report.GeneratorEnvironment) {
			g.Machine.Kernel, g.Machine.Node, g.Ports[0].Driver = "6.12", "node-2", "net_iavf"
		})), "Driver: NIC driver of west: net_ice, then net_iavf; Node: node of generator-0: node-1, then node-2; Kernel: kernel of generator-0: 6.1.0-18, then 6.12; " +
			"Linerate: version of linerate: linerate v0.2.0, then linerate v0.3.0"},
		"another number of generators is another plan": {lab(func(e *report.Environment) {
			e.Generators = append(e.Generators, generator("generator-1", "west", "east"))
		}), ""},
		"a kernel that nobody asked for": {lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Kernel = "" })), "Kernel: kernel of generator-0: 6.1.0-18, then not known"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words(EnvironmentDifferences([]*report.Environment{lab()}, []*report.Environment{c.is})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func words(apart []report.EnvironmentDifference) string {
	var all []string
	for _, d := range apart {
		all = append(all, string(d.Part)+": "+d.String())
	}
	return strings.Join(all, "; ")
}

func TestTheDevicesMachineIsPartOfTheEnvironment(t *testing.T) {
	on := func(node string) *report.Environment {
		return lab(func(e *report.Environment) { e.Device = &report.Machine{Node: node} })
	}
	if got, want := words(EnvironmentDifferences([]*report.Environment{on("node-2")}, []*report.Environment{on("node-3")})), "Node: node of the device: node-2, then node-3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := words(EnvironmentDifferences([]*report.Environment{lab()}, []*report.Environment{on("node-3")})); got != "" {
		t.Errorf("of a device whose machine was never told: %s", got)
	}
}

func TestSeveralGeneratorsAreNamed(t *testing.T) {
	two := func(driver string) *report.Environment {
		e := &report.Environment{Generators: []report.GeneratorEnvironment{generator("generator-0", "west"), generator("generator-1", "west")}}
		e.Generators[1].Ports[0].Driver = driver
		return e
	}
	if got, want := words(EnvironmentDifferences([]*report.Environment{two("net_ice")}, []*report.Environment{two("net_iavf")})), "Driver: NIC driver of generator-1's west: net_ice, then net_iavf"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAllRunsOfBothSidesMustHaveHadTheSame(t *testing.T) {
	on := func(nodes ...string) (all []*report.Environment) {
		for _, node := range nodes {
			all = append(all, lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Node = node })))
		}
		return all
	}
	for name, c := range map[string]struct {
		was, is []*report.Environment
		want    string
	}{
		"all on one node":                       {on("a", "a", "a"), on("a", "a"), ""},
		"one of them on another":                {on("a", "a", "b"), on("a", "a"), "Node: node of generator-0: a or b, then a"},
		"both sides on both nodes":              {on("b", "a"), on("a", "b"), "Node: node of generator-0: a or b on either side"},
		"one run that nobody knows the node of": {on("a", ""), on("a", "a"), ""},
	} {
		if got := words(EnvironmentDifferences(c.was, c.is)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRunsOfSeveralEnvironmentsAreToldApart(t *testing.T) {
	on := func(node, kernel string) *report.Environment {
		return lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Node, g.Machine.Kernel = node, kernel }))
	}
	for name, c := range map[string]struct {
		runs []*report.Environment
		want string
	}{
		"one":           {[]*report.Environment{on("a", "6.1"), on("a", "6.1")}, ""},
		"two kernels":   {[]*report.Environment{on("a", "6.1"), on("a", "6.2")}, ""},
		"two nodes":     {[]*report.Environment{on("b", "6.1"), on("a", "6.1"), nil}, "its runs were measured in several environments: node of generator-0 was a or b"},
		"none is known": {[]*report.Environment{nil, nil}, ""},
	} {
		if got := SeveralEnvironments(c.runs); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatNeitherSideKnowsIsNoDifference(t *testing.T) {
	for name, c := range map[string][2][]*report.Environment{
		"no environments at all": {{nil, nil}, {nil}},
		"empty ones":             {{{}}, {{}}},
		"no runs":                {nil, nil},
	} {
		if got := EnvironmentDifferences(c[0], c[1]); len(got) > 0 {
			t.Errorf("%s: %s", name, words(got))
		}
	}
}

func TestWhatOneSideKnowsAloneIsToldAndForbidsNothing(t *testing.T) {
	apart := EnvironmentDifferences([]*report.Environment{nil}, []*report.Environment{lab()})
	if refusal := Refusal(apart, nil); refusal != "" {
		t.Errorf("refused: %s", refusal)
	}
	want := "of the environment of the baseline's runs generator, path of frames of west and east, NIC of west and east, NIC firmware of west and east and 8 more are unknown"
	if got := EnvironmentText(apart); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	apart = EnvironmentDifferences([]*report.Environment{lab()}, []*report.Environment{lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Kernel, g.Cores = "", 8 }))})
	if got, want := EnvironmentText(apart), "of the environment, number of cores that send: 4, then 8; of the environment of these runs unknown: kernel of generator-0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAClaimAcrossEnvironmentsNeedsLeave(t *testing.T) {
	other := lab(first(func(g *report.GeneratorEnvironment) { g.Machine.Node, g.Machine.Kernel = "node-2", "6.12" }), ports(func(p *report.PortEnvironment) { p.Driver = "net_iavf" }))
	apart := EnvironmentDifferences([]*report.Environment{lab()}, []*report.Environment{other})
	for name, c := range map[string]struct {
		allowed []report.EnvironmentPart
		want    string
	}{
		"nothing is allowed": {nil, "measured in another environment, so it is unknown whether the device changed: NIC driver of west and east: net_ice, then net_iavf; " +
			"node of generator-0: node-1, then node-2; measure both sides in the same one, or allow it: allowedDifferences: [Driver, Node], on the command line --allow-different Driver,Node"},
		"one of two is": {[]report.EnvironmentPart{report.PartDriver}, "measured in another environment, so it is unknown whether the device changed: node of generator-0: node-1, then node-2; " +
			"measure both sides in the same one, or allow it: allowedDifferences: [Node], on the command line --allow-different Node"},
		"both are": {[]report.EnvironmentPart{report.PartNode, report.PartDriver}, ""},
	} {
		if got := Refusal(apart, c.allowed); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	if got, want := EnvironmentText(apart), "of the environment, NIC driver of west and east: net_ice, then net_iavf; node of generator-0: node-1, then node-2; kernel of generator-0: 6.1.0-18, then 6.12"; got != want {
		t.Errorf("what is allowed is told:\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyWhatMovesFiguresByItselfNeedsLeave(t *testing.T) {
	for _, part := range []report.EnvironmentPart{report.PartHypervisor, report.PartKernel, report.PartCores, report.PartLinerate} {
		if part.NeedsLeave() {
			t.Errorf("%s", part)
		}
	}
	for _, part := range report.PartsToAllow() {
		if !part.NeedsLeave() {
			t.Errorf("%s", part)
		}
	}
}

// The images of generators are told by their digests, from whichever registry they came, and stop no claim.
func TestImagesAreTold(t *testing.T) {
	with := func(repository, digest string) *report.Environment {
		e := lab()
		e.Generators[0].Images = []plan.Container{{Name: "trex", Image: repository + ":3.06", ImageID: repository + "@sha256:" + digest}}
		return e
	}
	if apart := EnvironmentDifferences([]*report.Environment{with("lab/trex", "aa")}, []*report.Environment{with("mirror/trex", "aa")}); len(apart) > 0 {
		t.Errorf("the same images differ: %v", apart)
	}
	apart := EnvironmentDifferences([]*report.Environment{with("lab/trex", "aa")}, []*report.Environment{with("lab/trex", "bb")})
	if got := EnvironmentText(apart); got != "of the environment, image of generator-0: sha256:aa, then sha256:bb" {
		t.Errorf("%q", got)
	}
	if refusal := Refusal(apart, nil); refusal != "" {
		t.Error(refusal)
	}
}
