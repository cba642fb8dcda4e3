package units

import (
	"fmt"
	"math/big"
)

// The Micros of a Rate count millionths of its unit.
const (
	microPlaces = 6
	micro       = 1_000_000
)

// nanosPerSecond converts the spans that callers measure.
const nanosPerSecond = 1_000_000_000

// PacketRateOf converts the rate for traffic of this composition on a line of this layer-1 bit rate, and rounds to
// the nearest thousandth of a packet per second. Only a percentage needs the line, which is 0 where it is unknown.
// PacketRateOf doesn't judge whether the line can carry the rate. LinePacketRate says what a line carries.
func (r Rate) PacketRateOf(mix Traffic, line BitRate) (PacketRate, error) {
	if err := r.convertible(mix, line); err != nil {
		return 0, err
	}
	n, d := r.fraction(mix, line)
	v, ok := quotient(n, d)
	switch {
	case !ok:
		return 0, fmt.Errorf("rate %s is more packets per second than can be counted: ask for less", r)
	case v == 0:
		return 0, fmt.Errorf("rate %s is less than a thousandth of a packet per second: ask for more", r)
	}
	return PacketRate(v), nil
}

func (r Rate) convertible(mix Traffic, line BitRate) error {
	switch {
	case r.Micros <= 0:
		return fmt.Errorf("rate %s is not above zero: %s", r, rateForms)
	case r.Kind != Packets && (mix.Packets <= 0 || mix.Bytes <= 0):
		return fmt.Errorf("rate %s needs traffic with packets in it, to know how many fit", r)
	case r.Kind == LinePercent && line <= 0:
		return fmt.Errorf("rate %s needs a line rate, and none is known: set the link's lineRate (such as 25gbps), or write the rate in pps or bps", r)
	}
	return nil
}

// fraction is the rate in thousandths of a packet per second, as an exact fraction.
func (r Rate) fraction(mix Traffic, line BitRate) (n, d *big.Int) {
	const perMicro = micro / int64(PacketPerSecond)
	switch r.Kind {
	case Layer2Bits:
		return product(r.Micros, mix.Packets), product(perMicro, mix.Layer2Bits())
	case Layer1Bits:
		return product(r.Micros, mix.Packets), product(perMicro, mix.Layer1Bits())
	case LinePercent:
		return product(r.Micros, int64(line), mix.Packets), product(perMicro*100, mix.Layer1Bits())
	case Packets:
	}
	return big.NewInt(r.Micros), big.NewInt(perMicro)
}

// LinePacketRate is how many packets of this composition a line of this layer-1 bit rate carries, to the nearest
// thousandth per second. It is 0 without a line rate or packets. A 10 Gb/s line carries 14 880 952.381 frames of 64
// bytes.
func LinePacketRate(mix Traffic, line BitRate) PacketRate {
	return PacketRate(nearest(product(int64(line), mix.Packets, int64(PacketPerSecond)), big.NewInt(mix.Layer1Bits())))
}

// Layer1 is the bit rate on the wire, preamble and gap included, of traffic of this composition at this packet
// rate, to the nearest bit. It is 0 without packets.
func (r PacketRate) Layer1(mix Traffic) BitRate { return r.bits(mix.Layer1Bits(), mix.Packets) }

// Layer2 is the bit rate of frames with FCS of traffic of this composition at this packet rate, to the nearest bit.
// It is 0 without packets.
func (r PacketRate) Layer2(mix Traffic) BitRate { return r.bits(mix.Layer2Bits(), mix.Packets) }

func (r PacketRate) bits(bits, packets int64) BitRate {
	return BitRate(nearest(product(int64(r), bits), product(int64(PacketPerSecond), packets)))
}

// PacketRateOver is the mean rate of so many packets in so many nanoseconds, to the nearest thousandth. It is 0
// where no time passed.
func PacketRateOver(packets, nanoseconds int64) PacketRate {
	if nanoseconds <= 0 {
		return 0
	}
	return PacketRate(nearest(product(packets, nanosPerSecond, int64(PacketPerSecond)), big.NewInt(nanoseconds)))
}

// BitRateOver is the mean rate of so many bits in so many nanoseconds, to the nearest bit per second. It is 0 where
// no time passed.
func BitRateOver(bits, nanoseconds int64) BitRate {
	if nanoseconds <= 0 {
		return 0
	}
	return BitRate(nearest(product(bits, nanosPerSecond), big.NewInt(nanoseconds)))
}
