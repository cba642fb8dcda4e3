package compile_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

const links = "  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n"

// admit gives a LoadTest of this spec all its defaults; the device is the Reference, where the spec names none.
func admit(t *testing.T, server *admission.Server, spec string) *v1alpha1.LoadTest {
	t.Helper()
	if !strings.Contains("\n"+spec, "\n  dut: {") {
		spec += "  dut: {type: Reference}\n"
	}
	objects, err := server.Load("x.yaml", strings.NewReader("apiVersion: linerate.dev/v1alpha1\nkind: "+
		"LoadTest\nmetadata: {name: x}\nspec:\n"+spec))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].LoadTest
}

func compiled(t *testing.T, test *v1alpha1.LoadTest) *plan.Plan {
	t.Helper()
	p, errs := compile.Compile(test)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

func TestSharesAreExactForAnyNumberOfReplicas(t *testing.T) {
	server := newServer(t)
	for _, replicas := range []int{1, 2, 3, 7, 16, 64} {
		for _, flows := range []int{64, 254, 1000} {
			p := compiled(t, admit(t, server,
				fmt.Sprintf("  generator: {engine: Software, replicas: %d}\n  traffic: {flows: {count: %d, fields: "+
					"[SourceAddress, SourcePort]}}\n%s", replicas, flows, links)))
			if len(p.Generators) != replicas {
				t.Fatalf("%d generators of %d replicas", len(p.Generators), replicas)
			}
			for port := range 2 {
				sum := int64(0)
				for _, g := range p.Generators {
					if g.Ports[port].ShareOf != int64(flows) || g.Ports[port].Share < 1 {
						t.Errorf("share %d of %d, %d flows", g.Ports[port].Share, g.Ports[port].ShareOf, flows)
					}
					sum += g.Ports[port].Share
				}
				if sum != int64(flows) {
					t.Errorf("%d replicas have %d of %d flows", replicas, sum, flows)
				}
			}
		}
	}
}

// A switch puts tags on and takes them off; a cable doesn't, nor does the Reference's bridge.
func TestADeviceBetweenTrunkAndAccess(t *testing.T) {
	const trunk = "  links: [{name: trunk, lineRate: 1gbps, vlan: 100}, {name: access, lineRate: 1gbps}]\n"
	server := newServer(t)
	p := compiled(t, admit(t, server, "  dut: {type: Device, forwarding: L2}\n"+trunk))
	for i, vlan := range []uint16{100, 0} {
		if port := p.Generators[0].Ports[i]; port.VLAN != vlan ||
			(port.Streams[0].Packet.Binary[12] == 0x81) != (vlan != 0) {
			t.Errorf("%s: VLAN %d, % x", port.Link, port.VLAN, port.Streams[0].Packet.Binary[:16])
		}
	}
	for _, dut := range []string{"{type: Loopback}", "{type: Reference, forwarding: L2}"} {
		if _, errs := compile.Compile(admit(t, server, "  dut: "+dut+"\n"+trunk)); len(errs) == 0 ||
			!strings.Contains(errs[0].Error(), "give both links the same vlan") {
			t.Errorf("%s: %v", dut, errs)
		}
	}
}

// What the file says of the device is what the path is judged by.
func TestSeveralRoutersAndMACs(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  dut: {type: Device, hops: 2, readyDelay: 40s}\n  links: [{name: west, "+
		"lineRate: 1gbps, dut: {sourceMACs: [\"02:AA:00:00:00:01\"]}}, {name: east, lineRate: 1gbps}]\n"))
	if p.DUT.Routers() != 2 || p.DUT.ReadyDelay.Std() != 40*time.Second || !slices.Equal(p.Links[0].DUT.SourceMACs,
		[]string{"02:aa:00:00:00:01"}) {
		t.Errorf("%+v, %+v", p.DUT, p.Links)
	}
}

// The stream is named, and no advice allows what nobody's lab has.
func TestAddressesThatAProgramReaches(t *testing.T) {
	server := newServer(t)
	stream := func(first, end uint64, offset int) string {
		return fmt.Sprintf(`[{"mode":{"type":"continuous","rate":{"type":"pps","value":1}},"packet":{"binary":"AAAAAQAAAAAAAgAACABFAAAuAAEAAEAROr0QAAABMAAAAQQBAAwAGgAAeHh4eHh4eHh4eHh4eHh4eHh4"},`+
			`"vm":{"instructions":[{"type":"flow_var","name":"v","size":1,"op":"inc","init_value":%d,"min_value":%d,"max_value":%d,"step":1},{"type":"write_flow_var","name":"v","pkt_offset":%d,"is_big_endian":true},{"type":"fix_checksum_ipv4","pkt_offset":14}]}}]`,
			first, first, end, offset)
	}
	for name, c := range map[string]struct {
		json    string
		message string
		absent  string
	}{
		"the last byte": {stream(1, 254, 29), "", ""},
		"a TTL of 1": {strings.Replace(stream(1, 254, 29), "EAAEAROr0Q", "EAAAEReb0Q", 1),
			"streams[0].packet.binary: the frames leave with TTL 1, and each router under test takes 1 (1 in all), " +
				"so none comes back: use at least 2", ""},
		"a net beside": {stream(15, 16, 26),
			"streams[0]: its source addresses, all within 0.0.0.0/3, are outside the networks made for measuring",
			"allowedPrefixes"},
		"the whole first byte": {stream(0, 255, 30),
			"streams[0]: its destination addresses, all within 0.0.0.0/0, are outside", "allowedPrefixes"},
		"a lab's, of one octet": {stream(10, 10, 30),
			"streams[0]: its destination addresses, all within 10.0.0.1/32, are outside", ""},
	} {
		test := admit(t, server, links+"  traffic: {profile: Streams, directions: [{from: west, to: east}], streams: "+
			"{json: '"+c.json+"'}}\n")
		_, errs := compile.Compile(test)
		got := fmt.Sprint(errs.ToAggregate())
		if c.message == "" && len(errs) > 0 || !strings.Contains(got, c.message) || c.absent != "" &&
			strings.Contains(got, c.absent) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestReplicasHaveNothingInCommon(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  generator: {engine: Software, replicas: 3}\n  links:\n  - {name: "+
		"west, lineRate: 1gbps, generator: {networks: [16.0.0.0/16]}}\n"+
		"  - {name: east, lineRate: 1gbps, generator: {networks: [48.0.0.0/24, 48.0.1.0/24, 48.0.2.0/24]}}\n"))
	var got []string
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			got = append(got, fmt.Sprint(port.Addresses, port.Networks))
		}
	}
	want := []string{
		"[198.18.0.2/24] [16.0.0.0/18]", "[198.18.1.2/24] [48.0.0.0/24]",
		"[198.18.0.3/24] [16.0.64.0/18]", "[198.18.1.3/24] [48.0.1.0/24]",
		"[198.18.0.4/24] [16.0.128.0/18]", "[198.18.1.4/24] [48.0.2.0/24]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestALinkThatSendsNothingHasNoStreams(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), links+"  traffic: {directions: [{from: east, to: west}]}\n"))
	west, east := p.Generators[0].Ports[0], p.Generators[0].Ports[1]
	if west.Streams != nil || west.Share != 0 || west.ShareOf != 1 {
		t.Errorf("west has %d streams and share %d/%d", len(west.Streams), west.Share, west.ShareOf)
	}
	if len(east.Streams) != 3 || east.Share != 254 || east.ShareOf != 254 {
		t.Errorf("east has %d streams and share %d/%d", len(east.Streams), east.Share, east.ShareOf)
	}
}

func TestForwarding(t *testing.T) {
	server := newServer(t)
	for dut, want := range map[string]plan.Forwarding{
		"{type: Reference}": plan.L3, "{type: Device}": plan.L3, "{type: Loopback}": plan.L2,
		"{type: Loopback, forwarding: L2}":  plan.L2,
		"{type: Reference, forwarding: L2}": plan.L2, "{type: Device, forwarding: MACRewrite}": plan.MACRewrite,
	} {
		p := compiled(t, admit(t, server, "  dut: "+dut+"\n"+links))
		if p.DUT.Forwarding != want {
			t.Errorf("%s forwards as %s, want %s", dut, p.DUT.Forwarding, want)
		}
		if spoken := len(p.Links[0].DUT.Addresses) > 0; spoken != (want != plan.L2) {
			t.Errorf("%s: the device has addresses %v", dut, p.Links[0].DUT.Addresses)
		}
		if (p.DUT.Reference != nil) != (p.DUT.Type == "Reference") {
			t.Errorf("%s: reference is %v", dut, p.DUT.Reference)
		}
	}
}

func TestNamesInTables(t *testing.T) {
	server := newServer(t)
	for _, c := range []struct{ name, spec, product, loadtest string }{
		{"by type and profile", links, "Linux reference", "imix"},
		{"by frame size", links + "  traffic: {profile: FixedSize, frameSize: 1518}\n", "Linux reference", "1518b"},
		{"a device", "  dut: {type: Device}\n" + links, "device", "imix"},
		{"no device", "  dut: {type: Loopback}\n" + links, "loopback", "imix"},
		{"software in a pod", "  dut: {type: Pod, pod: {template: {spec: {containers: [{name: a, image: " +
			"\"registry.lab:5000/net/vpp:25.10\"}]}}}}\n" + links, "vpp 25.10", "imix"},
		{"the container that forwards", "  dut: {type: Pod, pod: {container: b, template: {spec: {containers: " +
			"[{name: a, image: a}, {name: b, image: \"lab/frr@sha256:00\"}]}}}}\n" + links, "frr", "imix"},
		{"the latest image", "  dut: {type: Pod, pod: {template: {spec: {containers: [{name: a, image: " +
			"\"vpp:latest\"}]}}}}\n" + links, "vpp", "imix"},
		{"a pod that can't be read", "  dut: {type: Pod, pod: {template: {spec: 5}}}\n" + links, "pod", "imix"},
		{"a mix", links + "  traffic: {profile: Mix, mix: [{frameSize: 64, weight: 1}]}\n", "Linux reference", "mix"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compiled(t, admit(t, server, c.spec)).Test
			if got.Product != c.product || got.Loadtest != c.loadtest || got.Attempt != 1 {
				t.Errorf("%+v, want %s, %s", got, c.product, c.loadtest)
			}
		})
	}
	t.Run("by labels", func(t *testing.T) {
		test := admit(t, server, links)
		test.Labels = map[string]string{v1alpha1.LabelProduct: "VPP", v1alpha1.LabelLoadTest: "house"}
		if got := compiled(t, test).Test; got.Product != "VPP" || got.Loadtest != "house" {
			t.Errorf("%+v", got)
		}
	})
}

