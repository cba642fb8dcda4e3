package units

// Layer1OverheadBytes is what each Ethernet frame occupies on the wire besides itself, which is 7 bytes of
// preamble, 1 start delimiter and 12 bytes of inter-frame gap (IEEE 802.3).
const Layer1OverheadBytes = 20

// FCSBytes is the frame check sequence at the end of each Ethernet frame. Frame sizes here include it.
const FCSBytes = 4

// Traffic is a stretch of traffic, with the number of its frames and the bytes of all frames, FCS included. It
// stands for a reading of counters, for the difference of two, and for the composition of a profile (IMIX is
// {Packets: 48, Bytes: 17368}).
type Traffic struct {
	Packets int64 `json:"packets"`
	Bytes   int64 `json:"bytes"`
}

// Layer2Bits is the traffic's size as Ethernet counts it, in frames with FCS.
func (t Traffic) Layer2Bits() int64 { return t.Bytes * 8 }

// Layer1Bits is what the traffic occupies on the wire, with preamble and inter-frame gap.
func (t Traffic) Layer1Bits() int64 { return (t.Bytes + t.Packets*Layer1OverheadBytes) * 8 }

// Add is the traffic of both.
func (t Traffic) Add(o Traffic) Traffic { return Traffic{t.Packets + o.Packets, t.Bytes + o.Bytes} }

// Sub is what t has more than an earlier reading o.
func (t Traffic) Sub(o Traffic) Traffic { return Traffic{t.Packets - o.Packets, t.Bytes - o.Bytes} }
