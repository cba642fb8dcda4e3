package units

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseShare(t *testing.T) {
	for text, want := range map[string]Ratio{
		"0.1%": 1_000_000, "100%": One, "0%": 0, "0.0000001%": 1, "00.50%": 5_000_000, "100.0000000%": One,
	} {
		if got, err := ParseShare(text); err != nil || got != want {
			t.Errorf("ParseShare(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, because := range map[string]string{
		"": "a number with a percent sign", "%": "a number with a percent sign", "-0.1%": "a number with a percent sign",
		"a": "a number with a percent sign", "1e-3": "a number with a percent sign", ".5%": "a number with a percent sign", "0.1 %": "a number with a percent sign",
		"0.00000001%": "a multiple of 0.0000001%", "100.0000001%": "at most the whole", "101%": "at most the whole", "99999999999999999999%": "at most the whole",
		"0.001": "write 0.1%", "0": "write 0%", "0.5": "write 50%", "95": "write 95%", "2.50": "write 2.50%", "100": "write 100%", "1": "write 1%, or 100% for the whole",
		"0.0000000001": "write 0% to 100%", "101": "write 0% to 100%", "99999999999999999999": "write 0% to 100%",
	} {
		if got, err := ParseShare(text); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("ParseShare(%q) = %v, %v; want an error with %q", text, got, err, because)
		}
	}
}

func TestRatioOf(t *testing.T) {
	for _, tt := range []struct {
		part, whole int64
		want        string
	}{
		{0, 0, "0"}, {5, 0, "0"}, {1, 1000, "0.001"}, {1, 3, "0.333333333"}, {2, 3, "0.666666667"}, {3, 2, "1.5"}, {-1, 1000, "-0.001"},
		{1, 2_000_000_000, "0.000000001"}, {1, 2_000_000_001, "0"}, {math.MaxInt64, math.MaxInt64, "1"}, {math.MinInt64, math.MaxInt64, "-1"},
	} {
		if got := RatioOf(tt.part, tt.whole).String(); got != tt.want {
			t.Errorf("%d of %d is %s, want %s", tt.part, tt.whole, got, tt.want)
		}
	}
}

func TestPercentOf(t *testing.T) {
	for _, tt := range []struct {
		part, whole int64
		want, fixed string
	}{
		{9995, 10000, "99.95", "99.95"}, {1, 3, "33.3333333", "33.33"}, {2, 3, "66.6666667", "66.67"}, {10, 10, "100", "100.00"},
		{11, 10, "110", "110.00"}, {0, 10, "0", "0.00"}, {1, 0, "0", "0.00"}, {-1, 200, "-0.5", "-0.50"},
	} {
		got := PercentOf(tt.part, tt.whole)
		if got.String() != tt.want || got.FormatFixed() != tt.fixed {
			t.Errorf("%d of %d is %s (%s), want %s (%s)", tt.part, tt.whole, got, got.FormatFixed(), tt.want, tt.fixed)
		}
	}
	if got := Percent(999_500_000).Ratio().String(); got != "0.9995" {
		t.Errorf("the same share as a ratio: %s", got)
	}
}

func TestPercentOfShareHoldsAnyShare(t *testing.T) {
	for share, want := range map[float64]Percent{0.0302: 3*Hundred/100 + Hundred/5000, -1: -Hundred, 2: 2 * Hundred} {
		if got := PercentOfShare(share); got != want {
			t.Errorf("%g is %s, want %s", share, got, want)
		}
	}
	if high, low := PercentOfShare(math.Inf(1)), PercentOfShare(math.Inf(-1)); high <= Hundred || low != -high {
		t.Errorf("beyond what a percentage can hold lie %s and %s", low, high)
	}
}

func TestRatiosInJSON(t *testing.T) {
	type document struct {
		Loss Ratio
		Line Percent
	}
	for text, want := range map[string]document{
		`{"Loss":"0.0003","Line":"99.95"}`:       {300_000, 999_500_000},
		`{"Loss":"-0.5","Line":"-12.3456789"}`:   {-500_000_000, -123_456_789},
		`{"Loss":"1.5","Line":"250"}`:            {1_500_000_000, 2_500_000_000},
		`{"Loss":"0","Line":"0"}`:                {},
		`{"Loss":"0.000000001","Line":"1e-7"}`:   {Loss: -1}, // refused below
		`{"Loss":"0,1","Line":"1"}`:              {Loss: -1},
		`{"Loss":"0.0000000001","Line":"1"}`:     {Loss: -1},
		`{"Loss":"1","Line":"99999999999999"}`:   {Loss: -1},
		`{"Loss":"--1","Line":"99999999999999"}`: {Loss: -1},
	} {
		var got document
		err := json.Unmarshal([]byte(text), &got)
		if want.Loss == -1 {
			if err == nil {
				t.Errorf("%s was accepted as %+v", text, got)
			}
			continue
		}
		back, backErr := json.Marshal(got)
		if err != nil || got != want || backErr != nil || string(back) != text {
			t.Errorf("%s reads as %+v, %v, and prints as %s, %v", text, got, err, back, backErr)
		}
	}
}

func TestRatioReadsBackWhatItPrints(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		want := Ratio(random.Int64N(int64(One) + 1))
		var read Ratio
		if err := read.UnmarshalText([]byte(want.String())); read != want {
			t.Fatalf("%d prints as %s, which reads as %d, %v", int64(want), want, int64(read), err)
		}
		if got, err := ParseShare(want.Percent().String() + "%"); got != want {
			t.Fatalf("%d is %s%%, which reads as %d, %v", int64(want), want.Percent(), int64(got), err)
		}
	}
}

func FuzzParseShare(f *testing.F) {
	for _, seed := range []string{"0.1%", "0.001", "1%", "100%", "101%", "-1%", "0.00000001%", "..%", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		share, err := ParseShare(text)
		if err != nil {
			return
		}
		if share < 0 || share > One {
			t.Fatalf("%q was accepted as %d", text, share)
		}
		if again, err := ParseShare(share.Percent().String() + "%"); again != share {
			t.Fatalf("%q prints as %s%% and reads back as %v, %v", text, share.Percent(), again, err)
		}
	})
}
