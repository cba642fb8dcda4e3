package units

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// imix is the composition of 28 frames of 64 bytes, 16 of 594 and 4 of 1518.
var imix = Traffic{Packets: 48, Bytes: 17368}

func frames(size FrameSize) Traffic { return size.Traffic() }

func mustRate(t *testing.T, text string) Rate {
	t.Helper()
	r, err := ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPacketRateOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		rate string
		mix  Traffic
		line BitRate
		want PacketRate
	}{
		{"packets need neither mix nor line", "1kpps", Traffic{}, 0, 1000 * PacketPerSecond},
		{"packets round to the nearest thousandth", "0.0015pps", Traffic{}, 0, 2},
		{"layer 2 counts the frame with FCS", "512bps", frames(64), 0, PacketPerSecond},
		{"layer 2 of a mix", "138944bps", imix, 0, 48 * PacketPerSecond},
		{"layer 1 adds 20 bytes a frame", "672bpsl1", frames(64), 0, PacketPerSecond},
		{"layer 1 of a mix", "146624bpsl1", imix, 0, 48 * PacketPerSecond},
		{"all of a 10 Gb/s line in 64-byte frames", "100%", frames(64), 10 * Gbps, 14_880_952_381},
		{"all of a 10 Gb/s line in 1518-byte frames", "100%", frames(1518), 10 * Gbps, 812_743_823},
		{"half a line", "50%", frames(64), 10 * Gbps, 7_440_476_190},
		{"a mix on 10 Gb/s", "100%", imix, 10 * Gbps, 3_273_679_616},
		{"a percentage over 100 is arithmetic like any other", "200%", frames(64), 10 * Gbps, 29_761_904_762},
		{"800 Gb/s don't overflow", "100%", frames(64), 800 * Gbps, 1_190_476_190_476},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustRate(t, tt.rate).PacketRateOf(tt.mix, tt.line)
			if err != nil || got != tt.want {
				t.Errorf("%s = %v, %v; want %v", tt.rate, got, err, tt.want)
			}
		})
	}
}

func TestPacketRateOfRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		rate Rate
		mix  Traffic
		line BitRate
		want string
	}{
		{"percent without a line rate", Rate{LinePercent, 95e6}, imix, 0, "95% needs a line rate, and none is known: set the link's lineRate"},
		{"bits without packets", Rate{Layer2Bits, 1e15}, Traffic{}, 0, "1gbps needs traffic with packets"},
		{"percent without packets", Rate{LinePercent, 95e6}, Traffic{}, Gbps, "95% needs traffic with packets"},
		{"no rate", Rate{}, imix, Gbps, "0pps is not above zero"},
		{"a negative rate", Rate{Packets, -1}, imix, Gbps, "-0.000001pps is not above zero"},
		{"next to nothing", Rate{Packets, 499}, imix, Gbps, "less than a thousandth of a packet per second"},
		{"beyond counting", Rate{Layer2Bits, math.MaxInt64}, Traffic{Packets: math.MaxInt64, Bytes: 64}, 0, "more packets per second than can be counted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.rate.PacketRateOf(tt.mix, tt.line)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestLinePacketRate(t *testing.T) {
	for _, tt := range []struct {
		mix  Traffic
		line BitRate
		want PacketRate
	}{
		{frames(64), Gbps, 1_488_095_238}, {frames(64), 25 * Gbps, 37_202_380_952}, {frames(64), 100 * Gbps, 148_809_523_810},
		{imix, 25 * Gbps, 8_184_199_040}, {imix, 0, 0}, {Traffic{}, Gbps, 0},
	} {
		if got := LinePacketRate(tt.mix, tt.line); got != tt.want {
			t.Errorf("%v of %v: %d, want %d", tt.line, tt.mix, got, tt.want)
		}
	}
}

func TestHundredPercentIsTheLine(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 5_000 {
		packets := random.Int64N(1e6) + 1
		mix, line := Traffic{packets, packets*64 + random.Int64N(packets*9152)}, BitRate(random.Int64N(int64(800*Gbps)))+Mbps
		got, err := Rate{LinePercent, 100e6}.PacketRateOf(mix, line)
		if err != nil || got != LinePacketRate(mix, line) {
			t.Fatalf("100%% of %v with %v is %v, %v, but the line carries %v", line, mix, got, err, LinePacketRate(mix, line))
		}
		// A thousandth of a packet per second is at most 74 bits/s of 9216-byte frames at layer 1, and rounding
		// moves half of that.
		if off := got.Layer1(mix) - line; off > 37 || off < -37 {
			t.Fatalf("%v of %v occupy %d bits/s of a line of %d", got, mix, got.Layer1(mix), line)
		}
	}
}

func TestBitRatesOfAPacketRate(t *testing.T) {
	if got := (48 * PacketPerSecond).Layer1(imix); got != 146_624 {
		t.Errorf("layer 1: %d", got)
	}
	if got := (48 * PacketPerSecond).Layer2(imix); got != 138_944 {
		t.Errorf("layer 2: %d", got)
	}
	if got := PacketRate(math.MaxInt64).Layer1(frames(9216)); got != math.MaxInt64 {
		t.Errorf("a result beyond int64 is cut off at its end, not %d", got)
	}
	if got := PacketPerSecond.Layer1(Traffic{}); got != 0 {
		t.Errorf("without packets: %d", got)
	}
}

func TestRatesOverTime(t *testing.T) {
	if got := PacketRateOver(30_001, 3_000_000_000); got != 10_000_333 {
		t.Errorf("30001 packets in 3 s: %d", got)
	}
	if got := PacketRateOver(-1500, 1_000_000_000); got != -1500*PacketPerSecond {
		t.Errorf("a counter that went back shows: %d", got)
	}
	if got := BitRateOver(1_000_000, 1_500_000_000); got != 666_667 {
		t.Errorf("a million bits in 1.5 s: %d", got)
	}
	if PacketRateOver(1, 0) != 0 || BitRateOver(1, 0) != 0 || PacketRateOver(1, -1) != 0 {
		t.Error("no time, no rate")
	}
	if got := PacketRateOver(math.MaxInt64, math.MaxInt64); got != 1_000_000_000_000 {
		t.Errorf("a packet a nanosecond for 292 years: %d", got)
	}
}

func TestQuotientRoundsHalvesAwayFromZero(t *testing.T) {
	for _, tt := range []struct{ n, d, want int64 }{
		{1, 2, 1}, {-1, 2, -1}, {1, -2, -1}, {-1, -2, 1}, {1, 3, 0}, {2, 3, 1}, {-2, 3, -1}, {5, 2, 3}, {7, 0, 0}, {0, 5, 0}, {math.MinInt64, 1, math.MinInt64},
	} {
		if got, ok := quotient(product(tt.n), product(tt.d)); got != tt.want || !ok {
			t.Errorf("%d ÷ %d = %d, %v; want %d", tt.n, tt.d, got, ok, tt.want)
		}
	}
	if got, ok := quotient(product(math.MinInt64, 2), product(1)); got != math.MinInt64 || ok {
		t.Errorf("below int64: %d, %v", got, ok)
	}
}
