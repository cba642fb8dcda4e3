package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// onNodes is an environment with a generator and a device on these nodes. An empty one isn't known.
func onNodes(generator, device string) *report.Environment {
	e := &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0",
		Machine: report.Machine{Node: generator}}}}
	if device != "" {
		e.Device = &report.Machine{Node: device}
	}
	return e
}

// earlierOn is an earlier suite without axes, whose runs were on a node, with these rates.
func earlierOn(node string, rates ...int64) *Reference {
	cell := ReferenceCell{}
	for i, rate := range rates {
		r := figureOf(fmt.Sprintf("nightly-test-r%d", i+1), rate)
		r.Started = time.Date(2026, 3, 1, 0, i, 0, 0, time.UTC)
		r.Environment = onNodes(node, "")
		cell.Runs = append(cell.Runs, analysis.KeptReport{Report: r, Digest: fmt.Sprintf("sha256:%d", i)})
	}
	return &Reference{Kind: KindSuite, Name: "nightly", Cells: []ReferenceCell{cell}}
}

func TestNodesAreWrittenIntoALoadTest(t *testing.T) {
	known := Nodes{"generator-0": "gen-1", deviceRole: "dut-1"}
	for name, c := range map[string]struct{ spec, want string }{
		"of the default generator": {`dut: {type: Reference}`,
			`{dut: {type: Reference, node: dut-1}, generator: {engine: Software, placement: {nodes: {generator-0: gen-1}}}}`},
		"beside what it says": {`{dut: {type: Pod}, generator: {engine: TRex, placement: {separateNodes: true}}}`,
			`{dut: {type: Pod, node: dut-1}, generator: {engine: TRex, placement: {separateNodes: true, nodes: {generator-0: gen-1}}}}`},
		"but for nodes that it names itself": {
			`{dut: {type: Pod, node: a}, generator: {engine: Software, placement: {nodes: {generator-0: b}}}}`,
			`{dut: {type: Pod, node: a}, generator: {engine: Software, placement: {nodes: {generator-0: b}}}}`},
		"by a label, too": {
			`{dut: {type: Reference, node: a}, generator: {engine: Software, pod: {nodeSelector: {kubernetes.io/hostname: b}}}}`,
			`{dut: {type: Reference, node: a}, generator: {engine: Software, pod: {nodeSelector: {kubernetes.io/hostname: b}}}}`},
		"not of a device that is no pod": {`dut: {type: Device}`,
			`{dut: {type: Device}, generator: {engine: Software, placement: {nodes: {generator-0: gen-1}}}}`},
		"nor of servers that run already": {
			`{dut: {type: Device}, generator: {engine: TRex, placement: {servers: [{address: a}]}}}`,
			`{dut: {type: Device}, generator: {engine: TRex, placement: {servers: [{address: a}]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			spec, before := specOf(t, c.spec), specOf(t, c.spec)
			shared := map[string]any{}
			for k, v := range spec {
				shared[k] = v
			}
			known.place(shared)
			if diff := cmp.Diff(specOf(t, c.want), shared); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(before, spec); diff != "" {
				t.Errorf("what others share was written to:\n%s", diff)
			}
		})
	}
}

// specOf is a LoadTest's spec.
func specOf(t *testing.T, text string) map[string]any {
	t.Helper()
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	m := Expand(written(t, "template: {spec: "+text+"}"))
	spec, err := m.spec(&m.Cells[0])
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestWhichCellsRunOnTheSameNodes(t *testing.T) {
	const axes = "template: {spec: {}}\naxes:\n- {name: image, values: [{name: main}, {name: new}]}\n" +
		"- {name: frames, values: [{name: imix}, {name: 64b}]}\n"
	for name, c := range map[string]struct {
		spec string
		want []int // main-imix, main-64b, new-imix, new-64b, with calibrations before
	}{
		"any where nothing is compared": {"", nil},
		"those that are compared":       {"baseline: {axis: image, value: main}\n", []int{0, 1, 0, 1}},
		"each with an earlier suite's":  {"baseline: {suite: nightly}\n", []int{0, 1, 2, 3}},
		"not where nodes may differ":    {"baseline: {axis: image, value: main, allowedDifferences: [Node]}\n", nil},
		"but where that is asked for":   {"baseline: {axis: image, value: main, allowedDifferences: [Node]}\nplacement: {sameNodes: true}\n", []int{0, 1, 0, 1}},
		"nor where it isn't":            {"baseline: {axis: image, value: main}\nplacement: {sameNodes: false}\n", nil},
		"all where no cell is another's": {"placement: {sameNodes: true}\n",
			[]int{0, 0, 0, 0}},
		"those of a calibration, too": {"baseline: {suite: nightly}\ncalibration: {}\n", []int{3, 3, 3, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			m := Expand(written(t, axes+c.spec))
			if same := slices.EqualFunc(m.comparisonOf, c.want, func(a, b int) bool { return true }); !same {
				t.Fatalf("cells are of the comparisons %v, want %v", m.comparisonOf, c.want)
			}
			for i := range c.want { // numbers are but names
				for k := range i {
					if (m.comparisonOf[i] == m.comparisonOf[k]) != (c.want[i] == c.want[k]) {
						t.Fatalf("cells are of the comparisons %v, want %v", m.comparisonOf, c.want)
					}
				}
			}
		})
	}
}

// The first run with figures shows the nodes. Until then its comparison has one test at a time, and afterwards all
// others of the comparison run there, whatever the operator remembers.
func TestTestsOfAComparisonFollowItsFirstRun(t *testing.T) {
	const spec = "template: {spec: {dut: {type: Reference}}}\nrepetitions: 3\nparallelism: 8\norder: Interleaved\naxes:\n" +
		"- {name: image, values: [{name: main}, {name: new}]}\n- {name: frames, values: [{name: imix}, {name: 64b}]}\n" +
		"baseline: {axis: image, value: main}\n"
	for seed := range uint64(4) {
		w := newWorld(t, spec)
		w.forgets = seed%2 == 0
		w.ends = func(test string) string { // the first run of all has no figures, and shows no nodes
			if test == "night-main-imix-r1" {
				return v1alpha1.ReasonGeneratorLost
			}
			return ""
		}
		chosen := map[string]string{}
		w.environment = func(test string, placed Nodes) *report.Environment {
			if len(placed) > 0 {
				return onNodes(placed["generator-0"], placed[deviceRole])
			}
			if chosen[test] == "" {
				chosen[test] = fmt.Sprint(len(chosen))
			}
			return onNodes("gen-"+chosen[test], "dut-"+chosen[test])
		}
		w.pass()
		if want := []string{"night-main-imix-r1", "night-main-64b-r1"}; !slices.Equal(w.created, want) {
			t.Fatalf("made at first are %q, want %q", w.created, want)
		}
		w.live(newRandom(seed))
		w.want("Complete=True Measured")
		if len(chosen) != 2 || w.parallel < 3 {
			t.Errorf("seed %d: the scheduler chose nodes for %v, want one of each comparison; %d at once", seed, chosen,
				w.parallel)
		}
		nodes := map[string]string{}
		for name, placed := range w.placed {
			frames := strings.Split(name, "-")[2]
			text := placed["generator-0"] + " " + placed[deviceRole]
			if before, ok := nodes[frames]; ok && before != text {
				t.Errorf("seed %d: %s is on %s, others of its comparison on %s", seed, name, text, before)
			}
			nodes[frames] = text
		}
		if len(w.placed) != 10 || nodes["imix"] == nodes["64b"] {
			t.Errorf("seed %d: %d tests were placed, on %v", seed, len(w.placed), nodes)
		}
	}
}

// An earlier suite that is the baseline had the first runs.
func TestTestsFollowAnEarlierSuite(t *testing.T) {
	const spec = "template: {spec: {dut: {type: Reference}}}\nrepetitions: 5\nparallelism: 2\nbaseline: {suite: nightly}\n" +
		"criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]\n"
	w := newWorld(t, spec)
	w.ahead = earlierOn("gen-3", 1_000_000, 1_000_100, 1_000_200, 1_000_300, 1_000_400)
	w.environment = func(_ string, placed Nodes) *report.Environment { return onNodes(placed["generator-0"], "") }
	w.pass()
	w.want("Comparable=True Comparable")
	w.live(newRandom(1))
	for _, name := range w.created {
		if placed := w.placed[name]; placed["generator-0"] != "gen-3" {
			t.Errorf("%s is on %v", name, placed)
		}
	}
}

func TestWhatIsKnownBeforeTheFirstRun(t *testing.T) {
	const steady, wild = "steady", "wild"
	baselines := map[string]*Reference{
		steady: earlierOn("gen-1", 1_000_000, 1_000_100, 1_000_200, 1_000_300, 1_000_400),
		wild:   earlierOn("gen-1", 1_000_000, 1_010_000, 1_030_000, 990_000, 960_000),
	}
	machine := func(node, cpu string) func() *report.Machine {
		return func() *report.Machine { return &report.Machine{Node: node, CPUModel: cpu} }
	}
	for name, c := range map[string]struct {
		spec     string // beside criterion and baseline
		baseline string
		prospect Prospect
		want     []string // words of each sentence
	}{
		"nothing where all is well": {"repetitions: 5", steady, Prospect{}, nil},
		"too few repetitions":       {"repetitions: 3", steady, Prospect{}, []string{"too few runs to tell it from chance, about 5 runs"}},
		"a baseline that spreads":   {"repetitions: 5", wild, Prospect{}, []string{"would decide"}},
		"another machine": {"repetitions: 5", steady, Prospect{LocalMachine: machine("laptop", "")},
			[]string{"node of generator-0: gen-1, then laptop"}},
		"the same machine": {"repetitions: 5", steady, Prospect{LocalMachine: machine("gen-1", "EPYC")}, nil},
		"a node that the spec names": {"repetitions: 5\ntemplate: {spec: {generator: {engine: Software, placement: {nodes: {generator-0: gen-2}}}}}",
			steady, Prospect{}, []string{"node of generator-0: gen-1, then gen-2"}},
		"a node's name in a selector": {"repetitions: 5\ntemplate: {spec: {generator: {engine: Software, pod: {nodeSelector: {kubernetes.io/hostname: gen-2}}}}}",
			steady, Prospect{}, []string{"node of generator-0: gen-1, then gen-2"}},
		"which may differ": {"repetitions: 5\ntemplate: {spec: {generator: {engine: Software, placement: {nodes: {generator-0: gen-2}}}}}\nallowed: [Node]",
			steady, Prospect{}, nil},
		"a node that is gone": {"repetitions: 5", steady, Prospect{NodeFaults: map[string]string{"gen-2": ""}},
			[]string{"tests wait for node gen-1, on which LoadTestSuite nightly ran, which the cluster doesn't have any more"}},
		"one that is cordoned": {"repetitions: 5", steady, Prospect{NodeFaults: map[string]string{"gen-1": "which is cordoned: uncordon it"}},
			[]string{"which is cordoned: uncordon it, or set placement.sameNodes: false"}},
		"a cell that the baseline lacks": {"repetitions: 5\naxes: [{name: frames, values: [{name: imix}]}]", steady, Prospect{},
			[]string{"imix has nothing to be compared with in LoadTestSuite nightly: it has no cell frames imix"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec, allowed, _ := strings.Cut(c.spec, "\nallowed: ")
			if !strings.Contains(spec, "template:") {
				spec += "\ntemplate: {spec: {}}"
			}
			if allowed != "" {
				allowed = ", allowedDifferences: " + allowed
			}
			s := written(t, spec+"\nbaseline: {suite: nightly"+allowed+"}\ncriteria: [{name: no-slower, metric: "+
				"PacketsPerSecond, maxRegression: 2%}]\n")
			ref := baselines[c.baseline]
			v := newSituation(Observed{Suite: s, Matrix: Expand(s), Ahead: ref, Prospect: c.prospect, Runs: Runs{}})
			found := v.hindrances(ref, c.prospect)
			if len(found) != len(c.want) {
				t.Fatalf("it says %+v, want %q", found, c.want)
			}
			for i, h := range found {
				if !strings.Contains(h.sentence, c.want[i]) {
					t.Errorf("it says %q, without %q", h.sentence, c.want[i])
				}
			}
		})
	}
}

// A node that a test waits for is named, with the run that was there.
func TestASuiteSaysThatANodeIsAwaited(t *testing.T) {
	w := newWorld(t, "template: {spec: {dut: {type: Reference}}}\norder: Interleaved\naxes: [{name: image, values: [{name: "+
		"main}, {name: new}]}]\nbaseline: {axis: image, value: main}\n")
	w.environment = func(string, Nodes) *report.Environment { return onNodes("gen-1", "gen-2") }
	w.pass()
	w.end("night-main-r1")
	w.pass()
	test := w.tests["night-new-r1"]
	if test == nil {
		t.Fatalf("made are %q", w.created)
	}
	now := w.suite.CreationTimestamp
	test.Status.Operator.NodeAwaitedTime = &now
	test.Labels = map[string]string{v1alpha1.LabelCell: "new"}
	w.now = w.now.Add(detailEvery)
	if d := w.pass(); !strings.Contains(d.Message, "night-new-r1 waits for the node on which night-main-r1 ran") {
		t.Errorf("it says %q", d.Message)
	}
}
