package compile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// clusterSamples are those that need a cluster.
func clusterSamples(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, file := range examples(t, "samples") {
		if strings.HasPrefix(filepath.Base(file), "loadtest_") {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatal("no samples for a cluster")
	}
	return files
}

func TestSamplesAreTakenByACluster(t *testing.T) {
	server := newServer(t)
	for _, file := range clusterSamples(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			objects, err := server.LoadFile(nil, file)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				cluster, errs := compile.ForCluster(o.LoadTest)
				if err := o.Faults(errs); err != nil {
					t.Fatal(err)
				}
				want := len(o.LoadTest.Spec.Links)
				if m := cluster.Plan.DUT.Mode(); m != nil && m.Tunnel != nil {
					want++ // the cable between its gateways
				}
				if len(cluster.Networks) != want {
					t.Errorf("%d links, networks %v", len(o.LoadTest.Spec.Links), cluster.Networks)
				}
			}
		})
	}
}

const vpp = "type: Pod, pod: {template: {spec: {containers: [{name: agent, image: a}, {name: vpp, image: v}]}}}"

func TestNetworksOfLinks(t *testing.T) {
	const external = "  generator: {engine: TRex, placement: {servers: [{address: trex.lab}]}}\n"
	for _, c := range []struct{ name, spec, want string }{
		{"both ends are pods", "  dut: {type: Reference}\n  links: [{name: a, lineRate: 1gbps, network: x}, {name: " +
			"b, lineRate: 1gbps, network: far/w}]\n", "a lab/x=lab/x, b far/w=far/w"},
		{"the device's end has its own", "  dut: {" + vpp +
			"}\n  links: [{name: a, lineRate: 1gbps, network: x, dut: {network: z}}, {name: b, lineRate: 1gbps, " +
			"network: w, dut: {network: other/z}}]\n", "a lab/x=lab/z, b lab/w=other/z"},
		{"a device that is no pod", "  dut: {type: Device}\n  links: [{name: a, network: x}, {name: b, network: x}]\n",
			"a lab/x=/, b lab/x=/"},
		{"no device", "  dut: {type: Loopback}\n  links: [{name: a, lineRate: 1gbps, network: x}, {name: b, " +
			"lineRate: 1gbps, network: x}]\n", "a lab/x=/, b lab/x=/"},
		{"generators that are no pods", "  dut: {" + vpp + "}\n" + external +
			"  links: [{name: a, network: x}, {name: b, dut: {network: w}}]\n", "a /=lab/x, b /=lab/w"},
		{"no pods at all", "  dut: {type: Device}\n" + external + "  links: [{name: a, network: x}, {name: b}]\n",
			"a /=/, b /=/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range clusterOf(t, c.spec).Networks {
				got = append(got, fmt.Sprintf("%s %s=%s", l.Link, l.Generator, l.DUT))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

func TestTheContainerThatForwards(t *testing.T) {
	for container, want := range map[string]int{"": 0, "agent": 0, "vpp": 1} {
		spec := strings.Replace(vpp, "pod: {", "pod: {container: \""+container+"\", ", 1)
		if container == "" {
			spec = vpp
		}
		if got := clusterOf(t, "  dut: {"+spec+"}\n"+networked(2)); got.DUTContainer != want ||
			len(got.DUT.Spec.Containers) != 2 {
			t.Errorf("container %q is number %d, want %d", container, got.DUTContainer, want)
		}
	}
}

func TestLinksWhosePortsMustKnowTheirSpeed(t *testing.T) {
	const device = "  dut: {type: Device}\n  links: [{name: a, network: x, lineRate: 1gbps}, {name: b, network: x}]\n"
	for _, c := range []struct {
		name, spec string
		want       []string
	}{
		{"a target in percent", device, []string{"b"}},
		{"a warm-up in percent", device + "  procedure: {ramp: {targetRate: 10kpps, warmupRate: 1%}}\n", []string{"b"}},
		{"a criterion in percent", device + "  procedure: {ramp: {targetRate: 10kpps}}\n  criteria: [{name: a, " +
			"metric: LineRatePercent, min: 9%}]\n", []string{"b"}},
		{"a curve in percent", device + "  procedure: {type: FrameLoss}\n", []string{"b"}},
		{"a constant load in packets", device + "  procedure: {type: ConstantLoad, constantLoad: {rate: 10kpps}}\n",
			nil},
		{"nothing in percent", device + "  procedure: {ramp: {targetRate: 10kpps}}\n", nil},
		{"a line rate everywhere", networked(2), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := clusterOf(t, c.spec).SpeedOf; !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHooksAndAffinityAreRead(t *testing.T) {
	got := clusterOf(t, "  dut: {type: Device, setup: {template: {spec: {hostNetwork: true, containers: [{name: s, "+
		"image: i}]}}}, teardown: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: t, image: "+
		"i}]}}}}\n"+
		"  generator: {engine: Software, pod: {affinity: {podAntiAffinity: {}}}}\n"+networked(2))
	if got.Setup == nil || !got.Setup.Spec.HostNetwork || got.Setup.Spec.Containers[0].Name != "s" {
		t.Errorf("setup is %+v", got.Setup)
	}
	if got.Teardown == nil || got.Teardown.Labels["a"] != "b" {
		t.Errorf("teardown is %+v", got.Teardown)
	}
	if got.Affinity == nil || got.Affinity.PodAntiAffinity == nil || got.DUT != nil {
		t.Errorf("affinity %+v, DUT %+v", got.Affinity, got.DUT)
	}
	t.Run("where there are any", func(t *testing.T) {
		if got := clusterOf(t, networked(2)); got.Setup != nil || got.Teardown != nil || got.Affinity != nil ||
			got.DUT != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestNetworksOfTheUsersOwn(t *testing.T) {
	for _, c := range []struct{ name, annotation, refused string }{
		{"none", "", ""},
		{"a name", "management", ""},
		{"names with namespaces and interfaces", "lab/management@mgmt, storage", ""},
		{"JSON", `[{"name": "management", "interface": "mgmt"}, {"name": "storage"}]`, ""},
		{"JSON with what only Multus knows", `[{"name": "m", "ips": ["10.0.0.1/24"], "default-route": ["10.0.0.254"]}]`,
			""},
		{"a link's interface", "lab/management@l1", "interface l1 is link l1"},
		{"a link's interface in JSON", `[{"name": "m", "interface": "l0"}]`, "interface l0 is link l0"},
		{"JSON that isn't", `[{"name": }]`, "it can't be read which networks it asks Multus for"},
		{"no list", `{"name": "m"}`, "it can't be read which networks it asks Multus for"},
		{"no name", `[{"interface": "mgmt"}]`, "entry 0: it has no name"},
		{"an interface by its old name", `[{"name": "m", "interfaceRequest": "l0"}]`, "interfaceRequest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := admit(t, newServer(t), "  dut: {"+vpp+"}\n"+networked(2))
			test.Spec.DUT.Pod.Template = freeform(t,
				`{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": %q}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}`, c.annotation)
			_, errs := compile.ForCluster(test)
			if len(errs) > 0 != (c.refused != "") || c.refused != "" && !strings.Contains(errs.ToAggregate().Error(),
				c.refused) {
				t.Errorf("got %v, want …%s…", errs, c.refused)
			}
		})
	}
}

// What was looked at is what Multus reads: its decoder, Go's own, takes members of any case, and of two the last.
func TestNetworksThatMultusCouldReadOtherwise(t *testing.T) {
	for name, annotation := range map[string]string{
		"two cases, the foreign one first":   `[{"name": "west", "namespace": "other", "Namespace": "lab"}]`,
		"two cases, the foreign one last":    `[{"name": "west", "namespace": "lab", "Namespace": "other"}]`,
		"another case alone":                 `[{"name": "west", "NAMESPACE": "other"}]`,
		"a letter that is folded to another": `[{"name": "west", "name\u017fpace": "other"}]`,
		"the same member twice":              `[{"name": "west", "namespace": "other", "namespace": "lab"}]`,
		"the name twice":                     `[{"name": "west", "namespace": "lab", "Name": "other"}]`,
		"a list behind the list":             `[{"name": "west"}] [{"name": "west", "namespace": "other"}]`,
		"a path in place of a name":          `[{"name": "../other/west"}]`,
		"a namespace in the name":            `[{"name": "other/west"}]`,
		"a namespace that is none":           `[{"name": "west", "namespace": "lab/../other"}]`,
		"an interface with a network behind": `west@mgmt/other`,
		"members within a member, twice":     `[{"name": "west", "bandwidth": {"ingressRate": 1, "IngressRate": 2}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if attachments, err := compile.ReadAttachments(annotation, "lab"); err == nil {
				t.Errorf("read as %+v", attachments)
			}
		})
	}
}

// What is written says what was read, to Multus' decoder as to ours.
func FuzzAttachments(f *testing.F) {
	for _, annotation := range []string{`[{"name": "m", "interface": "mgmt", "ips": ["10.0.0.1/24"], "cni-args": {"A": [1, 2.5]}}]`, "lab/m@mgmt, other", `[{"name":"a","Name":"b"}]`, "[]", " ", "m@mgmt\x95"} {
		f.Add(annotation)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		attachments, err := compile.ReadAttachments(annotation, "lab")
		if err != nil || len(attachments) == 0 {
			return
		}
		for i, a := range attachments {
			if a.Name == "" || a.Namespace == "" {
				t.Errorf("entry %d has no place: %+v", i, a)
			}
		}
		var loose []compile.Attachment // as Multus decodes
		if err := json.Unmarshal([]byte(compile.WriteAttachments(attachments)), &loose); err != nil {
			t.Fatal(err)
		}
		for i, a := range loose {
			if a.Name != attachments[i].Name || a.Namespace != attachments[i].Namespace ||
				a.Interface != attachments[i].Interface {
				t.Errorf("%q: looked at %+v, and Multus attaches %+v", annotation, attachments[i], a)
			}
		}
		if reread, err := compile.ReadAttachments(compile.WriteAttachments(attachments), "elsewhere"); err != nil ||
			len(reread) != len(attachments) {
			t.Errorf("%q is written as what can't be read: %v", annotation, err)
		}
	})
}

// The hooks' pods are made of their templates as they are: there, too, stands what was read.
func TestTemplatesCarryTheNetworksThatWereRead(t *testing.T) {
	const annotated = `{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": %q}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}`
	test := admit(t, newServer(t), "  dut: {type: Device, setup: {template: {spec: {containers: [{name: s, image: "+
		"i}]}}}, teardown: {template: {spec: {containers: [{name: s, image: i}]}}}}\n"+networked(2))
	test.Namespace = "bench"
	test.Spec.DUT.Setup.Template = freeform(t, annotated, " m , far/n@mgmt")
	test.Spec.DUT.Teardown.Template = freeform(t, annotated, "")
	cluster, errs := compile.ForCluster(test)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := `[{"name":"m","namespace":"bench"},{"name":"n","namespace":"far","interface":"mgmt"}]`
	if got := cluster.Setup.Annotations["k8s.v1.cni.cncf.io/networks"]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, found := cluster.Teardown.Annotations["k8s.v1.cni.cncf.io/networks"]; found {
		t.Errorf("there is an annotation that asks for nothing: %q", got)
	}
}

func freeform(t *testing.T, format string, args ...any) v1alpha1.Freeform {
	t.Helper()
	var form v1alpha1.Freeform
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &form); err != nil {
		t.Fatal(err)
	}
	return form
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	test := admit(t, newServer(t), "  activeDeadline: 1m\n  generator: {engine: Software, memory: 1Mi, pod: "+
		"{affinity: {x: y}}}\n"+
		"  dut: {type: Pod, setup: {template: {spec: {colour: blue}}}, pod: {template: {spec: {hostNetwork: true, "+
		"nodeName: a}}}}\n"+links)
	_, errs := compile.ForCluster(test)
	var got []string
	for _, e := range errs {
		got = append(got, e.Field)
	}
	want := []string{
		"spec.activeDeadline", "spec.generator.pod.affinity.x", "spec.links[0].network", "spec.links[1].network",
		"spec.generator.memory",
		"spec.dut.pod.template.spec.containers", "spec.dut.pod.template.spec.hostNetwork",
		"spec.dut.pod.template.spec.nodeName", "spec.dut.setup.template.spec.colour",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestForClusterIsPure(t *testing.T) {
	server := newServer(t)
	for _, file := range clusterSamples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := server.Load(file, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		test := objects[0].LoadTest
		original := test.DeepCopy()
		first, _ := compile.ForCluster(test)
		second, _ := compile.ForCluster(test)
		if !reflect.DeepEqual(test, original) {
			t.Errorf("%s: the LoadTest was changed", file)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s: the same LoadTest was read in two ways", file)
		}
	}
}

// Whatever a template holds, it is read, or refused in fields under its own; and what is read holds to the rules.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`{"metadata": {"labels": {"a": "b"}, "annotations": {"k8s.v1.cni.cncf.io/networks": "a@b,c"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}`,
		`{"spec": {"containers": [{"name": "a", "image": "b", "resources": {"limits": {"cpu": "x"}}}], "hostNetwork": true}}`,
		`{"spec": {"containers": [{"name": "a", "volumeMounts": [{"mountPath": "/etc/linerate"}]}], "activeDeadlineSeconds": 1.5}}`,
		`[]`, `null`, `{"spec": null}`, `{"spec": {"containers": {}}}`, `{"metadata": {"creationTimestamp": "x"}}`,
	} {
		f.Add([]byte(seed))
	}
	test := &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{
		Generator: v1alpha1.GeneratorSpec{Engine: v1alpha1.EngineSoftware, Replicas: 1},
		DUT:       v1alpha1.DUTSpec{Type: v1alpha1.DUTPod},
		Links: []v1alpha1.LinkSpec{{Name: "a", LineRate: "1gbps", Network: "x"}, {Name: "b", LineRate: "1gbps",
			Network: "y"}},
		Traffic: v1alpha1.TrafficSpec{Profile: v1alpha1.ProfileIMIX},
		Procedure: v1alpha1.ProcedureSpec{Type: v1alpha1.ProcedureRamp, MaxLossRatio: "0%",
			Ramp: v1alpha1.RampSpec{WarmupRate: "1pps", TargetRate: "100%", Precision: "1%", RampDuration: "10s",
				StepDuration: "1s"}},
	}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		test := test.DeepCopy()
		test.Spec.DUT.Pod = &v1alpha1.DUTPodSpec{}
		if json.Unmarshal(raw, &test.Spec.DUT.Pod.Template) != nil {
			return // no API server stores what is no mapping
		}
		cluster, errs := compile.ForCluster(test)
		for _, e := range errs {
			if !strings.HasPrefix(e.Field, "spec.dut.pod.template") {
				t.Errorf("%v", e)
			}
		}
		if (cluster == nil) == (len(errs) == 0) {
			t.Fatalf("%v with %v", cluster, errs)
		}
		if cluster != nil && (cluster.DUT.Spec.HostNetwork || len(cluster.DUT.Spec.Containers) == 0 ||
			cluster.DUT.Name != "") {
			t.Errorf("was taken: %+v", cluster.DUT)
		}
	})
}
