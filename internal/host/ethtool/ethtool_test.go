package ethtool_test

import (
	"slices"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/ethtool"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// A veth has queues, offloads and counters, and neither module nor rings nor a clock.
func TestAVeth(t *testing.T) {
	netnstest.RunIn(t, netnstest.New(t), func() error {
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a", NumTxQueues: 2, NumRxQueues: 3}, PeerName: "b",
			PeerNumTxQueues: 2, PeerNumRxQueues: 3}
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		p, err := ethtool.Ask("a")
		if err != nil {
			return err
		}
		if p.Queues.Send != 2 || p.Queues.Receive != 3 || p.Queues.MostReceive != 3 || p.Rings.Receive != 0 || p.HasClock ||
			p.Coalesce.Known || p.Link.HalfDuplex || !slices.Contains(p.Offloads, "tx-tcp-segmentation") {
			t.Errorf("port %+v", p)
		}
		counters, err := ethtool.Counters("a")
		if _, found := counters["peer_ifindex"]; err != nil || !found {
			t.Errorf("counters %v, %v", counters, err)
		}
		if m, err := ethtool.ModuleOf("a"); m != nil || err != nil {
			t.Errorf("module %v, %v", m, err)
		}
		if _, err := ethtool.Ask("nobody"); err == nil {
			t.Error("a port that isn't there has no error")
		}
		return nil
	})
}
