package forwarder_test

import (
	"net/netip"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// The kernel drops connections that aren't assured before it refuses a new one, so all of the silent hosts'
// connections are assured.
func TestAFullTableKeepsIdleConnections(t *testing.T) {
	r := newRig(t, 2)
	spec := r.applyMode(t, plan.Mode{NAT: &plan.NATMode{Inside: r.links[0].Interface, Sessions: 1000,
		Translations: []plan.Translation{{Inside: netip.MustParsePrefix("16.0.0.0/24"),
			Outside: netip.MustParsePrefix("198.19.3.0/24")}}}})
	if _, err := forwarder.Reset(r.dut, spec); err != nil { // which tracks them anew
		t.Fatal(err)
	}
	var assured int
	netnstest.RunIn(t, r.dut, func() (err error) {
		assured, err = assuredConnections()
		return err
	})
	if assured != 1000 {
		t.Errorf("%d of 1000 are assured", assured)
	}
}

// assuredConnections counts the tracked connections of IPv4 that have IPS_ASSURED in their CTA_STATUS.
func assuredConnections() (assured int, err error) {
	c, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	const get, status, isAssured = 1, 3, 1 << 2 // IPCTNL_MSG_CT_GET, CTA_STATUS, IPS_ASSURED
	messages, err := c.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.NFNL_SUBSYS_CTNETLINK<<8 | get, Flags: netlink.Request | netlink.Dump},
		Data:   []byte{unix.AF_INET, unix.NFNETLINK_V0, 0, 0},
	})
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		attributes, err := netlink.NewAttributeDecoder(m.Data[4:])
		if err != nil {
			return 0, err
		}
		for attributes.Next() {
			if b := attributes.Bytes(); attributes.Type() == status && b[3]&isAssured != 0 {
				assured++
			}
		}
	}
	return assured, nil
}
