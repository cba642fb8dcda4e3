package burstiness

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// cable is a virtual cable in a namespace of its own.
type cable struct {
	ns       *netif.Namespace
	sends    int // a packet socket
	receiver int // the other end's index
}

func newCable(t *testing.T) *cable {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test makes network namespaces and must run as root")
		}
		t.Skip("needs root: it makes network namespaces")
	}
	ns, err := netif.NewNamespace()
	must(t, err)
	t.Cleanup(func() { must(t, ns.Close()) })
	c := &cable{ns: ns}
	must(t, ns.Do(c.lay))
	t.Cleanup(func() { must(t, unix.Close(c.sends)) })
	return c
}

func (c *cable) lay() error {
	for _, family := range []string{"all", "default"} { // its own packets aren't the test's
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+family+"/disable_ipv6", []byte("1"), 0o600); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "near"
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "far"}); err != nil {
		return err
	}
	index := map[string]int{}
	for _, name := range []string{"near", "far"} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return err
		}
		index[name] = l.Attrs().Index
	}
	c.receiver = index["far"]
	if err := carry("near", "far"); err != nil {
		return err
	}
	var err error
	if c.sends, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	return unix.Bind(c.sends, &unix.SockaddrLinklayer{Ifindex: index["near"]})
}

// carry waits until the cable's ends have a carrier: that takes a moment after they were set up, and the kernel silently drops what is sent before.
func carry(ends ...string) error {
	end := time.Now().Add(10 * time.Second)
	for _, name := range ends {
		for {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if l.Attrs().OperState == netlink.OperUp {
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("%s is %s after 10 s, want it up", name, l.Attrs().OperState)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

func (c *cable) record(t *testing.T, room int) *Recorder {
	t.Helper()
	var r *Recorder
	must(t, c.ns.Do(func() (err error) { r, err = Record(c.receiver, room); return err }))
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

func (c *cable) send(t *testing.T, frames int) {
	t.Helper()
	for range frames {
		_, err := unix.Write(c.sends, append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0}, make([]byte, 46)...))
		must(t, err)
	}
}

// await waits until so many frames are noted: they may be on their way when a send returns.
func await(t *testing.T, r *Recorder, frames int) []time.Duration {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if got := r.Arrivals(); len(got) >= frames {
			return got
		}
	}
	t.Fatalf("after 10 s %d frames are noted, want %d", len(r.Arrivals()), frames)
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEachFrameIsNotedOnce(t *testing.T) {
	c := newCable(t)
	r := c.record(t, 100)
	begun := monotonic()
	r.Begin(begun)
	c.send(t, 50)
	got := await(t, r, 50)
	if ended := monotonic(); len(got) != 50 || got[0] < begun || got[49] > ended || !slices.IsSorted(got) {
		t.Errorf("from %v to %v 50 frames came, at %v", begun, ended, got)
	}
}

func TestFramesBeforeTheBeginArentNoted(t *testing.T) {
	c := newCable(t)
	r := c.record(t, 100)
	c.send(t, 10)
	r.Begin(monotonic() + time.Hour)
	c.send(t, 10)
	r.Begin(monotonic())
	c.send(t, 5)
	if got := await(t, r, 5); len(got) != 5 {
		t.Errorf("%d frames are noted, and 5 came after the begin", len(got))
	}
}

func TestFramesBeyondTheRecordersRoomArentNoted(t *testing.T) {
	c := newCable(t)
	r := c.record(t, 7)
	r.Begin(0)
	c.send(t, 6)
	await(t, r, 6)
	if r.Full() {
		t.Error("with 6 of 7 frames it is full")
	}
	c.send(t, 6)
	if got := await(t, r, 7); len(got) != 7 || !r.Full() {
		t.Errorf("of 7 there is room for, %d are noted (full: %v)", len(got), r.Full())
	}
}
