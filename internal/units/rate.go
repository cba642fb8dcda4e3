package units

// PacketRate is a rate in thousandths of a packet per second, so that 0.001 pps to 9.2 Ppps are exact integers.
type PacketRate int64

// PacketPerSecond is one packet per second.
const PacketPerSecond PacketRate = 1000

// BitRate is a rate in bits per second. The name of its variable or field says which layer's bits it counts.
type BitRate int64

// Bit rates by their usual names.
const (
	BitPerSecond BitRate = 1
	Kbps                 = 1000 * BitPerSecond
	Mbps                 = 1000 * Kbps
	Gbps                 = 1000 * Mbps
)

// RateKind says what a Rate counts.
type RateKind int

// The kinds of rate that can be written in a spec.
const (
	Packets     RateKind = iota // packets per second, as in 1kpps
	Layer2Bits                  // bits per second of frames with FCS, as in 10gbps
	Layer1Bits                  // bits per second on the wire with preamble and gap, as in 10gbpsl1
	LinePercent                 // percent of the layer-1 line rate, as in 95%
)

// Rate is a rate as a person writes it, in TRex's syntax ("1kpps", "14.88mpps", "10gbps", "10gbpsl1", "95%"). It is
// exact. Micros is the value in millionths of Kind's unit. PacketRateOf converts the rate to packets per second,
// which depends on the traffic and the line.
type Rate struct {
	Kind   RateKind
	Micros int64
}

// Ratio is a dimensionless share in parts per billion, so 1_000_000_000 is one. In JSON it is a decimal string such
// as "0.0003".
type Ratio int64

// One is the whole.
const One Ratio = 1_000_000_000

// Percent is a Ratio that people read as a percentage. It counts the same parts per billion of the whole, and in
// JSON it is a decimal string such as "99.95".
type Percent int64
