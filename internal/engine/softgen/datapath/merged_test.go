package datapath

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units"
)

// The kernel merges received frames of one flow into one buffer (GRO), and a device that forwards the buffer
// over a veth hands it on unsplit. A wire would have carried, and a card counted, each of its frames.

func TestMergedBuffersAreCountedFrameByFrame(t *testing.T) {
	for name, o := range receivers {
		t.Run(name, func(t *testing.T) {
			for situation, tt := range map[string]struct {
				kind   uint8 // of struct virtio_net_hdr
				header int
				make   func(payload int) []byte
			}{
				"UDP over IPv4":            {gsoUDP, 42, frameUDP},
				"UDP over IPv6":            {gsoUDP, 62, frameUDP6},
				"TCP over IPv4":            {gsoTCP4, 54, frameTCP},
				"TCP over IPv4, VLAN tags": {gsoTCP4, 58, func(n int) []byte { return tagged(frameTCP(n)) }},
			} {
				t.Run(situation, func(t *testing.T) {
					_, b := cable(t, o, o)
					noError(t, b.SetPromiscuous(true))
					const size, payload = 500, 7*500 + 123
					initial := b.Counters()
					handOn(t, "west", tt.kind, size, tt.header, tt.make(payload))
					arrived(t, b, initial, units.Traffic{Packets: 8,
						Bytes: int64(payload + 8*(tt.header+units.FCSBytes))})
					if !b.Info().LinkUp {
						t.Error("the link went down")
					}
				})
			}
		})
	}
}

// In front of XDP the kernel splits a buffer into frames and numbers them, so they aren't all of one flow.
func TestAllFramesOfAMergedBufferCountForTheirFlow(t *testing.T) {
	for name, o := range map[string]Options{"by eBPF": {}, "from a ring": {Plain: true}} {
		t.Run(name, func(t *testing.T) {
			_, b := cable(t, o, o)
			noError(t, b.SetPromiscuous(true))
			whole := frameUDP(5 * 100)
			whole[15] |= 1
			binary.BigEndian.PutUint16(whole[18:], markBase+7)
			mendIP(whole)
			handOn(t, "west", gsoUDP, 100, 42, whole)
			eventually(t, "all are the flow's", func() bool {
				return b.Flows()[7].Received == units.Traffic{Packets: 5, Bytes: 5 * 146}
			})
		})
	}
}

func TestACaptureShowsTheFramesOfAMergedBuffer(t *testing.T) {
	for name, o := range map[string]Options{"by eBPF": {}, "from a ring": {Plain: true}} {
		t.Run(name, func(t *testing.T) {
			_, b := cable(t, o, o)
			noError(t, b.SetPromiscuous(true))
			got := make(chan Frame, 100)
			stop, err := b.Capture(func(f Frame) { got <- f })
			noError(t, err)
			defer stop()
			whole := frameUDP(2*500 + 100)
			for i := range whole[42:] {
				whole[42+i] = byte(i / 500)
			}
			handOn(t, "west", gsoUDP, 500, 42, whole)
			for i, length := range []int{542, 542, 142} {
				want := frameUDP(length - 42)
				copy(want[42:], bytes.Repeat([]byte{byte(i)}, length-42))
				binary.BigEndian.PutUint16(want[18:], binary.BigEndian.Uint16(want[18:])+uint16(i))
				mendIP(want)
				mendUDP(want)
				if f := <-got; !bytes.Equal(f.Bytes, want) {
					t.Errorf("frame %d is\n%x, want\n%x", i+1, f.Bytes, want)
				}
			}
		})
	}
}

// These are the kinds of struct virtio_net_hdr (include/uapi/linux/virtio_net.h).
const (
	gsoTCP4 = 1
	gsoUDP  = 5
)

// handOn sends one buffer of several frames of size bytes of payload each, as a device does that has merged them.
func handOn(t *testing.T, iface string, kind uint8, size, header int, frame []byte) {
	t.Helper()
	l, err := facts(iface)
	noError(t, err)
	fd, err := packetSocket(iface, l.Attrs().Index)
	noError(t, err)
	defer func() { noError(t, unix.Close(fd)) }()
	noError(t, unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1))
	// a frame that bypasses the queue can't be split into segments
	noError(t, unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 0))
	transport := 34
	switch header {
	case 62:
		transport = 54
	case 58:
		transport = 38
	}
	offset := uint16(6)
	if kind == gsoTCP4 {
		offset = 16
	}
	head := []byte{1, kind} // VIRTIO_NET_HDR_F_NEEDS_CSUM
	for _, v := range []uint16{uint16(header), uint16(size), uint16(transport), offset} {
		head = binary.NativeEndian.AppendUint16(head, v)
	}
	_, err = unix.Write(fd, append(head, frame...))
	noError(t, err)
}

// frameUDP is an unfragmentable frame of UDP over IPv4 with this much payload.
func frameUDP(payload int) []byte {
	f := frame(42 + payload)
	binary.BigEndian.PutUint16(f[16:], uint16(28+payload))
	binary.BigEndian.PutUint16(f[38:], uint16(8+payload))
	f[20] = 0x40
	mendIP(f)
	return f
}

func frameUDP6(payload int) []byte {
	f := append(frame(60)[:12], 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 17, 64)
	f = append(f, bytes.Repeat([]byte{0x20, 1, 0, 2}, 8)...)
	f = append(f, 4, 1, 0, 12, 0, 0, 0, 0)
	binary.BigEndian.PutUint16(f[18:], uint16(8+payload))
	binary.BigEndian.PutUint16(f[58:], uint16(8+payload))
	return append(f, make([]byte, payload)...)
}

func frameTCP(payload int) []byte {
	f := append(frame(60)[:34], 4, 1, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0)
	f[23] = 6
	binary.BigEndian.PutUint16(f[16:], uint16(40+payload))
	mendIP(f)
	return append(f, make([]byte, payload)...)
}

func tagged(f []byte) []byte {
	return append(append(append([]byte{}, f[:12]...), 0x81, 0, 0, 100), f[12:]...)
}

func mendIP(f []byte) {
	binary.BigEndian.PutUint16(f[24:], 0)
	binary.BigEndian.PutUint16(f[24:], ^onesSum(f[14:34], 0))
}

func mendUDP(f []byte) {
	binary.BigEndian.PutUint16(f[40:], 0)
	binary.BigEndian.PutUint16(f[40:], ^onesSum(f[34:], uint32(onesSum(f[26:34], uint32(17+len(f)-34)))))
}

func onesSum(b []byte, sum uint32) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
