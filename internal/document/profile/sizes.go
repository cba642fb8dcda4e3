package profile

import (
	"fmt"
)

// maxWeight bounds a size's weight, so that every sum over a mix is exact.
const maxWeight = 1_000_000_000

// imix is the simple Internet mix as TRex's own profile sends it, with 361.83 bytes a frame in the mean.
// Over IPv6 its smallest frames are of 78 bytes, as FD.io CSIT has them, since 64 can't hold the headers.
func (s Spec) imix() []MixEntry {
	if s.Source.Addr().Is6() {
		return []MixEntry{{Size: 78, Weight: 28}, {Size: 594, Weight: 16}, {Size: 1518, Weight: 4}}
	}
	return []MixEntry{{Size: 64, Weight: 28}, {Size: 594, Weight: 16}, {Size: 1518, Weight: 4}}
}

// sizes are the profile's frame sizes with their weights.
func (s Spec) sizes() ([]MixEntry, error) {
	switch s.Kind {
	case IMIX:
		return s.imix(), nil
	case FixedSize:
		if err := s.FrameSize.Check(); err != nil {
			return nil, fmt.Errorf("profile %s: %w", FixedSize, err)
		}
		return []MixEntry{{Size: s.FrameSize, Weight: 1}}, nil
	case Mix:
		return s.mixSizes()
	case Streams, PCAP:
	}
	return nil, fmt.Errorf("profile %q is not known: use %s, %s, %s or %s", s.Kind, IMIX, FixedSize, Mix, Streams)
}

func (s Spec) mixSizes() ([]MixEntry, error) {
	if len(s.Mix) == 0 {
		return nil, fmt.Errorf("profile %s has no sizes: write at least one, such as {frameSize: 64, weight: 1}", Mix)
	}
	for i, entry := range s.Mix {
		if err := entry.Size.Check(); err != nil {
			return nil, fmt.Errorf("mix[%d]: %w", i, err)
		}
		if entry.Weight < 1 || entry.Weight > maxWeight {
			return nil, fmt.Errorf("mix[%d]: weight %d is outside 1 to %d", i, entry.Weight, maxWeight)
		}
	}
	return s.Mix, nil
}
