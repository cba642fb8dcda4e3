package impaired

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// rig is a tester on both sides of a device, with a namespace of its own.
type rig struct {
	tester *netif.Namespace
	device *Device
	sends  [2]*outlet
	sent   [2]int64 // frames into each port, by now
	hears  [2]*ring
}

func newRig(t *testing.T, ports ...Impairment) *rig {
	t.Helper()
	s := Spec{}
	copy(s.Ports[:], ports)
	return newRigOf(t, s)
}

// newRigOf is a rig of a Spec, whose interfaces it sets.
func newRigOf(t *testing.T, s Spec) *rig {
	t.Helper()
	netnstest.Root(t)
	r, device := &rig{tester: space(t)}, space(t)
	for i := range 2 {
		generatorEnd, deviceEnd := fmt.Sprintf("g%d", i), fmt.Sprintf("d%d", i)
		noError(t, r.tester.Do(func() error {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = generatorEnd
			if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: deviceEnd,
				PeerNamespace: netlink.NsFd(device.Fd())}); err != nil {
				return err
			}
			return setUp(generatorEnd)
		}))
		noError(t, device.Do(func() error { return setUp(deviceEnd) }))
	}
	s.Interfaces = [2]string{"d0", "d1"}
	var err error
	r.device, err = Start(device, s)
	noError(t, err)
	t.Cleanup(func() { noError(t, r.device.Close()) })
	noError(t, r.tester.Do(r.plug))
	return r
}

// plug opens the tester's ports.
func (r *rig) plug() error {
	for i := range 2 {
		link, err := netlink.LinkByName(fmt.Sprintf("g%d", i))
		if err != nil {
			return err
		}
		if r.sends[i], err = openOutlet(link.Attrs().Index); err != nil {
			return err
		}
		if r.hears[i], err = openRing(link.Attrs().Index); err != nil {
			return err
		}
	}
	return nil
}

func space(t *testing.T) *netif.Namespace {
	t.Helper()
	ns, err := netif.NewNamespace()
	noError(t, err)
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

func setUp(name string) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o600); err != nil {
		return fmt.Errorf("silence %s: %w", name, err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Where a tester's frame has its number, and when it was sent.
const (
	numberAt   = 42
	sentAt     = 50
	frameBytes = 60
)

// send offers frames to a port at a rate, each of the next of four flows, and returns how many.
func (r *rig) send(t *testing.T, port int, perSecond float64, d time.Duration) (n int64) {
	t.Helper()
	begin := wallClock()
	var frames [batch][frameBytes]byte
	for clock := begin; clock < begin+d; clock = wallClock() {
		due := int64(perSecond * (clock - begin).Seconds())
		for b := 0; n < due && b < batch; b, n = b+1, n+1 {
			f := &frames[b]
			f[12], f[14], f[23], f[37] = 8, 0x45, 17, byte(n%4)
			binary.BigEndian.PutUint64(f[numberAt:], uint64(n))
			binary.BigEndian.PutUint64(f[sentAt:], uint64(clock))
			r.sends[port].add(f[:])
		}
		if _, refused := r.sends[port].flush(); refused > 0 {
			t.Fatalf("%d frames aren't sent", refused)
		}
		if ahead := time.Duration(float64(n+1)/perSecond*float64(time.Second)) - (wallClock() - begin); ahead > 0 {
			time.Sleep(min(ahead, time.Millisecond))
		}
	}
	r.sent[port] += n
	return n
}

// heard is a frame that came out of the device.
type heard struct {
	number         int64
	flow           byte
	sent, received time.Duration
}

// counts waits until all that was sent has come and nothing is inside, and holds that all that came, and all
// that left, is accounted for.
func (r *rig) counts(t *testing.T) [2]Counts {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		counts, err := r.device.Counts()
		noError(t, err)
		if counts[0].Inside == 0 && counts[1].Inside == 0 && counts[0].Came >= r.sent[0] &&
			counts[1].Came >= r.sent[1] {
			return counts
		}
		if time.Now().After(end) {
			t.Fatalf("after 10 s some of %v frames are still on their way or inside: %+v", r.sent, counts)
		}
	}
}

// hear is all that came out by now at a port.
func (r *rig) hear(t *testing.T, port int) (frames []heard) {
	t.Helper()
	for {
		c, ok := r.hears[port].read()
		if !ok {
			return frames
		}
		if len(c.frame) != frameBytes {
			t.Fatalf("a frame of %d bytes came out, want %d", len(c.frame), frameBytes)
		}
		frames = append(frames, heard{int64(binary.BigEndian.Uint64(c.frame[numberAt:])), c.frame[37],
			time.Duration(binary.BigEndian.Uint64(c.frame[sentAt:])), c.arrival})
		r.hears[port].release(c.slot)
	}
}