func TestServersThatRunAlready(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  dut: {type: Device}\n  generator: {engine: TRex, replicas: 3, "+
		"placement: {servers: [{address: trex.lab}, {address: \"192.0.2.7:4600\"}, {address: \"[2001:db8::7]\"}]}}\n"+links))
	var got []string
	for _, g := range p.Generators {
		got = append(got, g.Server)
	}
	if want := []string{"trex.lab:4501", "192.0.2.7:4600", "[2001:db8::7]:4501"}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompileIsPure(t *testing.T) {
	server := newServer(t)
	test := admit(t, server, "  generator: {engine: Software, replicas: 2}\n"+links)
	original := test.DeepCopy()
	first, second := compiled(t, test), compiled(t, test)
	if !reflect.DeepEqual(test, original) {
		t.Error("the LoadTest was changed")
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("the same LoadTest made two different plans")
	}
}

func TestAPlanSurvivesItsJSON(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  generator: {engine: Software, replicas: 2}\n  dut: {type: Reference, "+
		"reference: {limit: {packetsPerSecond: 1000}}}\n"+links+"  criteria: [{name: a, metric: LossRatio, max: "+
		"0%}]\n"))
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var reread plan.Plan
	if err := json.Unmarshal(text, &reread); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, &reread) {
		t.Error("a plan is not what was written")
	}
}

