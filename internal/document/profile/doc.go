// Package profile turns traffic profiles into TRex streams, which say which frames, in which proportion, in how
// many flows. It is pure, so the same Spec gives the same streams on any machine.
//
// # Flows
//
// Flow number f of a direction differs from the others in the varied fields, which all step together, one value a
// flow, as in TRex's own profiles. 254 flows that vary source and destination address in two /24 networks are
// 16.0.0.1 → 48.0.0.1 to 16.0.0.254 → 48.0.0.254, and not 254² pairs. At least one varied field must hold as many
// values as there are flows, and takes one value for each. A field that can't (an address in a /24, of 1000 flows
// that also vary the source port) takes the largest number of values that divides the flows evenly (250), and
// starts again. So count flows are count different flows, and each sends its first frame again after exactly count
// frames.
//
// Replica r of n plays the flows from count×r/n up to count×(r+1)/n, so no flow is on two replicas, and none is
// missing.
//
// # Checksums
//
// Every frame is right on the wire. In IPv4 the field engine recomputes the header checksum where an address
// varies, and the UDP checksum is 0, "none" (RFC 768), which costs nothing. In IPv6 a UDP checksum must be there
// (RFC 8200 §8.1), and computing it for each frame is dear where the port can't. So it is made to stay the same.
// The checksum is a sum, and when one field counts up while another counts down in step, the sum doesn't move.
// Every second varied field counts down. A field that is left over is balanced by a counter in the first bytes of
// the payload.
//
//	frame      1           2           3
//	source     …::1        …::2        …::3        ↑
//	dest.      …::fe       …::fd       …::fc       ↓     sum, and so checksum: the same
package profile
