// Package zmtp speaks the part of ZeroMQ that TRex's RPC needs, which is request and reply sockets over ZMTP 3.x with
// the NULL mechanism (https://rfc.zeromq.org/spec/23/ and /37/), on any net.Conn or net.Listener.
//
//	REQ (Client)                                REP (Serve)
//	  greeting 64 bytes   ───────────────────▶
//	                      ◀───────────────────  greeting 64 bytes
//	  READY Socket-Type=REQ ─────────────────▶
//	                      ◀─────────────────── READY Socket-Type=REP
//	  [""][request]       ───────────────────▶
//	                      ◀───────────────────  [""][reply]
//	  PING / PONG at any time, either way
//
// The pure Go library go-zeromq/zmq4 v0.17.0 isn't used, as it can't be trusted with a generator that may stall. Its
// Recv ignores its timeout option and has no context, and its REQ socket returns a peer's heartbeat as the answer.
// One connection that never greets (a port probe) blocks all further clients of its REP socket. It allocates whatever
// length a peer announces, and it listens on endpoint strings only, not on an inherited listener.
//
// A server bounds its clients' connections, their bytes, and the time that each may take. The package has no other
// socket types, no several peers behind one socket, no automatic reconnection, and neither the CURVE nor the PLAIN
// mechanism.
package zmtp