func TestALoadThatLeavesOutFlowsHasTheSchemasFlows(t *testing.T) {
	server := newServer(t)
	implicit, explicit := compiled(t, admit(t, server, links)),
		compiled(t, admit(t, server, links+"  traffic: {flows: {}}\n"))
	if !reflect.DeepEqual(implicit, explicit) {
		t.Error("the compiler's default flows are not the schema's")
	}
}

func TestTheAPIsWordsAreThePackagesWords(t *testing.T) {
	for got, want := range map[string]string{
		string(v1alpha1.ProfileIMIX):            string(profile.IMIX),
		string(v1alpha1.ProfileFixedSize):       string(profile.FixedSize),
		string(v1alpha1.ProfileMix):             string(profile.Mix),
		string(v1alpha1.ProfileStreams):         string(profile.Streams),
		string(v1alpha1.VarySourceAddress):      string(profile.SourceAddress),
		string(v1alpha1.VaryDestinationAddress): string(profile.DestinationAddress),
		string(v1alpha1.VarySourcePort):         string(profile.SourcePort),
		string(v1alpha1.VaryDestinationPort):    string(profile.DestinationPort),
		string(v1alpha1.ForwardingL3):           string(plan.L3), string(v1alpha1.ForwardingL2): string(plan.L2),
		string(v1alpha1.ForwardingMACRewrite): string(plan.MACRewrite),
	} {
		if got != want {
			t.Errorf("the API says %s, the package %s", got, want)
		}
	}
}

