package qualify

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// lay makes the ports eth1 and eth2 in a namespace, and runs fn there.
func lay(t *testing.T, ns *netif.Namespace, fn func() error) {
	t.Helper()
	netnstest.RunIn(t, ns, fn)
}

// addCable joins two interfaces, the second one in another namespace where far isn't nil, and sets both up.
func addCable(name, peer string, far *netif.Namespace) error {
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: peer}
	if far != nil {
		veth.PeerNamespace = netlink.NsFd(far.Fd())
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	if err := setLinkUp(name); err != nil {
		return err
	}
	return far.Do(func() error { return setLinkUp(peer) })
}

func setLinkUp(name string) error {
	for _, scope := range []string{"all", "default", name} { // the kernel's own frames would be counted, too
		if err := netif.WriteSysctl("ipv6/conf/"+scope+"/disable_ipv6", "1"); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(l)
}

// short is a window that shows what is there. Figures take longer ones.
const short = 100 * time.Millisecond

// qualify qualifies eth1 and eth2.
func qualify(t *testing.T, ns *netif.Namespace, window time.Duration) (d *Document, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	lay(t, ns, func() error {
		d, err = Run(ctx, Options{Ports: [2]string{"eth1", "eth2"}, Window: window, Producer: "test",
			Progress: t.Logf})
		return nil
	})
	return d, err
}

// find is the first finding of a check whose message contains the words.
func find(d *Document, check, words string) (doctor.Finding, bool) {
	i := slices.IndexFunc(d.Findings, func(f doctor.Finding) bool {
		return f.Check == check && strings.Contains(f.Message, words)
	})
	if i < 0 {
		return doctor.Finding{}, false
	}
	return d.Findings[i], true
}

func demand(t *testing.T, d *Document, level doctor.Level, check, words string) {
	t.Helper()
	if f, found := find(d, check, words); !found || f.Level != level || f.Fix == "" {
		t.Errorf("%s: no finding %q of level %s with a way out: %+v", check, words, level, d.Findings)
	}
}

// A cable of two virtual ports shows each weakness that it has, and is left as it was.
func TestAVirtualCable(t *testing.T) {
	ns := netnstest.New(t)
	lay(t, ns, func() error { return addCable("eth1", "eth2", nil) })
	before := state(t, ns)
	d, err := qualify(t, ns, short)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range []string{"port eth1", "port eth2"} {
		demand(t, d, doctor.Warn, port, "no link speed of its own")
		demand(t, d, doctor.Warn, port, "no hardware queues")
		demand(t, d, doctor.Warn, port, "no ring that can be set")
		demand(t, d, doctor.Warn, port, "stamps no frames")
	}
	for _, way := range d.Directions {
		demand(t, d, doctor.Warn, way.From+"→"+way.To, "no AF_XDP in zero copy")
		for _, p := range way.Paths {
			if p.Name != "zero_copy" && (p.Refused != "" || p.SentPacketsPerSecond == 0 || p.ReceivedPacketsPerSecond == 0) {
				t.Errorf("%s→%s by %s: %+v", way.From, way.To, p.Name, p)
			}
		}
		// the sending end of a veth counts what found no room at the far end
		if o := way.Overload; o == nil || o.Lost == 0 || o.Hidden != 0 || o.CountedByReceiver+o.CountedBySender != o.Lost {
			t.Errorf("%s→%s: overload %+v", way.From, way.To, o)
		}
		if way.Answer == nil || way.Answer.LimitPacketsPerSecond == 0 || way.Answer.ReadPacketsPerSecond == 0 {
			t.Errorf("%s→%s: answer %+v", way.From, way.To, way.Answer)
		}
	}
	if len(d.Directions) != 2 || d.Summary == "" || d.Message == "" || len([]rune(d.Message)) > 160 {
		t.Errorf("%d directions; %q, %q", len(d.Directions), d.Summary, d.Message)
	}
	if after := state(t, ns); after != before {
		t.Errorf("the ports were\n%s\nand are\n%s", before, after)
	}
}

// A receiver whose drops no counter of either port shows: its cable's far end, in another machine as it were, has them.
func TestACardThatHidesDrops(t *testing.T) {
	ns, wire := netnstest.New(t), netnstest.New(t)
	bridge(t, ns, wire)
	d, err := qualify(t, ns, short)
	if err != nil {
		t.Fatal(err)
	}
	demand(t, d, doctor.Fail, "drops of eth1", "no counter that linerate reads shows")
	demand(t, d, doctor.Fail, "drops of eth2", "in a test they look like the device's loss")
	demand(t, d, doctor.Warn, "drops of eth2", "linerate's table of drivers says that veth counts")
	for _, way := range d.Directions {
		if o := way.Overload; o == nil || o.Hidden != o.Lost || o.Lost != o.Sent-o.Received || o.Lost < o.Sent/4 {
			t.Errorf("%s→%s: overload %+v", way.From, way.To, o)
		}
	}
	if d.Findings[0].Level != doctor.Fail || !strings.HasPrefix(d.Message, "A loss that is measured here may not be the device's. First, drops of eth") {
		t.Errorf("%q begins with %+v", d.Message, d.Findings[0])
	}
}

// bridge joins eth1 and eth2 by a switch.
func bridge(t *testing.T, ns, wire *netif.Namespace) {
	t.Helper()
	lay(t, ns, func() error {
		if err := addCable("eth1", "wire1", wire); err != nil {
			return err
		}
		return addCable("eth2", "wire2", wire)
	})
	lay(t, wire, func() error {
		br := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0"}}
		if err := netlink.LinkAdd(br); err != nil {
			return err
		}
		for _, name := range []string{"wire1", "wire2"} {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetMaster(l, br); err != nil {
				return err
			}
		}
		return setLinkUp("br0")
	})
}

func TestACableThatIsNotThere(t *testing.T) {
	ns, far := netnstest.New(t), netnstest.New(t)
	lay(t, ns, func() error {
		if err := addCable("eth1", "eth7", nil); err != nil { // into another port of this machine
			return err
		}
		return addCable("eth2", "other2", far)
	})
	d, err := qualify(t, ns, short)
	if err == nil || !strings.Contains(err.Error(), "no cable from eth1 to eth2: none of 64 numbered frames arrived, and as many "+
		"came in at eth7: connect") {
		t.Errorf("error %v", err)
	}
	if d == nil || len(d.Ports) != 2 || len(d.Directions) != 0 {
		t.Fatalf("document %+v", d)
	}
	demand(t, d, doctor.Fail, "cable", "no cable from eth1 to eth2")
}

// state is what a qualification must not change, as the kernel shows it.
func state(t *testing.T, ns *netif.Namespace) string {
	t.Helper()
	var lines strings.Builder
	lay(t, ns, func() error {
		for _, name := range []string{"eth1", "eth2"} {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			a := l.Attrs()
			filters, err := netlink.FilterList(l, netlink.HANDLE_MIN_INGRESS)
			if err != nil {
				return err
			}
			facts, err := inspectFacts(name)
			if err != nil {
				return err
			}
			lines.WriteString(name + " " + a.Flags.String() + " " + facts)
			if a.Xdp != nil && a.Xdp.Attached || len(filters) > 0 || a.Promisc != 0 {
				lines.WriteString(" and programs")
			}
			lines.WriteString("\n")
		}
		return nil
	})
	return lines.String()
}

// Limits drawn at random are read within 1 % on a machine that is calm.
func TestKnownAnswers(t *testing.T) {
	if !tier.Full {
		t.Skip("full tier: its figures take a calm machine")
	}
	for range 5 {
		ns := netnstest.New(t)
		lay(t, ns, func() error { return addCable("eth1", "eth2", nil) })
		d, err := qualify(t, ns, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range d.Directions {
			if math.Abs(way.Answer.ErrorPercent) > accuracy {
				t.Errorf("%s→%s: %+v", way.From, way.To, way.Answer)
			}
		}
	}
}

func TestTheLimitIsDrawnWithinTheCleanLoad(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		if limit := time.Second.Seconds() / drawLimit(random, 100_000).Seconds(); limit < 1_999 || limit > 20_001 {
			t.Fatalf("a limit of %v", limit)
		}
	}
	if gap := drawLimit(random, 1); gap != 10*time.Millisecond {
		t.Errorf("at a clean load of 1 frame/s: a gap of %v", gap)
	}
}
