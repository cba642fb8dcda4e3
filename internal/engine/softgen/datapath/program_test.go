package datapath

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// stream.KeepsLinkUp looks for these, beside lists of values.
const (
	igmp           = 2
	hopByHop       = 0   // IPv6 options for each router
	firstOfLink    = 130 // of ICMPv6's types for one link
	lastOfLink     = 137
	listenerReport = 143
	mostTags       = 2 // in front of an IP header
)

// hooks are the hooks of the counting program.
var hooks = map[string]hook{"traffic control": tcHook(), "XDP": xdpHook()}

// loaded is the unattached counting program. The kernel runs it on given frames.
func loaded(t testing.TB, h hook, follow bool) *kernelReceiver {
	t.Helper()
	r := &kernelReceiver{sink: stuck{}, mac: [6]byte{2, 0, 0, 0, 0, 1}}
	needKernel(t, r.load(h, follow), "eBPF (CAP_BPF and CAP_NET_ADMIN)")
	t.Cleanup(func() { noError(t, r.close()) })
	noError(t, r.selectFrames(frameSelection{promiscuous: true}))
	return r
}

// takes runs the program on a frame.
func (r *kernelReceiver) takes(t testing.TB, frame []byte) {
	t.Helper()
	_, _, err := r.program.Test(frame)
	noError(t, err)
}

// TestTheProgramInspectsAsGoDoes gives the program frames that differ little from marked frames and strays.
func TestTheProgramInspectsAsGoDoes(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			r, random := loaded(t, h, false), rand.New(rand.NewPCG(1, 2))
			var want receiveCounts
			flows := map[uint32]units.Traffic{}
			single := func(length int) units.Traffic { return units.Traffic{Packets: 1, Bytes: wireLength(length)} }
			for range 20_000 {
				f := anyFrame(random)
				r.takes(t, f)
				want.received = want.received.Add(single(len(f)))
				class := inspect(f)
				if class.stray {
					want.strays = want.strays.Add(single(len(f)))
				}
				if class.class == flowFrame {
					flows[class.id] = flows[class.id].Add(single(len(f)))
				}
				if got := r.mark()(); got != want {
					t.Fatalf("after\n% x\n%+v counted, want %+v: Go sees %+v", f, got, want, class)
				}
			}
			r.flows(func(id uint32, received units.Traffic) {
				if received != flows[id] {
					t.Errorf("flow %d received %+v, want %+v", id, received, flows[id])
				}
				delete(flows, id)
			})
			if len(flows) > 0 {
				t.Errorf("%d flows more were received", len(flows))
			}
		})
	}
}

// anyFrame is a frame with up to two VLAN tags. Its deciding bytes are chosen among those that have a meaning.
func anyFrame(r *rand.Rand) []byte {
	pick := func(choices ...byte) byte { return choices[r.IntN(len(choices))] }
	f := make([]byte, 12, 200)
	f[0] = pick(0, 0, 0, 1, 2, 255)
	for range r.IntN(mostTags + 1) {
		f = append(f, [][]byte{{0x81, 0, 0, 7}, {0x88, 0xa8, 1, 1}}[r.IntN(2)]...)
	}
	network := len(f) + 2
	f = append(f, [][]byte{{8, 0}, {8, 0}, {0x86, 0xdd}, {0x86, 0xdd}, {8, 6}, {0x88, 0xcc}, {0x88, 0x09}, {0x90, 0},
		{0x80, 0x35}, {5, 0xff}, {6, 0}, {0x88, 0xb5}}[r.IntN(12)]...)
	f = append(f, make([]byte, 48+r.IntN(100))...)
	f[network] = pick(0x45, 0x60)
	f[network+1] = pick(0, 1, 0x10, 0x11, 0xff)
	f[network+2], f[network+4] = pick(0, 0xfb, 0xfc, 0xfd, 0xff), pick(0, 0xfb, 0xfc, 0xfd, 0xff)
	f[network+3], f[network+5] = byte(r.Uint32()), pick(0, 7, 0xfe, 0xff)
	f[network+6] = pick(0, 17, 17, icmpv6, 6, 89, 112)
	f[network+7], f[network+8] = pick(64, 255), pick(64, 255)
	f[network+9] = pick(igmp, 17, 17, 6, 89, 112)
	f[network+22], f[network+23] = pick(0x0e, 0x12), pick(0xc7, 0xc8, 0xc9, 0xb0)
	f[network+42], f[network+43] = pick(0x0e, 0x12), pick(0xc7, 0xc8, 0xc9, 0xb0)
	f[network+40] = pick(0, icmpv6, 128, firstOfLink-1, firstOfLink, neighbourSolicitation, lastOfLink, lastOfLink+1,
		listenerReport, 17)
	return f
}

