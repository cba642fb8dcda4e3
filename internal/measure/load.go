package measure

import "github.com/linerate-dev/linerate/internal/units"

// arpBytes is the length of an ARP frame that wasn't padded, with FCS. No frame of a load is so short (SizesOf).
const arpBytes = 46

// OfLoad is the part of a port's count between two readings that is the direction's load. A generator that answers
// ARP may count the frame as sent, and take it back in a later reading. The device's own ARP frames come back among
// the load, and a kernel interface counts them unpadded. Where all frames of the load have one length, bytes tell
// how many they are.
//
//	513 frames, 32,814 bytes = 512 × 64 + 46: one is ARP
//
// Only a few frames are taken for ARP, as other reasons for missing bytes concern each frame. Where the device
// changes lengths, or a load has several, nothing is taken out.
func (d Direction) OfLoad(counted units.Traffic) units.Traffic {
	s := d.Sizes.Shortest
	if d.Reshapes || s == 0 || s != d.Sizes.Longest {
		return counted
	}
	missing, frameBytes := counted.Packets*s-counted.Bytes, s-arpBytes
	frames, allowed := missing/frameBytes, 2+counted.Packets/1000
	if missing%frameBytes != 0 || frames < -allowed || frames > allowed {
		return counted
	}
	return counted.Sub(units.Traffic{Packets: frames, Bytes: frames * arpBytes})
}
