package realpackets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// capturedTest sends the frames of a capture, one way, for 20 000 frames.
const capturedTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: captured}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: PCAP, pcap: {file: office.pcap}, directions: [{from: west, to: east}]}
  procedure: %s
`

// TestTrafficOfACapture: 10 000 frames of five sizes in 300 flows come out of the cable as the capture has them, from
// and to addresses of the lab alone. What is sent is counted by a socket of the device's, which shares nothing with
// linerate.
func TestTrafficOfACapture(t *testing.T) {
	beside(t)
	rig := newRig(t, 2)
	rig.route(t)
	want, file := drawCapture(t, 10_000, 300)
	sniffer := rig.sniff(t, "d0")
	text := fmt.Sprintf(capturedTest, "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 5kpps, warmupDuration: 0s, trialDuration: 4s, trials: 1}}")
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "captured.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rig.report(t, "run", filepath.Join(filepath.Dir(file), "captured.yaml"), "-o", "json", "--save", "", "--ports", rig.portList())
	if r.Ending != report.Completed {
		t.Fatalf("%s: %s", r.Ending, r.Message)
	}
	total := r.Totals[0].Sent.Packets
	got, foreign := sniffer.stop()
	for _, frame := range foreign {
		t.Errorf("a frame left the lab's networks: %s", frame)
	}
	counted := int64(0)
	for kind, captured := range want {
		seen := int64(got[kind])
		counted += seen
		// as many rounds of the capture as were sent, and a part of another one
		if least, most := int64(captured)*(total/10_000), int64(captured)*(total/10_000+1); seen < least-1 || seen > most+1 {
			t.Errorf("%s: %d frames, want %d to %d of %d sent", kind, seen, least, most, total)
		}
	}
	if missing := total - counted; missing != 0 {
		t.Errorf("%d frames were sent, and %d of the capture's kinds were seen", total, counted)
	}
}

// drawCapture writes a capture of TCP and UDP, and counts what of each kind must be seen: size, protocol, hosts by
// their number, and ports.
func drawCapture(t *testing.T, frames, flows int) (want map[string]int, file string) {
	t.Helper()
	want = map[string]int{}
	sizes := []int{64, 128, 594, 1280, 1518}
	order := binary.LittleEndian
	text := append(order.AppendUint32(nil, 0xa1b2c3d4), 2, 0, 4, 0)
	text = order.AppendUint32(order.AppendUint32(append(text, make([]byte, 8)...), 128), 1)
	hosts := [2]map[int]int{{}, {}}
	number := func(side, host int) int {
		if _, known := hosts[side][host]; !known {
			hosts[side][host] = len(hosts[side]) + 1
		}
		return hosts[side][host]
	}
	for range frames {
		flow, size := rand.IntN(flows), sizes[rand.IntN(len(sizes))]
		source, destination, protocol := flow%200, flow%7, []byte{6, 17}[flow%2]
		b := make([]byte, 38)
		binary.BigEndian.PutUint16(b[12:], 0x0800)
		b[14], b[23] = 0x45, protocol
		copy(b[26:], []byte{192, 0, 2, byte(source), 203, 0, 113, byte(destination)})
		binary.BigEndian.PutUint16(b[34:], uint16(1000+flow))
		binary.BigEndian.PutUint16(b[36:], 443)
		text = order.AppendUint32(append(text, make([]byte, 8)...), uint32(len(b)))
		text = append(order.AppendUint32(text, uint32(size-4)), b...)
		want[fmt.Sprintf("%d %d 16.0.0.%d:%d 48.0.0.%d:443", size, protocol, number(0, source), 1000+flow, number(1, destination))]++
	}
	file = filepath.Join(t.TempDir(), "office.pcap")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return want, file
}

// sniffer counts the frames that enter a port of the device: those of the load by their kind, and those from or to
// addresses that aren't the lab's.
type sniffer struct {
	socket  int
	stopped chan struct{}
	done    sync.WaitGroup
	kinds   map[string]int
	foreign []string
}

func (r *rig) sniff(t *testing.T, port string) *sniffer {
	t.Helper()
	s := &sniffer{kinds: map[string]int{}, stopped: make(chan struct{})}
	in(t, r.device, func() error {
		link, err := netlink.LinkByName(port)
		if err != nil {
			return err
		}
		const allFrames = 0x0300 // ETH_P_ALL, in network order
		if s.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, allFrames); err != nil {
			return err
		}
		return errors.Join(unix.Bind(s.socket, &unix.SockaddrLinklayer{Protocol: allFrames, Ifindex: link.Attrs().Index}),
			unix.SetsockoptInt(s.socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20),
			unix.SetsockoptTimeval(s.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}))
	})
	t.Cleanup(func() { _ = unix.Close(s.socket) })
	s.done.Go(s.read)
	return s
}

// read reads until it is stopped and nothing is left.
func (s *sniffer) read() {
	b := make([]byte, 2048)
	for {
		n, from, err := unix.Recvfrom(s.socket, b, 0)
		if err != nil {
			select {
			case <-s.stopped:
				return
			default:
				continue
			}
		}
		if link, is := from.(*unix.SockaddrLinklayer); is && link.Pkttype != unix.PACKET_OUTGOING && n >= 34 {
			s.count(b[:n])
		}
	}
}

func (s *sniffer) count(frame []byte) {
	if binary.BigEndian.Uint16(frame[12:]) != 0x0800 {
		return // ARP
	}
	packet := frame[14:]
	source, destination := netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
	lab := []netip.Prefix{netip.MustParsePrefix(networks[0]), netip.MustParsePrefix(networks[1])}
	if !lab[0].Contains(source) || !lab[1].Contains(destination) {
		s.foreign = append(s.foreign, fmt.Sprintf("%s to %s", source, destination))
		return
	}
	segment := packet[20:binary.BigEndian.Uint16(packet[2:])]
	payload := segment[map[byte]int{6: 20, 17: 8}[packet[9]]:]
	if len(bytes.Trim(payload, "x")) > 0 {
		return // a marked frame, which proves the path before the load
	}
	s.kinds[fmt.Sprintf("%d %d %s:%d %s:%d", len(frame)+4, packet[9], source, binary.BigEndian.Uint16(segment), destination,
		binary.BigEndian.Uint16(segment[2:]))]++
}

// stop returns what was counted.
func (s *sniffer) stop() (kinds map[string]int, foreign []string) {
	close(s.stopped)
	s.done.Wait()
	return s.kinds, s.foreign
}
