// Package aside keeps a generator's control port unreachable from the links under test. A host on a link, the
// device above all, can send to any of the machine's addresses, and no NetworkPolicy of the pods' network applies
// there.
//
//	pods' network ──▶ eth0 ─┐
//	this machine  ──▶ lo   ─┼─▶ listener
//	link under test ─▶ west ─✗  dropped before TCP sees it, also for addresses of other interfaces
//
// The filter decides by the interface of a segment's arrival. Listening on the address in the pods' network isn't
// enough. Linux accepts packets for any of its addresses on any interface (the weak host model, see ip-sysctl), and
// answers to a forged sender leave by the pods' network.
package aside
