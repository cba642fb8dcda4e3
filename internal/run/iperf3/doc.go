// Package iperf3 speaks iperf3's protocol, as a client and as a server, with linerate or iperf3 itself (3.2 and
// later) on the other side.
//
//	client                               server
//	  │ control connection, TCP: cookie ▶  │
//	  │ ◀ parameters? ──── JSON ─────────▶ │   what is measured (Test)
//	  │ ◀ create streams                   │
//	  │ stream connections: cookie ▶ (TCP), hello ▶ ◀ reply (UDP)
//	  │ ◀ start, running                   │
//	  │ ◀══════════ payload ══════════════▶│   client to server, server to client, or both
//	  │ end ▶                              │   the client says when
//	  │ ◀ results? ─ JSON ─▶ ◀─ JSON ───── │   what each side counted
//	  │ done ▶                             │
//
// What was sent and what was received are always two figures, from the two sides' own counters. Totals are sums of
// intervals that were counted here. The other side reports totals only, and a result without them is an error. The
// protocol is documented by iperf3's source alone. The names here are those of its manual page.
package iperf3
