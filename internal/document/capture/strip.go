package capture

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/units"
)

// mostStripped is how many frames Strip takes.
const mostStripped = 1 << 20

// Strip writes a capture of which each frame has its length, addresses, protocol and ports alone: no times, no
// payload, no MAC addresses. A frame that can't be sent anew is refused with its number.
func Strip(w io.Writer, r io.Reader) error {
	unpacked, err := intake.Stream(r)
	if err != nil {
		return fmt.Errorf("not packed with gzip: %w", err)
	}
	out := writer{w}
	if err := out.header(); err != nil {
		return err
	}
	return Read(unpacked, func(f Frame) error {
		switch {
		case f.NotIP != "":
			return fmt.Errorf("frame %d can't be sent anew: %s: %s", f.Number, f.NotIP, WayOut)
		case f.Size > units.MaxFrameSize:
			return fmt.Errorf("frame %d: %w", f.Number, tooLong(f.Size))
		case f.Number > mostStripped:
			return fmt.Errorf("it has more than %d frames: take a part (tcpdump -r FILE -w NEW -c %[1]d)", mostStripped)
		}
		b := f.headers()
		return out.frame(b, max(len(b), int(f.Size)-units.FCSBytes))
	})
}

// WayOut is how to take out of a capture what can't be sent.
const WayOut = "leave such frames out (tcpdump -r FILE -w NEW 'not ether multicast and (tcp or udp or icmp or icmp6)'), " +
	"or take the sizes alone (linerate mix FILE)"

// snapLength is the most that is left of a frame: Ethernet, IPv6 and ports.
const snapLength = ethernetBytes + 40 + 4

// headers are the frame's first bytes, as Read reads them.
func (f Frame) headers() []byte {
	b := make([]byte, snapLength)
	ip := b[ethernetBytes:]
	if f.Flow.Source.Is4() {
		binary.BigEndian.PutUint16(b[12:], 0x0800)
		ip[0], ip[9] = 4<<4|5, f.Flow.Protocol
		copy(ip[12:], f.Flow.Source.AsSlice())
		copy(ip[16:], f.Flow.Destination.AsSlice())
		b = b[:ethernetBytes+20+4]
	} else {
		binary.BigEndian.PutUint16(b[12:], 0x86dd)
		ip[0], ip[6] = 6<<4, f.Flow.Protocol
		copy(ip[8:], f.Flow.Source.AsSlice())
		copy(ip[24:], f.Flow.Destination.AsSlice())
	}
	binary.BigEndian.PutUint16(b[len(b)-4:], f.Flow.SourcePort)
	binary.BigEndian.PutUint16(b[len(b)-2:], f.Flow.DestinationPort)
	return b
}
