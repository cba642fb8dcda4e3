// Package fakeport is an in-memory datapath.Port for tests. It has two ports on a cable that may delay, limit or
// lose, and no packets. What was sent and received is computed from rates and elapsed time, so that counters are
// exact and a manual clock makes hours pass at once.
//
//	a ── sends at most Capacity ──▶ cable: at most Limit, minus Loss ──▶ b: ReceiveLoss of it counted as ierrors
//	a ◀──────────────────────── the same the other way ─────────────── b
//
// Frames that are injected really travel. They are captured at both ends, and ARP requests for an address that Answer
// named are answered. Rates count from a stream's own packets per second (datapath gets no other kind). Frames have
// their template's size, whatever a program trims, and a chain of streams plays all its streams at once. MAC
// addresses of streams are ignored.
package fakeport
