package units

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseRate(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Rate
		back string
	}{
		{"1pps", Rate{Packets, 1e6}, "1pps"},
		{"1kpps", Rate{Packets, 1e9}, "1kpps"},
		{"1000pps", Rate{Packets, 1e9}, "1kpps"},
		{"14.88mpps", Rate{Packets, 14.88e12}, "14.88mpps"},
		{"14.88MPPS", Rate{Packets, 14.88e12}, "14.88mpps"},
		{"0.5kpps", Rate{Packets, 5e8}, "500pps"},
		{"0.000001pps", Rate{Packets, 1}, "0.000001pps"},
		{"007.500pps", Rate{Packets, 7.5e6}, "7.5pps"},
		{"1.000000000000pps", Rate{Packets, 1e6}, "1pps"},
		{"1.123456789kpps", Rate{Packets, 1123456789}, "1.123456789kpps"},
		{"9.2tpps", Rate{Packets, 9.2e18}, "9.2tpps"},
		{"10gbps", Rate{Layer2Bits, 1e16}, "10gbps"},
		{"10Gbps", Rate{Layer2Bits, 1e16}, "10gbps"},
		{"512bps", Rate{Layer2Bits, 512e6}, "512bps"},
		{"10gbpsl1", Rate{Layer1Bits, 1e16}, "10gbpsl1"},
		{"2.5tbpsL1", Rate{Layer1Bits, 2.5e18}, "2.5tbpsl1"},
		{"95%", Rate{LinePercent, 95e6}, "95%"},
		{"0.01%", Rate{LinePercent, 1e4}, "0.01%"},
		{"105%", Rate{LinePercent, 105e6}, "105%"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseRate(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("ParseRate(%q) = %+v, %v; want %+v", tt.text, got, err, tt.want)
			}
			if got.String() != tt.back {
				t.Errorf("ParseRate(%q).String() = %q, want %q", tt.text, got, tt.back)
			}
		})
	}
}

func TestParseRateRefuses(t *testing.T) {
	forms := []string{"1kpps", "10gbps", "10gbpsl1", "95%"}
	for _, tt := range []struct{ text, because string }{
		{"", "not understood"},
		{"10", "not understood"},
		{"10g", "not understood"},
		{"pps", "not understood"},
		{"kpps", "not understood"},
		{"%", "not understood"},
		{"-1pps", "not understood"},
		{"+1pps", "not understood"},
		{"1e3pps", "not understood"},
		{".5pps", "not understood"},
		{"5.pps", "not understood"},
		{"1.2.3pps", "not understood"},
		{"1,5mpps", "not understood"},
		{" 1pps", "not understood"},
		{"1 kpps", "not understood"},
		{"1kkpps", "not understood"},
		{"1ppps", "not understood"},
		{"1k%", "not understood"},
		{"１pps", "not understood"},
		{"1xpps", "not understood"},
		{"0pps", "zero"},
		{"0.000%", "zero"},
		{"1.0000001pps", "finer than a millionth"},
		{"0.0000001%", "finer than a millionth"},
		{"9.3tpps", "too large"},
		{"99999999999999999999pps", "too large"},
	} {
		t.Run("refuses "+tt.text, func(t *testing.T) {
			got, err := ParseRate(tt.text)
			if err == nil {
				t.Fatalf("ParseRate(%q) = %v, want an error", tt.text, got)
			}
			for _, want := range append(forms, tt.because, `"`+tt.text+`"`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q doesn't say %s", err, want)
				}
			}
		})
	}
}

func TestRateReadsBackWhatItPrints(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		want := Rate{RateKind(random.IntN(4)), random.Int64() >> random.IntN(63)}
		if want.IsZero() {
			continue
		}
		if got, err := ParseRate(want.String()); got != want {
			t.Fatalf("%+v prints as %q, which reads as %+v, %v", want, want, got, err)
		}
	}
}

func TestRateOfAnUnknownKindSaysSo(t *testing.T) {
	if got := (Rate{Kind: 9, Micros: 1e6}).String(); got != "1(unit 9)" {
		t.Errorf("got %q", got)
	}
}

func TestRateInJSON(t *testing.T) {
	type document struct{ Set, Unset Rate }
	const text = `{"Set":"1kpps","Unset":""}`
	got, err := json.Marshal(document{Set: Rate{Packets, 1e9}})
	if err != nil || string(got) != text {
		t.Errorf("marshals as %s, %v; want %s", got, err, text)
	}
	back := document{Unset: Rate{Packets, 7}}
	if err := json.Unmarshal([]byte(text), &back); err != nil || back.Set != (Rate{Packets, 1e9}) || !back.Unset.IsZero() {
		t.Errorf("reads back as %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Set":"fast"}`), &back); err == nil || !strings.Contains(err.Error(), `"fast"`) {
		t.Errorf("a bad rate in a document gives %v", err)
	}
}

func TestParseBitRate(t *testing.T) {
	for text, want := range map[string]BitRate{
		"25gbps": 25 * Gbps, "1Gbps": Gbps, "2.5gbps": 2500 * Mbps, "100mbps": 100 * Mbps, "1bps": 1, "0.8tbps": 800 * Gbps,
	} {
		if got, err := ParseBitRate(text); err != nil || got != want {
			t.Errorf("ParseBitRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "25", "25g", "1kpps", "95%", "10gbpsl1", "0bps", "0.5bps", "-1gbps"} {
		if got, err := ParseBitRate(text); err == nil || !strings.Contains(err.Error(), "such as 25gbps") {
			t.Errorf("ParseBitRate(%q) = %v, %v; want an error that shows the form", text, got, err)
		}
	}
}

func TestBitRateReadsBackWhatItPrints(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		want := BitRate(random.Int64N(math.MaxInt64/micro)>>random.IntN(43)) + 1
		if got, err := ParseBitRate(want.String()); got != want {
			t.Fatalf("%d prints as %q, which reads as %d, %v", int64(want), want, int64(got), err)
		}
	}
}

func TestPacketRatePrintsAsARate(t *testing.T) {
	for rate, want := range map[PacketRate]string{0: "0pps", 1: "0.001pps", 1500: "1.5pps", 14_880_952_381: "14.880952381mpps", -1_000_000: "-1kpps"} {
		if got := rate.String(); got != want {
			t.Errorf("PacketRate(%d) prints as %q, want %q", int64(rate), got, want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"1kpps", "14.88mpps", "10gbps", "10gbpsl1", "95%", "9.3tpps", "0.0000001pps", "1..2pps", "%", "bpsl1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := ParseRate(text)
		if err != nil {
			return
		}
		if rate.Micros <= 0 {
			t.Fatalf("%q was accepted as %+v", text, rate)
		}
		if again, err := ParseRate(rate.String()); again != rate {
			t.Fatalf("%q is %+v, prints as %q and reads back as %+v, %v", text, rate, rate, again, err)
		}
	})
}