func TestRatesUpToTheLineAreTaken(t *testing.T) {
	server := newServer(t)
	for _, rate := range []string{"100%", "1gbpsl1", "327.367962kpps", "900mbps", "1pps"} {
		test := admit(t, server, links)
		test.Spec.Procedure.Ramp.TargetRate, test.Spec.Procedure.Ramp.WarmupRate = v1alpha1.Rate(rate), "1pps"
		p := compiled(t, test)
		if parsed, err := units.ParseRate(rate); err != nil || p.Procedure.Ramp.TargetRate != parsed {
			t.Errorf("target %v, want %s (%v)", p.Procedure.Ramp.TargetRate, rate, err)
		}
	}
}

func TestAPortsOwnSpeedNeedsNoLineRate(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  dut: {type: Device}\n  links: [{name: west}, {name: east}]\n"))
	if p.Links[0].LineRate != 0 || p.Procedure.Ramp.TargetRate.Kind != units.LinePercent {
		t.Errorf("line rate %d, target %s", p.Links[0].LineRate, p.Procedure.Ramp.TargetRate)
	}
}

func TestAWarmUpThatDoesNotHappenIsNotJudged(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), links+
		"  procedure: {ramp: {warmupDuration: 0s, warmupRate: 5kpps, targetRate: 1kpps}}\n"))
	if p.Procedure.Ramp.WarmupDuration != 0 {
		t.Errorf("warm-up %s", p.Procedure.Ramp.WarmupDuration.Std())
	}
}

