package vitals

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
)

// FromLinkUnderTest returns an error if a caller came in by a link under test, so that answers to it would
// leave by an interface without the address that it called. Callers on links must learn nothing, and no policy
// of the pods' network keeps them out, since Linux accepts a frame for any of its addresses from any interface.
func FromLinkUnderTest(conn net.Conn) error {
	address, caller := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
	routes, err := netlink.RouteGet(caller.AsSlice())
	if err != nil || len(routes) == 0 {
		return errors.Join(fmt.Errorf("nobody knows the way back to %s", caller), err)
	}
	outgoing, err := net.InterfaceByIndex(routes[0].LinkIndex)
	if err != nil {
		return fmt.Errorf("the way back to %s: %w", caller, err)
	}
	if outgoing.Flags&net.FlagLoopback != 0 {
		return nil // it is in the same network namespace
	}
	addresses, err := outgoing.Addrs()
	if err != nil {
		return fmt.Errorf("addresses of %s: %w", outgoing.Name, err)
	}
	if !slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok &&
			n.IP.Equal(address.AsSlice())
	}) {
		return fmt.Errorf("%s asks at %s, and answers to it leave by %s, which hasn't that address", caller, address,
			outgoing.Name)
	}
	return nil
}

func addressOf(a net.Addr) netip.Addr {
	port, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return port.Addr().Unmap()
}
