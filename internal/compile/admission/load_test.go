package admission_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

const (
	head    = "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\n"
	minimal = head + "metadata: {name: x}\nspec:\n  dut: {type: Reference}\n  links: [{name: west, lineRate: 1gbps}, " +
		"{name: east, lineRate: 1gbps}]\n"
)

func newServer(tb testing.TB) *admission.Server {
	tb.Helper()
	server, err := admission.NewServer()
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

func faultsOf(t *testing.T, err error) admission.Faults {
	t.Helper()
	faults, ok := errors.AsType[admission.Faults](err)
	if !ok {
		t.Fatalf("got %v (%T), want admission.Faults", err, err)
	}
	return faults
}

func TestAShortFileGetsAllDefaults(t *testing.T) {
	objects, err := newServer(t).Load("x.yaml", strings.NewReader(minimal))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	spec := objects[0].LoadTest.Spec
	for _, c := range []struct{ field, got, want string }{
		{"generator.engine", string(spec.Generator.Engine), "Software"},
		{"generator.replicas", fmt.Sprint(spec.Generator.Replicas), "1"},
		{"dut.type", string(spec.DUT.Type), "Reference"},
		{"traffic.profile", string(spec.Traffic.Profile), "IMIX"},
		{"procedure.type", string(spec.Procedure.Type), "Ramp"},
		{"procedure.maxLossRatio", string(spec.Procedure.MaxLossRatio), "0.1%"},
		{"ramp.warmupDuration", string(spec.Procedure.Ramp.WarmupDuration), "30s"},
		{"ramp.targetRate", string(spec.Procedure.Ramp.TargetRate), "100%"},
		{"ramp.refineTo", string(spec.Procedure.Ramp.Precision), "0.5%"},
		{"ramp.confirmDuration", string(spec.Procedure.Ramp.ConfirmDuration), "10s"},
		{"ramp.holdDuration", string(spec.Procedure.Ramp.HoldDuration), "30s"},
		{"activeDeadline", string(spec.ActiveDeadline), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.field, c.got, c.want)
		}
	}
}

