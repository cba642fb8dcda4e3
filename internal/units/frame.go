package units

import "fmt"

// FrameSize is the size of an Ethernet frame in bytes, FCS included, as RFC 2544 and data sheets count it.
type FrameSize int

// The sizes that can be asked for.
const (
	// MinFrameSize is Ethernet's own minimum (IEEE 802.3). A shorter frame is a runt, which every receiver drops.
	MinFrameSize FrameSize = 64
	// MaxFrameSize is the jumbo frame that nearly all ports and switches agree on, an MTU of 9000 with room for
	// tags and tunnels.
	MaxFrameSize FrameSize = 9216
)

// Check refuses a size that no port is sure to carry.
func (f FrameSize) Check() error {
	if f < MinFrameSize || f > MaxFrameSize {
		return fmt.Errorf("frame size %d is outside %d to %d bytes (FCS included): Ethernet drops shorter frames, and ports rarely carry longer ones",
			f, MinFrameSize, MaxFrameSize)
	}
	return nil
}

// Traffic is one frame of this size.
func (f FrameSize) Traffic() Traffic { return Traffic{Packets: 1, Bytes: int64(f)} }
