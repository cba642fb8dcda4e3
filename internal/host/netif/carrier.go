package netif

import (
	"encoding/binary"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Carrier is whether frames can pass an interface, and how often it lost or got its carrier since it was made.
type Carrier struct {
	Up      bool
	Changes int64
}

// CarrierOf reads the carrier of an interface in the calling thread's namespace. The kernel counts its changes
// (IFLA_CARRIER_CHANGES, Linux 3.16), so that none between two readings is missed.
func CarrierOf(link netlink.Link) (Carrier, error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETLINK, 0)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(link.Attrs().Index)
	req.AddData(msg)
	answers, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	if err != nil || len(answers) == 0 {
		return Carrier{}, fmt.Errorf("read the carrier of interface %s: %w", link.Attrs().Name, err)
	}
	message := nl.DeserializeIfInfomsg(answers[0])
	attributes, err := nl.ParseRouteAttr(answers[0][message.Len():])
	if err != nil {
		return Carrier{}, fmt.Errorf("read the carrier of interface %s: %w", link.Attrs().Name, err)
	}
	carrier := Carrier{Up: message.Flags&unix.IFF_RUNNING != 0}
	for _, a := range attributes {
		if a.Attr.Type == unix.IFLA_CARRIER_CHANGES {
			carrier.Changes = int64(binary.NativeEndian.Uint32(a.Value))
		}
	}
	return carrier, nil
}
