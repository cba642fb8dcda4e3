package profile

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
)

// TestFlowsAreExact draws specs at random and plays all replicas: together they have exactly count flows, each
// twice in two rounds, none on two replicas, and every frame's checksums are right.
func TestFlowsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	networks := [][2]string{
		{"16.0.0.0/24", "48.0.0.0/24"}, {"16.0.0.0/16", "48.0.0.0/28"}, {"16.0.0.255/31", "48.1.2.3/32"}, {"16.255.255.0/20", "48.0.0.0/8"},
		{"2001:2::/64", "2001:2:0:1::/64"}, {"2001:2::ffff:0/112", "2001:2::fff0/124"}, {"2001:2::/127", "2001:2:0:1::5/128"}, {"2001:2::/48", "2001:2:1::ffff:ff00/118"},
	}
	built := 0
	for range 1_500 {
		n := networks[random.IntN(len(networks))]
		spec := Spec{
			Kind: FixedSize, FrameSize: units.FrameSize(78 + random.IntN(200)), Replicas: 1 + random.IntN(4),
			Source: netip.MustParsePrefix(n[0]), Destination: netip.MustParsePrefix(n[1]), VLAN: uint16(random.IntN(2) * (1 + random.IntN(4094))),
			Flows: Flows{Count: 1 + random.Int64N(400), Vary: fields()[:1+random.IntN(4)]},
		}
		random.Shuffle(4, func(i, j int) {
			if f := slices.Clone(spec.Flows.Vary); i < len(f) && j < len(f) {
				f[i], f[j] = f[j], f[i]
				spec.Flows.Vary = f
			}
		})
		if _, err := Build(spec); err != nil {
			continue // refusals have their own test
		}
		built++
		checkFlowsOf(t, spec)
	}
	if built < 300 {
		t.Fatalf("only %d of the specs could be built", built)
	}
}

func checkFlowsOf(t *testing.T, spec Spec) {
	t.Helper()
	seen := map[flow]int{}
	var total int64
	for spec.Replica = range spec.Replicas {
		p, err := Build(spec)
		if err != nil {
			return // a slice that can't be spread evenly
		}
		total += p.Flows
		own := map[flow]int{}
		for _, f := range flowsOf(t, p.Streams[0], 2*p.Flows) {
			own[f]++
			if f.vlan != spec.VLAN || !spec.Source.Contains(f.source) || !spec.Destination.Contains(f.destination) {
				t.Fatalf("%+v sends %s", spec, f)
			}
		}
		if int64(len(own)) != p.Flows || p.FlowsOf != spec.Flows.Count {
			t.Fatalf("%+v: %d flows in the frames of a replica with %d of %d", spec, len(own), p.Flows, p.FlowsOf)
		}
		for f, times := range own {
			seen[f]++
			if times != 2 || seen[f] > 1 {
				t.Fatalf("%+v: %s %d times in two rounds, on %d replicas", spec, f, times, seen[f])
			}
		}
	}
	if total != spec.Flows.Count || int64(len(seen)) != total {
		t.Fatalf("%+v: %d flows, %d of them different", spec, total, len(seen))
	}
}

func TestManyFlowsKeepTheirChecksums(t *testing.T) {
	for name, spec := range map[string]Spec{
		"IPv6, addresses that cross 16-bit words, against a 32-bit counter": {
			Kind: FixedSize, FrameSize: 128, Source: netip.MustParsePrefix("2001:2::ffff:0/104"), Destination: netip.MustParsePrefix("2001:2:1::/64"),
			Flows: Flows{Count: 140_000, Vary: []Field{SourceAddress}},
		},
		"IPv6, three fields in step": {
			Kind: FixedSize, FrameSize: 128, Source: netip.MustParsePrefix("2001:2::/64"), Destination: netip.MustParsePrefix("2001:2:1::/64"),
			Flows: Flows{Count: 60_000, Vary: []Field{SourceAddress, DestinationAddress, SourcePort}},
		},
		"IPv4, all the source ports there are": {
			Kind: FixedSize, FrameSize: 64, Flows: Flows{Count: 64_512, Vary: []Field{SourcePort}},
		},
	} {
		t.Run(name, func(t *testing.T) { checkFlowsOf(t, spec.withDefaults()) })
	}
}