// The schema can't set a default member, as it would stand beside those of other types. So the compiler's defaults of a
// missing member must be the schema's defaults of the member's fields.
func TestAMissingMemberHasTheSchemasDefaults(t *testing.T) {
	server := newServer(t)
	for procedure, member := range map[string]string{
		"Ramp": "ramp", "ConstantLoad": "constantLoad", "FrameLoss": "frameLoss",
		"MaximumOfferedLoad": "maximumOfferedLoad",
		"Search":             "search", "BackToBack": "backToBack", "Soak": "soak", "Trains": "trains",
	} {
		rest := ", maxLossRatio: 1%}\n" + links
		if procedure == "Trains" { // of one frame size, which lose nothing
			rest = "}\n  traffic: {profile: FixedSize, frameSize: 64}\n" + links
		}
		want := compiled(t, admit(t, server, fmt.Sprintf("  procedure: {type: %s, %s: {}", procedure, member)+rest))
		got := compiled(t, admit(t, server, "  procedure: {type: "+procedure+rest))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, with a %s that says nothing %+v", got.Procedure, member, want.Procedure)
		}
	}
	goals := compiled(t, admit(t, server, "  procedure: {type: Search, search: {goals: [{name: NDR}, {name: PDR, "+
		"lossRatio: 0.5%}]}}\n"+links))
	if got := compiled(t, admit(t, server, "  procedure: {type: Search}\n"+links)); !reflect.DeepEqual(got, goals) {
		t.Errorf("%+v, want %+v", got.Procedure, goals.Procedure)
	}
	ramp := compiled(t, admit(t, server, "  procedure: {type: Ramp, maxLossRatio: 0.1%}\n"+links))
	for _, unsaid := range []string{"", "  procedure: {}\n", "  procedure: {maxLossRatio: 0.1%}\n"} {
		if got := compiled(t, admit(t, server, unsaid+links)); !reflect.DeepEqual(got, ramp) {
			t.Errorf("%q: %+v, want %+v", unsaid, got.Procedure, ramp.Procedure)
		}
	}
}

// Resets and latency are allowed by traits, and traffic is started and stopped by what the procedure really does.
func TestTraitsSayWhatProceduresSend(t *testing.T) {
	server := newServer(t)
	for _, name := range procedures.TypesWith(func(procedure.Traits) bool { return true }) {
		oneSize := "  traffic: {profile: FixedSize, frameSize: 64}\n" // which trains have
		p := compiled(t, admit(t, server, "  procedure: {type: "+name+"}\n"+oneSize+links)).Procedure
		traits := procedures.TraitsOf(p)
		if trials := procedures.New(p).Bound().EndsByTrial(); trials != (traits.SendsTrials || traits.SendsTrains) {
			t.Errorf("%s sends trials before all else: %t, its traits say %t", name, trials, traits.SendsTrials)
		}
		if holds := p.HoldsOneLoad(); holds != traits.HoldsLoad {
			t.Errorf("%s holds one load: %t, its traits say %t", name, holds, traits.HoldsLoad)
		}
	}
}

