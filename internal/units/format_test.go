package units

import (
	"math"
	"testing"
)

func TestFormatSI(t *testing.T) {
	for rate, want := range map[PacketRate]string{
		0: "0.00 pps", 1: "0.00 pps", 5: "0.01 pps", 12_345: "12.35 pps", 999_994: "999.99 pps", 999_995: "1.00 kpps",
		654_400_000: "654.40 kpps", 999_999_999: "1.00 Mpps", 14_880_952_381: "14.88 Mpps", -654_400_000: "-654.40 kpps", math.MaxInt64: "9.22 Ppps",
	} {
		if got := rate.FormatSI(); got != want {
			t.Errorf("%d: %q, want %q", int64(rate), got, want)
		}
	}
	for rate, want := range map[BitRate]string{
		0: "0.00 b/s", 999: "999.00 b/s", 2 * Gbps: "2.00 Gb/s", 1_998_973_333: "2.00 Gb/s", 25_500 * Mbps: "25.50 Gb/s", 1_200 * Gbps: "1.20 Tb/s",
		math.MaxInt64: "9223.37 Pb/s", math.MinInt64: "-9223.37 Pb/s",
	} {
		if got := rate.FormatSI(); got != want {
			t.Errorf("%d: %q, want %q", int64(rate), got, want)
		}
	}
}

func TestFrameSizeCheck(t *testing.T) {
	for size, fine := range map[FrameSize]bool{20: false, 63: false, 64: true, 1518: true, 9216: true, 9217: false, -1: false} {
		if err := size.Check(); (err == nil) != fine {
			t.Errorf("frame size %d: %v", size, err)
		}
	}
}

func TestTraffic(t *testing.T) {
	a, b := Traffic{48, 17368}, Traffic{1, 64}
	if a.Add(b).Sub(a) != b {
		t.Errorf("%v + %v − %v = %v", a, b, a, a.Add(b).Sub(a))
	}
	if a.Layer1Bits() != 146_624 || a.Layer2Bits() != 138_944 {
		t.Errorf("IMIX is %d and %d bits", a.Layer1Bits(), a.Layer2Bits())
	}
	if FrameSize(64).Traffic() != b {
		t.Error("a frame of 64 bytes is one packet of 64 bytes")
	}
}
