package stl_test

import (
	"net/netip"

	"github.com/linerate-dev/linerate/internal/engine"
)

// addressing is a port's side of a link. "" leaves a part out.
func addressing(local, nextHop string, mac engine.MAC) engine.Addressing {
	a := engine.Addressing{NextHopMAC: mac}
	if local != "" {
		a.Local = []netip.Prefix{netip.MustParsePrefix(local)}
	}
	if nextHop != "" {
		a.NextHop = []netip.Addr{netip.MustParseAddr(nextHop)}
	}
	return a
}
