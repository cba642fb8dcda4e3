// Package softgen is the software engine's server. It answers the RPC of TRex v3's stateless
// mode (JSON-RPC 2.0 over a ZeroMQ REP socket) for traffic that datapath plays on Linux interfaces,
// so that a client of TRex drives the software engine with the same code.
//
//	client ── ZMTP ──▶ envelope ──▶ command ──▶ port, profile ──▶ datapath.Port
//	                  (zip, batch,  (one func    (owner, streams,
//	                   JSON-RPC)     each)        state, addresses)
//
// It answers as TRex v3.08 does, except that requests that crash TRex are refused, one profile at a time plays
// on a port, single streams are not paused or re-rated, get_port_stats says when it was read, and traffic may
// be stopped when clients fall silent.
package softgen