func TestAPlanHasTheMemberOfItsProcedureAlone(t *testing.T) {
	server := newServer(t)
	for procedure, c := range map[string]struct {
		message string
		want    plan.Procedure
	}{
		"ConstantLoad": {"constantLoad: {rate: 10kpps, warmupDuration: 0s, duration: 1h, window: 1m}",
			plan.Procedure{ConstantLoad: &plan.ConstantLoad{
				Rate: unitstest.Rate("10kpps"), Duration: plan.Duration(time.Hour),
				Window: plan.Duration(time.Minute)}}},
		"FrameLoss": {"frameLoss: {maxRate: 90%, minRate: 50%, step: 0.5%, trialDuration: 20s, cleanTrials: 0}",
			plan.Procedure{FrameLoss: &plan.FrameLoss{
				MaxRate: unitstest.Rate("90%"), MinRate: unitstest.Rate("50%"), Step: unitstest.Rate("0.5%"),
				WarmupDuration: plan.Duration(5 * time.Second), TrialDuration: plan.Duration(20 * time.Second)}}},
		"MaximumOfferedLoad": {"maximumOfferedLoad: {rate: 1gbpsl1, trials: 100}",
			plan.Procedure{MaximumOfferedLoad: &plan.MaximumOfferedLoad{
				Rate: unitstest.Rate("1gbpsl1"), WarmupDuration: plan.Duration(5 * time.Second),
				TrialDuration: plan.Duration(time.Minute), Trials: 100}}},
		"Search": {"search: {classification: Sequential, maxRate: 10kpps, minRate: 10pps, warmupDuration: 0s, goals: " +
			"[{name: PDR, lossRatio: 0.5%, width: 1%}, {name: NDR, finalTrialDuration: 60s, durationSum: 60s, " +
			"exceedRatio: 0%}]}",
			plan.Procedure{MaxLossRatio: units.One / 200, Search: &plan.Search{Classification: plan.ClassifySequential,
				MinRate: unitstest.Rate("10pps"), MaxRate: unitstest.Rate("10kpps"), Goals: []plan.Goal{
					{Name: "PDR", LossRatio: units.One / 200, FinalTrialDuration: plan.Duration(time.Second),
						DurationSum: plan.Duration(21 * time.Second), ExceedRatio: units.One / 2,
						Width: units.One / 100},
					{Name: "NDR", FinalTrialDuration: plan.Duration(time.Minute),
						DurationSum: plan.Duration(time.Minute), Width: units.One / 200}}}}},
		"Soak": {"soak: {lossRatio: 0.01%, duration: 10m, maxRate: 10kpps}",
			plan.Procedure{MaxLossRatio: units.One / 10_000, Soak: &plan.Soak{LossRatio: units.One / 10_000,
				Duration:           plan.Duration(10 * time.Minute),
				FirstTrialDuration: plan.Duration(5100 * time.Millisecond), TrialGrowth: plan.Duration(100 * time.Millisecond),
				MinRate: unitstest.Rate("100pps"), MaxRate: unitstest.Rate("10kpps"),
				WarmupDuration: plan.Duration(5 * time.Second)}}},
	} {
		c.want.Type, c.want.MaxLossRatio = procedure, cmp.Or(c.want.MaxLossRatio, units.One/1000)
		p := compiled(t, admit(t, server, fmt.Sprintf("  procedure: {type: %s, %s}\n  activeDeadline: 3h\n", procedure,
			c.message)+links))
		if !reflect.DeepEqual(p.Procedure, c.want) {
			t.Errorf("%+v, want %+v", p.Procedure, c.want)
		}
	}
}

func TestASearchThatSaysNoLowestLoadBeginsAtAMillionthOfTheHighestOrAtAPacketASecond(t *testing.T) {
	server := newServer(t)
	for highest, lowest := range map[string]string{"100%": "0.0001%", "40kpps": "1pps", "500pps": "1pps",
		"1pps": "0.000001pps", "500mbps": "500bps", "1gbpsl1": "1kbpsl1"} {
		p := compiled(t, admit(t, server, "  procedure: {type: Search, search: {maxRate: "+highest+"}}\n"+links))
		if got, want := p.Procedure.Search.MinRate, unitstest.Rate(lowest); got != want {
			t.Errorf("up to %s: from %s, want %s", highest, got, want)
		}
	}
}

