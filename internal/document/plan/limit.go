package plan

import "time"

// Limit is an exact limit per direction. Either rate is set, not both. Bits are layer 2, FCS included.
type Limit struct {
	PacketsPerSecond    int64    `json:"packetsPerSecond,omitempty"`
	Layer2BitsPerSecond int64    `json:"layer2BitsPerSecond,omitempty"`
	Burst               Duration `json:"burst"` // how much unused rate is saved up, as time at the limit
	// Queue is how much may wait behind a limit in bits, as time at the limit. 0 is one frame, so that the limit
	// drops and doesn't delay.
	Queue Duration `json:"queue,omitempty"`
}

// defaultDepth is the burst of a limit that states none.
const defaultDepth = 10 * time.Millisecond

// Depth is how much unused rate is saved up, as time at the limit, which is the burst, or 10 ms where none is
// stated.
func (l Limit) Depth() time.Duration {
	if l.Burst <= 0 {
		return defaultDepth
	}
	return l.Burst.Std()
}

// KnownLimit is the limit of a Reference, the only device with a known limit. It is nil where it isn't known.
func (d DUT) KnownLimit() *Limit {
	if d.Type != "Reference" || d.Reference == nil {
		return nil
	}
	return d.Reference.Limit
}

// SharesGeneratorsKernel says that the device is the kernel of the generator's own machine, and only the machine
// limits it.
func (d DUT) SharesGeneratorsKernel() bool { return d.Type == "Reference" && d.KnownLimit() == nil }
