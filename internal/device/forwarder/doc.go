// Package forwarder is the Reference device under test, the Linux kernel as it forwards between interfaces. The
// package sets up links, routes and, where asked, an exact limit, all through netlink, and then has nothing
// more to do. The kernel forwards until the namespace ends.
//
//	               DUT namespace
//	    west ┌─────────────────────────┐ east
//	────────▶│ count → forward → shape │────────▶
//	         │   │                 │   │
//	         │   packets/s      bits/s │
//	         └─────────────────────────┘
//
// A limit in packets is enforced where frames come in (an nftables limit per source link), so that frames over
// it aren't forwarded first. A limit in bits is enforced where frames go out (a token bucket queue per
// destination link), as nftables' byte limits allow a burst of a whole second at least and so don't hold within
// a step.
package forwarder
