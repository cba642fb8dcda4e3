package manifests_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/launch"
	"github.com/linerate-dev/linerate/internal/units"
)

// strictly decodes a document as its reader's own type.
func strictly[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

func TestTheForwarderReadsItsSpec(t *testing.T) {
	input := sample(t, "loadtest_software_reference")
	got := strictly[forwarder.Spec](t, manifests.Links(input).Data["forwarder.json"])
	mac := map[string]forwarder.MAC{}
	for _, l := range manifests.LinksOfPod(attached(manifests.Generators(input)[0], 0)) {
		var m forwarder.MAC
		if err := m.UnmarshalText([]byte(l.MACAddress)); err != nil {
			t.Fatal(err)
		}
		mac[l.Link] = m
	}
	want := forwarder.Spec{
		Forwarding: plan.L3,
		Links: []forwarder.Link{
			{Interface: "west", Addresses: prefix("198.18.0.1/24"),
				Generator: []netip.Addr{netip.MustParseAddr("198.18.0.2")}, GeneratorMAC: mac["west"],
				Networks: prefix("16.0.0.0/24")},
			{Interface: "east", Addresses: prefix("198.18.1.1/24"),
				Generator: []netip.Addr{netip.MustParseAddr("198.18.1.2")}, GeneratorMAC: mac["east"],
				Networks: prefix("48.0.0.0/24")},
		},
		Directions: []forwarder.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Limit:      &plan.Limit{PacketsPerSecond: 10_000, Burst: plan.Duration(10_000_000)},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func prefix(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }

func TestTheForwarderOfManyGeneratorsKnowsEachNetworksHop(t *testing.T) {
	input := withReplicas(t, sample(t, "loadtest_software_reference"), 3, "")
	west := strictly[forwarder.Spec](t, manifests.Links(input).Data["forwarder.json"]).Links[0]
	if len(west.Generator) != 3 || len(west.Networks) != 3 || west.GeneratorMAC != nil {
		t.Fatalf("%+v", west)
	}
	for i, g := range input.Compiled.Plan.Generators {
		if p, _ := g.PortOn("west"); p.Addresses[0].Addr() != west.Generator[i] || p.Networks[0] != west.Networks[i] {
			t.Errorf("network %s behind %s, want %s behind %s", west.Networks[i], west.Generator[i], p.Networks[0],
				p.Addresses[0])
		}
	}
}

func TestTheLauncherReadsItsLinks(t *testing.T) {
	input := sample(t, "loadtest_trex_intel_pod")
	got, err := launch.ParseLinks([]byte(manifests.Links(input).Data["trex-links.json"]))
	if err != nil {
		t.Fatal(err)
	}
	want := []launch.Link{
		{Name: "west", Network: "bench/sriov-west", Resource: "intel.com/sriov_west", LineRate: 25_000_000_000},
		{Name: "east", Network: "bench/sriov-east", Resource: "intel.com/sriov_east", LineRate: 25_000_000_000},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	t.Run("and the extra configuration, as YAML", func(t *testing.T) {
		input := sample(t, "loadtest_generator_pod")
		var extra map[string]any
		if err := yaml.Unmarshal([]byte(manifests.Links(input).Data["trex-config.yaml"]), &extra); err != nil ||
			extra["rx_desc"] != float64(4096) {
			t.Errorf("%v, %v", extra, err)
		}
	})
}

// TestEveryFileThatAPodReadsIsThere looks into the ConfigMap that its volume names.
func TestEveryFileThatAPodReadsIsThere(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		maps := map[string]*corev1.ConfigMap{}
		for _, o := range everything(t, input) {
			if c, ok := o.(*corev1.ConfigMap); ok {
				maps[c.Name] = c
			}
		}
		for _, o := range everything(t, input) {
			spec, _ := podSpec(o)
			if spec == nil {
				continue
			}
			for _, v := range spec.Volumes {
				if v.ConfigMap == nil || !strings.HasPrefix(v.ConfigMap.Name, input.Test.Name) {
					continue
				}
				for _, item := range v.ConfigMap.Items {
					if maps[v.ConfigMap.Name].Data[item.Key] == "" {
						t.Errorf("%s: no %s in %s", o.GetName(), item.Key, v.ConfigMap.Name)
					}
				}
			}
			for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
				for _, m := range c.VolumeMounts {
					if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
						t.Errorf("%s/%s: no volume %s", o.GetName(), c.Name, m.Name)
					}
				}
			}
		}
	})
}

func TestRunCarriesThePlanOfItsAttempt(t *testing.T) {
	input := sample(t, "loadtest_trex_loopback")
	input.Attempt = 3
	sites, err := manifests.SitesOf(input, running(input))
	if err != nil {
		t.Fatal(err)
	}
	run, err := manifests.Run(input, sites)
	if err != nil {
		t.Fatal(err)
	}
	p, got, err := delivery.DecodePlan(run[0].(*corev1.ConfigMap).BinaryData)
	if err != nil {
		t.Fatal(err)
	}
	if p.Test.Attempt != 3 || input.Compiled.Plan.Test.Attempt != 1 {
		t.Errorf("the runner's Plan is of attempt %d, the compiled one of %d", p.Test.Attempt,
			input.Compiled.Plan.Test.Attempt)
	}
	if diff := cmp.Diff(sites, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRunRefusesWhatCantTravel(t *testing.T) {
	input := sample(t, "loadtest_trex_loopback")
	if _, err := manifests.Run(input, plan.Sites{}); err == nil ||
		!strings.HasPrefix(err.Error(), "plan of bench/trex-calibration: ") {
		t.Error(err)
	}
}

// TestTheEngineReadsItsSpeeds, in its own notation.
func TestTheEngineReadsItsSpeeds(t *testing.T) {
	for name, c := range map[string]struct {
		west, east units.BitRate
		want       string
	}{
		"one for all":                       {1_000_000_000, 1_000_000_000, "1gbps"},
		"one for each":                      {1_000_000_000, 2_500_000_000, "1gbps,2.5gbps"},
		"the engine's own where none known": {0, 0, "10gbps"},
		"and beside one that is":            {0, 1_000_000_000, "10gbps,1gbps"},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, "loadtest_software_reference")
			input.Compiled.Plan.Links[0].LineRate, input.Compiled.Plan.Links[1].LineRate = c.west, c.east
			command := manifests.Generators(input)[0].Spec.Containers[0].Command
			got := command[slices.Index(command, "--speed")+1]
			if got != c.want {
				t.Errorf("--speed %s, want %s", got, c.want)
			}
			for speed := range strings.SplitSeq(got, ",") {
				if _, err := units.ParseBitRate(speed); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestAPodSendsByThePathThatTheTestSays(t *testing.T) {
	command := manifests.Generators(sample(t, "software-path"))[0].Spec.Containers[0].Command
	if i := slices.Index(command, "--path"); i < 0 || command[i+1] != "af_xdp" ||
		command[slices.Index(command, "--cores")+1] != "2" {
		t.Errorf("%q, want --path af_xdp and --cores 2", command)
	}
	if command := manifests.Generators(sample(t,
		"loadtest_software_reference"))[0].Spec.Containers[0].Command; slices.Contains(command, "--path") {
		t.Errorf("%q: nobody asked for a path", command)
	}
}
