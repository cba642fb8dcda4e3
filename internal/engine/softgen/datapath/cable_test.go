package datapath

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// needKernel skips a test that this machine can't run. In CI it fails instead, so that every test runs there.
func needKernel(t testing.TB, err error, feature string) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("real packets need %s: %v", feature, err)
	default:
		t.Skipf("real packets need %s: %v", feature, err)
	}
}

// receivers are the kinds of receivers. A test that asks for one kind and gets another fails.
//
// Each block of a ring is passed on after a millisecond, so the ring holds at least as many milliseconds as it has
// blocks. The default ring of 64 blocks drops frames where a busy machine leaves its reader waiting for longer.
var receivers = map[string]Options{"counted at traffic control": {}, "counted at XDP": {Receive: ReceiveXDP},
	"counted from a ring": {Plain: true, ReceiveRing: 512 * ringBlock}}

// cable opens two ports joined by a veth in a network namespace of their own, which ends with the test's thread.
func cable(t testing.TB, west, east Options) (Port, Port) {
	t.Helper()
	addCable(t)
	west.Interface, east.Interface = "west", "east"
	return open(t, west), open(t, east)
}

// addCable makes a veth from west to east in a network namespace of its own.
func addCable(t testing.TB) {
	t.Helper()
	enterNamespace(t)
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "west", NumTxQueues: 1, NumRxQueues: 1}, PeerName: "east"}
	needKernel(t, netlink.LinkAdd(veth), "CAP_NET_ADMIN and veth interfaces")
	setUp(t, "west")
	setUp(t, "east")
}

// enterNamespace moves the test to a new network namespace. Its thread isn't given back.
func enterNamespace(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	h, err := netns.New()
	needKernel(t, err, "CAP_SYS_ADMIN for a network namespace")
	t.Cleanup(func() { noError(t, h.Close()) })
	for _, scope := range []string{"all", "default"} { // the kernel's own frames would be counted too
		noError(t, os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/disable_ipv6", []byte("1"), 0o600), os.ErrNotExist)
	}
}

func setUp(t testing.TB, name string) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	noError(t, err)
	noError(t, netlink.LinkSetUp(l))
}

func open(t testing.TB, o Options) Port {
	t.Helper()
	p, err := Open(o)
	noError(t, err)
	t.Cleanup(func() { noError(t, p.Close()) })
	return p
}

func noError(t testing.TB, err error, allowed ...error) {
	t.Helper()
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a condition on real packets holds, a few seconds at most.
func eventually(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; sleep(time.Millisecond) {
		// the clock is read first, so that a test held up past the deadline still checks once more
		late := time.Now().After(deadline)
		if holds() {
			return
		}
		if late {
			t.Fatalf("%s: not within 5 s", condition)
		}
	}
}

// frame is an Ethernet frame of UDP over IPv4, length without FCS.
func frame(length int) []byte {
	f := make([]byte, length)
	copy(f, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 8, 0, 0x45, 0, byte((length - 14) >> 8), byte(length - 14), 0, 1,
		0, 0, 64, 17, 0, 0,
		16, 0, 0, 1, 48, 0, 0, 1, 4, 1, 0, 12, byte((length - 34) >> 8), byte(length - 34), 0, 0})
	rewriteID(f, 14, 1)
	return f
}

func continuous(perSecond float64, f []byte) stream.Stream {
	return stream.Stream{Enabled: true, SelfStart: true, Flags: 3, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: perSecond}},
		Packet: stream.Packet{Binary: f}}
}

func burst(total uint32, perSecond float64, f []byte) stream.Stream {
	s := continuous(perSecond, f)
	s.Mode.Type, s.Mode.TotalPackets = "single_burst", total
	return s
}

func streams(list ...stream.Stream) []RunStream {
	var numbered []RunStream
	for i, s := range list {
		numbered = append(numbered, RunStream{ID: uint32(i + 1), Stream: s})
	}
	return numbered
}

// macOf is the MAC that the far port receives as its own.
func macOf(p Port) [6]byte { return p.Info().MAC }