func TestFieldsStepTogether(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spec  Spec
		wants map[int]string // frame → flow
	}{
		{
			"both addresses, as TRex does", Spec{Flows: Flows{Count: 254, Vary: []Field{DestinationAddress, SourceAddress}}},
			map[int]string{0: "16.0.0.1:53 → 48.0.0.1:53", 1: "16.0.0.2:53 → 48.0.0.2:53", 253: "16.0.0.254:53 → 48.0.0.254:53", 254: "16.0.0.1:53 → 48.0.0.1:53"},
		},
		{
			"a replica's slice", Spec{Replica: 1, Replicas: 2, Flows: Flows{Count: 254, Vary: []Field{SourceAddress, DestinationAddress}}},
			map[int]string{0: "16.0.0.128:53 → 48.0.0.128:53", 126: "16.0.0.254:53 → 48.0.0.254:53", 127: "16.0.0.128:53 → 48.0.0.128:53"},
		},
		{
			"a field that can't hold all takes a divisor of them", Spec{Flows: Flows{Count: 1000, Vary: []Field{SourceAddress, SourcePort}}},
			map[int]string{0: "16.0.0.1:1024 → 48.0.0.1:53", 249: "16.0.0.250:1273 → 48.0.0.1:53", 250: "16.0.0.1:1274 → 48.0.0.1:53", 999: "16.0.0.250:2023 → 48.0.0.1:53"},
		},
		{
			"ports given", Spec{SourcePort: 5000, DestinationPort: 4789, Flows: Flows{Count: 3, Vary: []Field{SourcePort}}},
			map[int]string{0: "16.0.0.1:5000 → 48.0.0.1:4789", 2: "16.0.0.1:5002 → 48.0.0.1:4789"},
		},
		{
			"one flow", Spec{},
			map[int]string{0: "16.0.0.1:53 → 48.0.0.1:53", 1: "16.0.0.1:53 → 48.0.0.1:53"},
		},
		{
			"IPv6 counts the second field down", Spec{
				Source: netip.MustParsePrefix("2001:2::/64"), Destination: netip.MustParsePrefix("2001:2:1::/64"),
				Flows: Flows{Count: 254, Vary: []Field{SourceAddress, DestinationAddress}},
			},
			map[int]string{0: "2001:2::1:53 → 2001:2:1::fe:53", 1: "2001:2::2:53 → 2001:2:1::fd:53", 253: "2001:2::fe:53 → 2001:2:1::1:53", 254: "2001:2::1:53 → 2001:2:1::fe:53"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Kind, tt.spec.FrameSize = FixedSize, 128
			flows := flowsOf(t, mustBuild(t, tt.spec).Streams[0], 1000)
			for frame, want := range tt.wants {
				if got := flows[frame].String(); got != want+" (VLAN 0)" {
					t.Errorf("frame %d is %s, want %s", frame, got, want)
				}
			}
		})
	}
}

