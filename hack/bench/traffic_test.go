package main

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
)

func TestPreparedFrames(t *testing.T) {
	for _, c := range []struct {
		size   string
		flows  int64
		frames int
		bySize map[int]int
	}{
		{"64", 1, 1, map[int]int{64: 1}},
		{"64", 254, 254, map[int]int{64: 254}},
		{"1518", 254, 254, map[int]int{1518: 254}},
		{"64", 65_536, 256, map[int]int{64: 256}},
		{"IMIX", 254, 12 * 254, map[int]int{64: 7 * 254, 594: 4 * 254, 1518: 254}},
	} {
		l := load{size: c.size, flows: c.flows, threads: 1}
		frames, err := l.prepared(hardware(0, 1), hardware(0, 2))
		if err != nil {
			t.Fatal(err)
		}
		bySize, flows := map[int]int{}, map[[2]int]bool{}
		for _, f := range frames {
			size := len(f) + units.FCSBytes
			bySize[size]++
			flows[[2]int{size, int(binary.BigEndian.Uint32(f[26:]))}] = true
			if f[5] != 2 || f[11] != 1 || f[26] != 16 || f[30] != 48 {
				t.Fatalf("%s, %d flows: a frame begins % x", c.size, c.flows, f[:42])
			}
		}
		if len(frames) != c.frames || len(bySize) != len(c.bySize) || len(flows) != int(min(c.flows, 256))*len(c.bySize) {
			t.Errorf("%s, %d flows: %d frames of %d flows, by size %v; want %d and %v", c.size, c.flows, len(frames), len(flows), bySize, c.frames, c.bySize)
		}
		for size, n := range c.bySize {
			if bySize[size] != n {
				t.Errorf("%s, %d flows: %d frames of %d bytes, want %d", c.size, c.flows, bySize[size], size, n)
			}
		}
	}
}

// TestAMixIsEven: in any stretch each size has its share, to a frame or so.
func TestAMixIsEven(t *testing.T) {
	run, err := load{size: "IMIX", flows: 1, threads: 1}.streams(false, 1200)
	if err != nil {
		t.Fatal(err)
	}
	sent := make([]float64, len(run))
	for i, next := range interleaved(run) {
		sent[next]++
		for k, s := range run {
			if due := s.Stream.Mode.Rate.Value / 1200 * float64(i+1); sent[k] < due-1 || sent[k] > due+1 {
				t.Errorf("of the first %d frames %g are of stream %d, whose share is %.2f", i+1, sent[k], k, due)
			}
		}
	}
}

func TestStreamsAddUpToTheRate(t *testing.T) {
	for _, m := range []marks{unmarked, counted, stamped} {
		for _, back := range []bool{false, true} {
			run, err := load{size: "IMIX", flows: 254, threads: 1, marks: m}.streams(back, 96_000)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, s := range run {
				sum += s.Stream.Mode.Rate.Value
				if s.Stream.FlowStats.Enabled != (m != unmarked) || s.Stream.FlowStats.RuleType != string(m) {
					t.Errorf("marks %q: %+v", m, s.Stream.FlowStats)
				}
				if from := s.Stream.Packet.Binary[26]; from == 48 != back {
					t.Errorf("back %v: from %d", back, from)
				}
			}
			if sum < 95_999.999 || sum > 96_000.001 {
				t.Errorf("the streams add up to %g packets/s", sum)
			}
		}
	}
}

func TestTrafgenConfig(t *testing.T) {
	for name, c := range map[string]struct {
		flows int64
		lines int
		has   []string
	}{
		"ready frames":             {254, 254, []string{"{ 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45, ", "0x10, 0x00, 0x00, 0xfe, 0x30, ", "fill(0x78, 18) }\n"}},
		"the last byte is counted": {65_536, 256, []string{"0x11, csumip(14, 33), 0x10, 0x00, 0xff, dinc(0, 255, 1), 0x30, "}},
	} {
		frames, err := load{size: "64", flows: c.flows, threads: 1}.prepared(hardware(0, 1), hardware(0, 2))
		if err != nil {
			t.Fatal(err)
		}
		text := trafgenConfig(frames, c.flows)
		if n := strings.Count(text, "\n"); n != c.lines {
			t.Errorf("%s: %d frames, want %d", name, n, c.lines)
		}
		for _, part := range c.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q isn't in\n%s", name, part, text[:500])
			}
		}
	}
}

func TestInvalidSizes(t *testing.T) {
	if _, err := (load{size: "large", flows: 1}).streams(false, 1); err == nil || !strings.Contains(err.Error(), `"large" bytes`) {
		t.Error(err)
	}
}
