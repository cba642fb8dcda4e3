package units

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestApportionAddsUpExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 5_000 {
		rate, weights := PacketRate(random.Int64()>>random.IntN(60)), make([]int64, 1+random.IntN(20))
		var whole int64
		for i := range weights {
			weights[i] = random.Int64N(1000)
			whole += weights[i]
		}
		if whole == 0 {
			continue
		}
		var sum PacketRate
		for i, part := range rate.Apportion(weights...) {
			sum += part
			if off := part - rate.Split(weights[i], whole); off > 1 || off < -1 {
				t.Fatalf("part %d of %v by %v is off by %d thousandths", i, rate, weights, off)
			}
		}
		if sum != rate {
			t.Fatalf("the parts of %v by %v add up to %v", rate, weights, sum)
		}
	}
}

func TestApportion(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rate    PacketRate
		weights []int64
		want    []PacketRate
	}{
		{"thirds of ten", 10, []int64{1, 1, 1}, []PacketRate{3, 4, 3}},
		{"a weight of nothing gets nothing", 10, []int64{0, 1, 0}, []PacketRate{0, 10, 0}},
		{"no weight at all", 10, []int64{0, 0}, []PacketRate{0, 0}},
		{"nobody", 10, nil, []PacketRate{}},
		{"huge weights", 10, []int64{math.MaxInt64, math.MaxInt64}, []PacketRate{5, 5}},
	} {
		if got := tt.rate.Apportion(tt.weights...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestPacketRateArithmetic(t *testing.T) {
	const rate = 1000 * PacketPerSecond
	for name, tt := range map[string]struct{ got, want PacketRate }{
		"a third":              {rate.Split(1, 3), 333_333},
		"two thirds":           {rate.Split(2, 3), 666_667},
		"all of it":            {rate.Split(3, 3), rate},
		"of nothing":           {rate.Split(0, 0), 0},
		"a per mille":          {rate.Mul(One / 1000), PacketPerSecond},
		"the whole":            {rate.Mul(One), rate},
		"half of an odd count": {PacketRate(3).Mul(One / 2), 2},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
	if got := PacketRate(1500).PerSecond(); got != 1.5 {
		t.Errorf("PerSecond: %v", got)
	}
	for rate, want := range map[PacketRate]int64{1499: 1, 1500: 2, 0: 0, -1500: -2} {
		if got := rate.Whole(); got != want {
			t.Errorf("%v is %d whole packets per second, want %d", rate, got, want)
		}
	}
}

func TestPacketRatesInJSON(t *testing.T) {
	for text, want := range map[string]PacketRate{"10000.667": 10_000_667, "0": 0, "0.001": 1, "-1500": -1500 * PacketPerSecond, "9223372036854775.807": math.MaxInt64} {
		var got PacketRate
		err := json.Unmarshal([]byte(text), &got)
		back, backErr := json.Marshal(got)
		if err != nil || got != want || backErr != nil || string(back) != text {
			t.Errorf("%s reads as %d, %v, and prints as %s, %v", text, int64(got), err, back, backErr)
		}
	}
	for _, text := range []string{`"10kpps"`, "0.0001", "1e3", "9223372036854775.808", "{}"} {
		if err := json.Unmarshal([]byte(text), new(PacketRate)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