func TestAProcedureGetsTheDefaultsOfItsTypeAlone(t *testing.T) {
	two := int32(2)
	for text, want := range map[string]v1alpha1.ProcedureSpec{
		"{type: ConstantLoad, constantLoad: {}}": {Type: "ConstantLoad", MaxLossRatio: "0.1%",
			ConstantLoad: v1alpha1.ConstantLoadSpec{WarmupDuration: "5s"}},
		"{type: FrameLoss, frameLoss: {}}": {Type: "FrameLoss", MaxLossRatio: "0.1%",
			FrameLoss: v1alpha1.FrameLossSpec{MaxRate: "100%", WarmupDuration: "5s", TrialDuration: "60s", CleanTrials: &two}},
		"{type: MaximumOfferedLoad, maximumOfferedLoad: {}}": {Type: "MaximumOfferedLoad", MaxLossRatio: "0.1%",
			MaximumOfferedLoad: v1alpha1.MaximumOfferedLoadSpec{Rate: "100%", WarmupDuration: "5s",
				TrialDuration: "60s", Trials: 1}},
		"{type: FrameLoss}": {Type: "FrameLoss", MaxLossRatio: "0.1%"},
	} {
		objects, err := newServer(t).Load("x.yaml", strings.NewReader(minimal+"  procedure: "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := objects[0].LoadTest.Spec.Procedure; !reflect.DeepEqual(got, want) {
			t.Errorf("%s becomes %+v, want %+v", text, got, want)
		}
	}
}

func TestAValueThatIsGivenIsNotReplacedByItsDefault(t *testing.T) {
	objects, err := newServer(t).Load("x.yaml", strings.NewReader(minimal+"  procedure: {ramp: {holdDuration: 0s}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := objects[0].LoadTest.Spec.Procedure.Ramp; got.HoldDuration != "0s" || got.WarmupDuration != "30s" {
		t.Errorf("holdDuration %q, warmupDuration %q", got.HoldDuration, got.WarmupDuration)
	}
}

func TestMetadata(t *testing.T) {
	spec := minimal[strings.Index(minimal, "spec:"):]
	t.Run("generateName makes a name that is the same each time", func(t *testing.T) {
		objects, err := newServer(t).Load("x.yaml", strings.NewReader(head+"metadata: {generateName: nightly-}\n"+spec))
		if err != nil || objects[0].LoadTest.Name != "nightly-local" {
			t.Fatalf("%v, %v", objects, err)
		}
	})
	t.Run("an object as kubectl prints it can be run again", func(t *testing.T) {
		_, err := newServer(t).Load("x.yaml", strings.NewReader(head+
			"metadata: {name: x, namespace: lab, uid: 1-2, resourceVersion: '7', generation: 1, creationTimestamp: "+
			"'2026-01-02T03:04:05Z'}\n"+
			spec+"status: {observedGeneration: 1, summary: anything}\n"))
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a namespace is kept, and none is made up", func(t *testing.T) {
		objects, err := newServer(t).Load("x.yaml", strings.NewReader(minimal))
		if err != nil || objects[0].LoadTest.Namespace != "" {
			t.Fatalf("%v, %v", objects, err)
		}
	})
}

func TestFaults(t *testing.T) {
	second := minimal + "---\n" + strings.Replace(minimal, "name: x", "name: y", 1)
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "x.yaml: there is nothing in it"},
		{"a file of comments", "# nothing\n---\n# at all\n", "x.yaml: there is nothing in it"},
		{"broken YAML names its line", head + "metadata: {name: x\nspec: {}\n", "x.yaml:"},
		{"a tab as indentation", head + "spec:\n\tlinks: []\n",
			"x.yaml:4: not YAML: found character that cannot start any token"},
		{"a list instead of an object", "- a\n- b\n", "x.yaml:1: a LoadTest is a mapping"},
		{"a key twice, in the second document", second + "  activeDeadline: 1h\n  activeDeadline: 1h\n",
			`x.yaml:15 (document 2): key "activeDeadline" appears twice: remove one`},
		{"an unknown field, in the second document", second + "  trafic: {}\n",
			"x.yaml:14 (document 2): spec.trafic is not a field of LoadTest: did you mean traffic?"},
		{"a field in the wrong place", minimal + "  targetRate: 1kpps\n",
			"spec.targetRate is not a field of LoadTest: did you mean spec.procedure.ramp.targetRate?"},
		{"a field that resembles none", minimal + "  colour: blue\n",
			"here can be activeDeadline, baseline, criteria, dut, generator, links, observers, podRetention, procedure, " +
				"reportRetention, schedulingDeadline, sharedPort, stop, suspend, traffic, ttlAfterFinished"},
		{"an unknown field of the metadata", strings.Replace(minimal, "{name: x}", "{name: x, lables: {}}", 1),
			"x.yaml:3: metadata.lables is not a field"},
		{"metadata of the wrong type", strings.Replace(minimal, "{name: x}", "{name: [x]}", 1),
			"x.yaml:3: metadata.name is no text: such as {name: router"},
		{"a list for metadata", strings.Replace(minimal, "{name: x}", "[x]", 1),
			"x.yaml:3: metadata is no mapping: such as {name: router"},
		{"a label's value with spaces", strings.Replace(minimal, "{name: x}",
			"{name: x, labels: {team: a, linerate.dev/product: VPP 25.06}}", 1),
			`x.yaml:3: metadata.labels[linerate.dev/product] is "VPP 25.06": a label's value has at most 63 letters, digits, dashes, underscores and dots`},
		{"a label's name with spaces", strings.Replace(minimal, "{name: x}", "{name: x, labels: {my team: a}}", 1),
			`x.yaml:3: metadata.labels[my team] is "a": a label's name`},
		{"a field of another part, of several such", minimal +
			"  traffic: {directions: [{from: west, to: east, warmupDuration: 5s}]}\n",
			"spec.traffic.directions[0].warmupDuration is not a field of LoadTest: here can be from, rate"},
		{"a field of which there is one", minimal + "  traffic: {maxLossRatio: 1%}\n",
			"spec.traffic.maxLossRatio is not a field of LoadTest: did you mean spec.procedure.maxLossRatio?"},
		{"a label that YAML reads as a number", strings.Replace(minimal, "{name: x}",
			"{name: x, labels: {build: 1e3, on: yes}}", 1),
			`x.yaml:3: metadata.labels[build] is 1000: YAML reads 1e3 as a number, and only text can stand here: write it in quotes, "1e3"`},
		{"a label that YAML reads as true", strings.Replace(minimal, "{name: x}",
			"{name: x, labels: {linerate.dev/product: on}}", 1),
			`metadata.labels[linerate.dev/product] is true: YAML reads on as true or false, and only text can stand here: write it in quotes, "on"`},
		{"a merge key behind others", strings.Replace(minimal, "{name: x}", "{name: x, <<: &m {name: y}}", 1),
			"x.yaml:3: a merge key (<<) stands behind other keys, which it may replace: write it first"},
		{"a misspelt kind of linerate's", minimal + "---\n" + strings.Replace(minimal, "LoadTest", "LoadTset", 1),
			`kind is "LoadTset": only LoadTest`},
		{"another kind", strings.Replace(minimal, "LoadTest", "Pod", 1),
			`x.yaml:2: kind is "Pod": only LoadTest or LoadTestSuite is understood here`},
		{"an empty List", "apiVersion: v1\nkind: List\nitems: []\n",
			"x.yaml:3: the List has no items: write LoadTests there"},
		{"a List of words", "apiVersion: v1\nkind: List\nitems:\n- router\n",
			`x.yaml:4: items[0] is "router": an item is a whole object, such as a LoadTest`},
		{"a fault in a List in a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  " +
			"items:\n  - {apiVersion: linerate.dev/v1alpha1, kind: LoadTest, metadata: {name: x}, spec: {trafic: " +
			"{}}}\n", "x.yaml:7: spec.trafic is not a field of LoadTest: did you mean traffic?"},
		{"two of one name", minimal + "---\n" + minimal,
			`x.yaml:10 (document 2): metadata.name is "x", as in document 1`},
		{"a null where a default is", minimal + "  procedure: {ramp: {targetRate: 5}}\n",
			`spec.procedure.ramp.targetRate is "5": write a rate`},
		{"a value of another case", minimal + "  traffic: {profile: imix}\n", "did you mean IMIX?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newServer(t).Load("x.yaml", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant …%s…", err, c.want)
			}
		})
	}
}