func TestFlowsThatDontFit(t *testing.T) {
	vary := func(count int64, fields ...Field) Flows { return Flows{Count: count, Vary: fields} }
	for _, tt := range []struct {
		name string
		spec Spec
		want string
	}{
		{"more than a network has addresses", Spec{Flows: vary(255, SourceAddress, DestinationAddress)},
			"flows.count 255 doesn't fit: SourceAddress in 16.0.0.0/24 has 254 values, DestinationAddress in 48.0.0.0/24 has 254 values, so at most 254 flows"},
		{"more than there are ports", Spec{Flows: vary(64_513, SourcePort)}, "SourcePort in 1024-65535 has 64512 values, so at most 64512 flows"},
		{"nothing varies", Spec{Flows: vary(2)}, "flows.count 2 without a field that varies: set flows.fields"},
		{"an unknown field", Spec{Flows: vary(2, "Colour")}, `flows.fields[0]: "Colour" is not known: use SourceAddress, DestinationAddress, SourcePort, DestinationPort`},
		{"a field twice", Spec{Flows: vary(2, SourcePort, SourcePort)}, "flows.fields[1]: SourcePort is there twice"},
		{"fewer flows than replicas", Spec{Replicas: 3, Flows: vary(2, SourcePort)}, "flows.count 2 is less than the 3 replicas"},
		{"a prime number of flows over too few addresses", Spec{Flows: vary(257, SourceAddress, SourcePort)},
			"257 flows of a replica can't be spread evenly over the 254 values of SourceAddress in 16.0.0.0/24: use a multiple"},
		{"IPv4 to IPv6", Spec{Source: netip.MustParsePrefix("16.0.0.0/24"), Destination: netip.MustParsePrefix("2001:2::/64")}, "must both be IPv4 or both IPv6"},
		{"one network only", Spec{Source: netip.MustParsePrefix("16.0.0.0/24")}, "must both be IPv4 or both IPv6"},
		{"a replica that doesn't exist", Spec{Replica: 2, Replicas: 2}, "replica 2 of 2 doesn't exist"},
		{"two fields at random", Spec{Flows: Flows{Count: 2, Vary: []Field{SourceAddress, SourcePort}, Random: true}}, "order Random draws one field: name one of"},
		{"at random over IPv6", Spec{Source: netip.MustParsePrefix("2001:2::/64"), Destination: netip.MustParsePrefix("2001:2:0:1::/64"), Flows: Flows{Count: 2, Vary: []Field{SourcePort}, Random: true}},
			"use Sequential, or IPv4"},
		{"a reserved VLAN", Spec{VLAN: 4095}, "vlan 4095 doesn't exist: use 1 to 4094"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Kind = IMIX
			if p, err := Build(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %d streams, %v; want an error with %q", len(p.Streams), err, tt.want)
			}
		})
	}
}

// Flows at random are drawn from the same values as those that take turns, each replica's from its own.
func TestFlowsAtRandomAreDrawnFromAReplicasOwnValues(t *testing.T) {
	for replica, want := range [][2]uint64{{48<<24 + 1, 48<<24 + 127}, {48<<24 + 128, 48<<24 + 254}} {
		p, err := Build(Spec{Kind: FixedSize, FrameSize: 64, Replica: replica, Replicas: 2, Flows: Flows{Count: 254, Vary: []Field{DestinationAddress}, Random: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := checkProgram(p.Streams[0]); err != nil {
			t.Fatalf("no server takes it: %v", err)
		}
		v := p.Streams[0].VM.Instructions[0]
		if got := [2]uint64{v.MinValue, v.MaxValue}; v.Op != "random" || got != want || v.InitValue != want[0] {
			t.Errorf("replica %d: %s from %d to %d, the first %d; want random from %d to %d", replica, v.Op, v.MinValue, v.MaxValue, v.InitValue, want[0], want[1])
		}
		if reach := Reach(p.Streams[0]); !reach[1].Addr().Is4() || !netip.MustParsePrefix("48.0.0.0/24").Overlaps(reach[1]) || reach[1].Bits() < 24 {
			t.Errorf("replica %d reaches %s, want nothing outside 48.0.0.0/24", replica, reach[1])
		}
	}
}

func TestLargestDivisor(t *testing.T) {
	for _, tt := range []struct{ n, limit, want int64 }{{1000, 254, 250}, {257, 254, 1}, {254, 254, 254}, {16, 3, 2}, {1, 9, 1}, {36, 6, 6}} {
		if got := largestDivisor(tt.n, tt.limit); got != tt.want {
			t.Errorf("largest divisor of %d up to %d: %d, want %d", tt.n, tt.limit, got, tt.want)
		}
	}
}