func TestPresetsAreTheGoalsOfTheirStandards(t *testing.T) {
	server := newServer(t)
	for _, want := range []plan.Goal{
		{Name: "RFC2544", FinalTrialDuration: plan.Duration(time.Minute), DurationSum: plan.Duration(time.Minute),
			Width: units.One / 200},
		{Name: "TST009", FinalTrialDuration: plan.Duration(time.Minute), DurationSum: plan.Duration(130 * time.Second),
			ExceedRatio: units.One / 2, Width: units.One / 200},
	} {
		p := compiled(t, admit(t, server, "  procedure: {type: Search, search: {preset: "+want.Name+
			"}}\n  activeDeadline: 3h\n"+links))
		if got := p.Procedure.Search.Goals; len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestRatesInPacketsNeedNoLineRate(t *testing.T) {
	server := newServer(t)
	for _, procedure := range []string{
		"{ramp: {targetRate: 10kpps}}", "{type: ConstantLoad, constantLoad: {rate: 10kpps}}",
		"{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 10kpps}}",
		"{type: FrameLoss, frameLoss: {maxRate: 10kpps, minRate: 1kpps, step: 1kpps}}",
		"{type: Search, search: {maxRate: 10kpps}}",
	} {
		compiled(t, admit(t, server, "  procedure: "+procedure+"\n  links: [{name: west}, {name: east}]\n"))
	}
}

func TestUsualIsHowLongAProcedureTakes(t *testing.T) {
	server := newServer(t)
	for spec, want := range map[string]time.Duration{
		"{}": 11*time.Minute + 10*time.Second,
		"{ramp: {warmupDuration: 0s, rampDuration: 12s, holdDuration: 0s}}": 22 * time.Second,
		"{directions: Each}":   30*time.Second + 2*(10*time.Minute+40*time.Second) + 10500*time.Millisecond,
		"{type: ConstantLoad}": 65 * time.Second,
		"{type: ConstantLoad, constantLoad: {warmupDuration: 1m, duration: 1h}}": time.Hour + time.Minute,
		"{type: FrameLoss}": 10*time.Minute + 5*time.Second,
		"{type: MaximumOfferedLoad, maximumOfferedLoad: {trials: 3}}": 3*time.Minute + 5*time.Second,
		"{type: Soak}":   30*time.Minute + 5*time.Second,
		"{type: Search}": 5*time.Second + 3*time.Second + 2*2*10500*time.Millisecond,
		// refused by the compiler
		"{type: FrameLoss, frameLoss: {maxRate: 10%, minRate: 90%}}": 0,
		// refused by the compiler
		"{type: FrameLoss, frameLoss: {maxRate: 999999999999gpps, minRate: 1pps, step: 1pps, trialDuration: 1h}}": 0,
	} {
		if got := compile.UsualDuration(&admit(t, server, "  procedure: "+spec+"\n"+links).Spec); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
	for _, procedure := range []v1alpha1.ProcedureType{"", "Ramp", "ConstantLoad", "FrameLoss", "MaximumOfferedLoad",
		"Search", "Soak"} {
		unread := v1alpha1.ProcedureSpec{Type: procedure, Ramp: v1alpha1.RampSpec{RampDuration: "soon"},
			ConstantLoad:       v1alpha1.ConstantLoadSpec{Duration: "soon"},
			FrameLoss:          v1alpha1.FrameLossSpec{TrialDuration: "soon"},
			MaximumOfferedLoad: v1alpha1.MaximumOfferedLoadSpec{TrialDuration: "soon"},
			Soak:               v1alpha1.SoakSpec{Duration: "soon"},
			Search: v1alpha1.SearchSpec{MaxRate: "100%", WarmupDuration: "soon",
				Goals: []v1alpha1.SearchGoal{{Name: "NDR", FinalTrialDuration: "soon", DurationSum: "soon"}}}}
		if got := compile.UsualDuration(&v1alpha1.LoadTestSpec{Procedure: unread}); got != 0 {
			t.Errorf("%s: what isn't a duration takes %s", procedure, got)
		}
	}
}

// UsualDuration is asked for at each look at the line of waiting tests.
func BenchmarkUsual(b *testing.B) {
	for _, procedure := range []v1alpha1.ProcedureType{"Ramp", "ConstantLoad", "FrameLoss", "MaximumOfferedLoad",
		"Search", "Soak"} {
		b.Run(string(procedure), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile.UsualDuration(&v1alpha1.LoadTestSpec{Procedure: v1alpha1.ProcedureSpec{Type: procedure,
					MaxLossRatio: "0.1%"}})
			}
		})
	}
}
