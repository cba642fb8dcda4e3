package units

import (
	"fmt"
	"math/big"
)

const packetRatePlaces = 3 // a PacketRate counts thousandths of a packet per second

// MarshalJSON writes packets per second as an exact number, such as 10000.667.
func (r PacketRate) MarshalJSON() ([]byte, error) {
	return []byte(formatDecimal(int64(r), packetRatePlaces)), nil
}

// UnmarshalJSON reads every number that MarshalJSON writes.
func (r *PacketRate) UnmarshalJSON(number []byte) error {
	v, err := parseSigned(string(number), packetRatePlaces)
	if err != nil {
		return fmt.Errorf("packet rate %q %w", number, err)
	}
	*r = PacketRate(v)
	return nil
}

// Split is the share of the rate that part has of total, to the nearest thousandth of a packet per second. It is 0
// where total is 0. Each share is rounded by itself, so all shares together may miss the rate by half a thousandth
// each. Apportion's shares add up exactly.
func (r PacketRate) Split(part, total int64) PacketRate {
	return PacketRate(nearest(product(int64(r), part), big.NewInt(total)))
}

// Apportion divides the rate by weights so that the parts add up to the rate exactly. Every part is the difference
// of two rounded running sums, so no part is off by a whole thousandth of a packet per second. Where all weights
// are 0, all parts are 0.
//
//	weights 1 1 1 of 10:  0 ──3── 3.3 ──4── 6.7 ──3── 10
func (r PacketRate) Apportion(weights ...int64) []PacketRate {
	whole := new(big.Int)
	for _, w := range weights {
		whole.Add(whole, big.NewInt(w))
	}
	parts, sum, reached := make([]PacketRate, len(weights)), new(big.Int), PacketRate(0)
	for i, w := range weights {
		sum.Add(sum, big.NewInt(w))
		end := PacketRate(nearest(new(big.Int).Mul(big.NewInt(int64(r)), sum), whole))
		parts[i], reached = end-reached, end
	}
	return parts
}

// Mul is the ratio's share of the rate, to the nearest thousandth of a packet per second.
func (r PacketRate) Mul(ratio Ratio) PacketRate {
	return PacketRate(nearest(product(int64(r), int64(ratio)), big.NewInt(int64(One))))
}

// PerSecond is the rate as a float of packets per second, for a wire format that wants a float. It is not for
// arithmetic.
func (r PacketRate) PerSecond() float64 { return float64(r) / float64(PacketPerSecond) }

// Whole is the rate in whole packets per second, to the nearest.
func (r PacketRate) Whole() int64 {
	return nearest(big.NewInt(int64(r)), big.NewInt(int64(PacketPerSecond)))
}