// TestWordsThatYAMLReadsAsNumbersOrTruth are told with the quotes that mend them, wherever text has to stand,
// and beside all else that is wrong.
func TestWordsThatYAMLReadsAsNumbersOrTruth(t *testing.T) {
	text := head + `metadata:
  name: 1e3
  annotations: {a: 0x1f}
spec:
  dut: {type: Device}
  links:
  - {name: no, lineRate: 1gbps}
  - {name: y, lineRate: fast, network: 1_2}
  procedure: {maxLossRatio: 0.001, ramp: {rampDuration: 60}}
`
	want := []string{
		`4: metadata.name is 1000: YAML reads 1e3 as a number, and only text can stand here: write it in quotes, "1e3"`,
		`5: metadata.annotations[a] is 31: YAML reads 0x1f as a number, and only text can stand here: write it in quotes, "0x1f"`,
		`9: spec.links[0].name is false: YAML reads no as true or false, and only text can stand here: write it in quotes, "no"`,
		`10: spec.links[1].lineRate is "fast": write a line rate in bits per second, such as 100mbps, 1gbps or 25gbps`,
		`10: spec.links[1].name is true: YAML reads y as true or false, and only text can stand here: write it in quotes, "y"`,
		`10: spec.links[1].network is "1_2": `,
		`11: spec.procedure.ramp.rampDuration is "60": write a duration with its unit, such as 500ms, 30s, 10m or 1h30m`,
		`11: spec.procedure.maxLossRatio is "0.001": a share has a percent sign: write 0.1%`,
	}
	_, err := newServer(t).Load("x.yaml", strings.NewReader(text))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), "x.yaml:"+w) {
			t.Errorf("there is no %s", w)
		}
	}
	if got := len(faultsOf(t, err)); got != len(want) {
		t.Errorf("%d faults, want %d:\n%v", got, len(want), err)
	}
}

func TestAllFaultsAreNamedAtOnceInTheOrderOfTheFile(t *testing.T) {
	text := head + `metadata: {name: x}
spec:
  dut: {type: Reference}
  links:
  - {name: west, lineRate: fast}
  - {name: east, lineRate: 1gbps, vlan: 5000}
  traffic: {frameSize: 64}
  procedure:
    ramp: {holdDuration: 5 minutes}
  deadline: 5m
`
	_, err := newServer(t).Load("x.yaml", strings.NewReader(text))
	var lines []int
	for _, f := range faultsOf(t, err) {
		lines = append(lines, f.Line)
	}
	if got, want := fmt.Sprint(lines), "[7 8 9 11 12]"; got != want {
		t.Errorf("lines %s, want %s:\n%v", got, want, err)
	}
}