// TestTheProgramKnowsAllLinkUpkeepThatGoKnows gives the program each Ethernet type, each protocol and each UDP port.
func TestTheProgramKnowsAllLinkUpkeepThatGoKnows(t *testing.T) {
	ipv4, ipv6 := []byte{8, 0, 0x45}, []byte{0x86, 0xdd, 0x60}
	fields := map[string]struct {
		frame  func(value uint16) []byte
		values int
	}{
		"Ethernet type": {func(v uint16) []byte { return patched(frame(120), 12, byte(v>>8), byte(v)) }, 1 << 16},
		"IPv4 protocol": {func(v uint16) []byte { return patched(patched(frame(120), 12, ipv4...), 23, byte(v)) },
			1 << 8},
		"IPv6 protocol": {func(v uint16) []byte { return patched(patched(frame(120), 12, ipv6...), 20, byte(v)) },
			1 << 8},
		"ICMPv6 type": {func(v uint16) []byte {
			return patched(patched(patched(frame(120), 12, ipv6...), 20, icmpv6), 54, byte(v))
		}, 1 << 8},
		"port over IPv4": {func(v uint16) []byte {
			return patched(patched(patched(frame(120), 12, ipv4...), 22, stream.BFDTTL, 17), 36, byte(v>>8), byte(v))
		}, 1 << 16},
		"port over IPv6": {func(v uint16) []byte {
			return patched(patched(patched(frame(120), 12, ipv6...), 20, 17, stream.BFDTTL), 56, byte(v>>8), byte(v))
		}, 1 << 16},
	}
	for name, h := range hooks {
		for field, c := range fields {
			t.Run(field+" at "+name, func(t *testing.T) {
				r, strays := loaded(t, h, false), int64(0)
				for value := range c.values {
					f := c.frame(uint16(value))
					if inspect(f).stray {
						strays++
					}
					r.takes(t, f)
					if got := r.mark()().strays.Packets; got != strays {
						t.Fatalf("%s %#x: the program counts %d strays, Go %d", field, value, got, strays)
					}
				}
			})
		}
	}
}

// patched is a frame with other bytes from an offset on.
func patched(f []byte, offset int, b ...byte) []byte {
	copy(f[offset:], b)
	return f
}

func TestTheProgramCountsOnlyThePortsOwnFrames(t *testing.T) {
	h := xdpHook() // the other hook relies on the kernel's description of the frame
	r := loaded(t, h, false)
	for name, c := range map[string]struct {
		destination []byte
		promiscuous bool
		want        int64
	}{
		"our own":                        {[]byte{2, 0, 0, 0, 0, 1}, false, 1},
		"everybody's":                    {[]byte{255, 255, 255, 255, 255, 255}, false, 1},
		"a group's":                      {[]byte{1, 0, 94, 0, 0, 1}, false, 1},
		"another's at the end":           {[]byte{2, 0, 0, 0, 0, 2}, false, 0},
		"another's at the beginning":     {[]byte{4, 0, 0, 0, 0, 1}, false, 0},
		"another's, of who looks at all": {[]byte{4, 0, 0, 0, 0, 1}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			noError(t, r.selectFrames(frameSelection{promiscuous: c.promiscuous}))
			initial := r.mark()().received.Packets
			f := frame(60)
			copy(f, c.destination)
			r.takes(t, f)
			if got := r.mark()().received.Packets - initial; got != c.want {
				t.Errorf("%d counted, want %d", got, c.want)
			}
		})
	}
}

// TestTheProgramNeedsNoMoreThanTheRightToLoadIt has the kernel check the program for a user without
// CAP_SYS_ADMIN and CAP_PERFMON, whose addresses are checked more strictly.
func TestTheProgramNeedsNoMoreThanTheRightToLoadIt(t *testing.T) {
	for name, h := range hooks {
		for variant, follow := range map[string]bool{"stamps up the ring": false, "stamps followed": true} {
			t.Run(name+", "+variant, func(t *testing.T) {
				keepCapabilities(t, unix.CAP_BPF, unix.CAP_NET_ADMIN)
				loaded(t, h, follow).takes(t, frame(60))
			})
		}
	}
}

// keepCapabilities takes all other capabilities from the test's thread, which isn't used again.
func keepCapabilities(t *testing.T, capabilities ...int) {
	t.Helper()
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for _, c := range capabilities {
		data[c/32].Effective |= 1 << (c % 32)
		data[c/32].Permitted |= 1 << (c % 32)
	}
	needKernel(t, unix.Capset(&header, &data[0]), "these rights")
}
