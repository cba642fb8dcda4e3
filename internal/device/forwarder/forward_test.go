package forwarder_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// exchange sends a frame into one link and returns the first frame of its length that comes out of another, or nil
// after a second.
func (r *rig) exchange(t *testing.T, from, to int, frame []byte) []byte {
	t.Helper()
	sender, receiver := r.socket(t, from), r.socket(t, to)
	if _, err := unix.Write(sender, frame); err != nil {
		t.Fatal(err)
	}
	return awaitFrame(t, receiver, func(f []byte) bool { return len(f) == len(frame) })
}

// awaitFrame is the first frame that comes in and matches, or nil after a second.
func awaitFrame(t *testing.T, socket int, matches func([]byte) bool) []byte {
	t.Helper()
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		n, peer, err := unix.Recvfrom(socket, buffer, 0)
		if err != nil {
			return nil
		}
		link, ok := peer.(*unix.SockaddrLinklayer)
		if ok && link.Pkttype != unix.PACKET_OUTGOING && matches(buffer[:n]) {
			return buffer[:n]
		}
	}
	return nil
}

func TestForwarding(t *testing.T) {
	t.Run("a routed IPv4 packet comes out with the device's MAC and a TTL one lower", func(t *testing.T) {
		r := newRig(t, 2)
		r.configure(t, plan.L3, nil)
		sent := frame4(0, 1, 128)
		got := r.exchange(t, 0, 1, sent)
		want := bytes.Clone(sent)
		copy(want, generatorMAC(1))
		copy(want[6:], dutMAC(1))
		want[14+8]--
		binary.BigEndian.PutUint16(want[14+10:], 0)
		binary.BigEndian.PutUint16(want[14+10:], checksum(want[14:34]))
		wantFrame(t, got, want)
	})
	t.Run("a routed IPv6 packet comes out with the device's MAC and a hop limit one lower", func(t *testing.T) {
		r := newRig(t, 2)
		r.configure(t, plan.L3, nil)
		sent := frame6(1, 0, 128)
		got := r.exchange(t, 1, 0, sent)
		want := bytes.Clone(sent)
		copy(want, generatorMAC(0))
		copy(want[6:], dutMAC(0))
		want[14+7]--
		wantFrame(t, got, want)
	})
	t.Run("a bridged frame comes out of its lane unchanged", func(t *testing.T) {
		r := newRig(t, 4)
		r.configure(t, plan.L2, nil)
		sent := frame4(2, 3, 128)
		copy(sent, generatorMAC(3))
		wantFrame(t, r.exchange(t, 2, 3, sent), sent)
		if r.received(t, 0).Packets+r.received(t, 1).Packets != 0 {
			t.Error("the other lane received something too")
		}
	})
	t.Run("a rewritten frame comes out with new MACs and the same TTL", func(t *testing.T) {
		r := newRig(t, 2)
		r.configure(t, plan.MACRewrite, nil)
		sent := frame4(0, 1, 128)
		want := bytes.Clone(sent)
		copy(want, generatorMAC(1))
		copy(want[6:], dutMAC(1))
		wantFrame(t, r.exchange(t, 0, 1, sent), want)
	})
}

func TestAForwarderWithItsOwnCPU(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode)+" forwards segments of one TCP connection one by one", func(t *testing.T) {
			r := newRig(t, 2)
			r.plainGenerator(t)
			r.setUp(t, forwarder.Spec{Forwarding: mode, OwnCPU: true})
			segments := tcpSegments(0, 1, 64, 500)
			for _, s := range segments {
				if mode == plan.L2 {
					copy(s, generatorMAC(1))
				}
			}
			fd := r.socket(t, 0)
			for _, s := range segments {
				if _, err := unix.Write(fd, s); err != nil {
					t.Fatal(err)
				}
			}
			awaitPackets(t, r, 1, int64(len(segments)))
			if got := r.received(t, 1); got.Bytes != got.Packets*500 {
				t.Errorf("received %d bytes in %d frames: not 500 each", got.Bytes, got.Packets)
			}
		})
	}
	t.Run("each link has a thread", func(t *testing.T) {
		r := newRig(t, 2)
		r.plainGenerator(t)
		existing := len(r.threads(t, 0)) + len(r.threads(t, 1))
		r.setUp(t, forwarder.Spec{Forwarding: plan.L3, OwnCPU: true})
		if first, second := len(r.threads(t, 0)), len(r.threads(t, 1)); existing != 0 || first != 1 || second != 1 {
			t.Errorf("%d and %d threads for two links, %d before", first, second, existing)
		}
	})
}