func TestGoodDocumentsAreReturnedBesideBadOnes(t *testing.T) {
	objects, err := newServer(t).Load("x.yaml", strings.NewReader(minimal+"---\n"+head+
		"metadata: {name: bad}\nspec: {dut: {type: Reference}}\n"))
	if len(objects) != 1 || objects[0].LoadTest.Name != "x" || objects[0].Document != 1 {
		t.Errorf("objects %v", objects)
	}
	if faults := faultsOf(t, err); len(faults) != 1 || faults[0].Field != "spec.links" || faults[0].Document != 2 {
		t.Errorf("faults %v", faults)
	}
}

func TestReadingFails(t *testing.T) {
	t.Run("a reader's error is passed on with the file's name", func(t *testing.T) {
		_, err := newServer(t).Load("x.yaml", iotest.ErrReader(io.ErrUnexpectedEOF))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "x.yaml: ") {
			t.Error(err)
		}
	})
	t.Run("an endless file is refused", func(t *testing.T) {
		_, err := newServer(t).Load("x.yaml", endless{})
		if err == nil || !strings.Contains(err.Error(), "larger than 3 MiB") {
			t.Error(err)
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestAServerCanBeUsedByManyAtOnce(t *testing.T) {
	server := newServer(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := server.Load("x.yaml", strings.NewReader(minimal)); err != nil {
				t.Error(err)
			}
			if _, err := server.Load("x.yaml", strings.NewReader(head)); err == nil {
				t.Error("an object without spec was taken")
			}
		})
	}
	group.Wait()
}

func FuzzLoad(f *testing.F) {
	server := newServer(f)
	f.Add(minimal)
	f.Add(minimal + "---\n" + minimal)
	f.Add(head + "metadata: {generateName: a}\nspec: &a {links: [*a]}\n")
	f.Add("? [a]\n: {b: !!binary x}\n---\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := server.Load("x.yaml", strings.NewReader(text))
		if len(objects) == 0 && err == nil {
			t.Error("neither an object nor an error")
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}

// TestAListIsUnpacked: as kubectl get writes it, with what a server added; what else is in a file is named and left.
func TestAListIsUnpacked(t *testing.T) {
	item := strings.ReplaceAll(strings.TrimSpace(minimal), "\n", "\n  ")
	item = strings.Replace(item, "{name: x}",
		"{name: x, namespace: lab, uid: u, resourceVersion: \"7\", generation: 1, creationTimestamp: "+
			"\"2026-11-20T08:00:00Z\"}", 1)
	list := "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n- " + item +
		"\n  status: {attempt: 1}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: routes}}\n"
	objects, err := newServer(t).Load("x.yaml",
		strings.NewReader(list+"---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: "+
			"{name: west}\n"))
	if err != nil || len(objects) != 1 || objects[0].LoadTest.Name != "x" {
		t.Fatalf("%v, %v", objects, err)
	}
	if want := []string{"ConfigMap routes", "NetworkAttachmentDefinition west"}; !slices.Equal(objects[0].OtherObjects,
		want) {
		t.Errorf("%q beside, want %q", objects[0].OtherObjects, want)
	}
	wrong := strings.Replace(list, "  status:", "  trafic: {}\n  status:", 1)
	if _, err := newServer(t).Load("x.yaml", strings.NewReader(wrong)); err == nil ||
		!strings.Contains(err.Error(), "x.yaml:"+strconv.Itoa(strings.Count(wrong[:strings.Index(wrong, "trafic")],
			"\n")+1)+": trafic is not a field of LoadTest") {
		t.Errorf("a fault in an item: %v", err)
	}
}

// Valid YAML, which kubectl takes; what is written itself stays.
func TestKeysThatAreMergedIn(t *testing.T) {
	text := strings.Replace(minimal, "{name: x}", "{<<: &m {name: y, namespace: lab}, name: x}", 1)
	objects, err := newServer(t).Load("x.yaml", strings.NewReader(text))
	if err != nil || objects[0].LoadTest.Name != "x" || objects[0].LoadTest.Namespace != "lab" {
		t.Errorf("%v", err)
	}
}