func TestTheThreadOfALinkIsBoundWhereAsked(t *testing.T) {
	r := newRig(t, 2)
	r.plainGenerator(t)
	processors, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	highest := slices.Max(machine.ListProcessors(processors))
	r.links[0].Processor = &highest
	info, err := forwarder.Configure(t.Context(), r.dut, forwarder.Spec{Forwarding: plan.L3, Links: r.links,
		Directions: r.bothWays(), OwnCPU: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("processor %d for %s", highest, r.links[0].Interface); !slices.Contains(info.Applied, want) {
		t.Errorf("applied %q, want %q among it", info.Applied, want)
	}
	for link, want := range []int{1, processors.Count()} {
		var affinity unix.CPUSet
		if err := unix.SchedGetaffinity(r.threads(t, link)[0], &affinity); err != nil {
			t.Fatal(err)
		}
		if !affinity.IsSet(highest) || affinity.Count() != want {
			t.Errorf("the thread of link %d may use %d processors, want %d, processor %d among them", link,
				affinity.Count(), want, highest)
		}
	}
}

// awaitPackets waits until as many packets have arrived, a second at most.
func awaitPackets(t *testing.T, r *rig, link int, want int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Second); r.received(t, link).Packets != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d packets were sent, %d received", want, r.received(t, link).Packets)
		}
	}
}

// threads are the kernel threads that serve a link.
func (r *rig) threads(t *testing.T, link int) (ids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	want := "napi/" + r.links[link].Interface + "-"
	for _, name := range names {
		if comm, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(comm), want) {
			id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	return ids
}

func wantFrame(t *testing.T, got, want []byte) {
	t.Helper()
	if got == nil {
		t.Fatal("nothing came out")
	}
	if !bytes.Equal(got, want) {
		t.Errorf("came out\n%x\nwant\n%x", got, want)
	}
}

func TestTheForwarderAnswersForItsAddressEvenAtOverload(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.MACRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t, 2)
			r.configure(t, mode, &plan.Limit{PacketsPerSecond: 100, Burst: plan.Duration(10 * time.Millisecond)})
			fd := r.socket(t, 0)
			send(t, fd, frames(mode, 0, 1, []int{64}), 20_000, 100*time.Millisecond)
			if reply := r.askMAC(t, 0); !bytes.Equal(reply, dutMAC(0)) {
				t.Errorf("who has 198.18.0.1: %x, want %x", reply, dutMAC(0))
			}
		})
	}
}

// askMAC resolves the forwarder's IPv4 address on a link by ARP (RFC 826).
func (r *rig) askMAC(t *testing.T, link int) []byte {
	t.Helper()
	request := make([]byte, 60)
	copy(request, []byte{255, 255, 255, 255, 255, 255})
	copy(request[6:], generatorMAC(link))
	copy(request[12:], []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 1})
	copy(request[22:], generatorMAC(link))
	copy(request[28:], []byte{198, 18, byte(link), 2})
	copy(request[38:], []byte{198, 18, byte(link), 1})
	fd := r.socket(t, link)
	if _, err := unix.Write(fd, request); err != nil {
		t.Fatal(err)
	}
	reply := awaitFrame(t, fd, func(f []byte) bool { return len(f) >= 42 && f[12] == 8 && f[13] == 6 && f[21] == 2 })
	if reply == nil {
		return nil
	}
	return reply[22:28]
}

func TestTheForwarderSendsNothingByItself(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t, 4)
			r.configure(t, mode, nil)
			time.Sleep(1500 * time.Millisecond) // the kernel sends its first reports earlier
			for i := range r.links {
				if got := r.received(t, i); got.Packets != 0 {
					t.Errorf("link%d received %d packets that nobody asked for", i, got.Packets)
				}
			}
		})
	}
}
