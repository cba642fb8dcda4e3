// Package trex drives a TRex v3 server in stateless mode (STL) over its JSON-RPC, and any other server that answers
// that RPC.
//
//	Dial ── get_version, api_sync_v2 ──▶ a Client
//	Acquire ─▶ Reset ─▶ SetL3/Resolve ─▶ AddStreams ─▶ Validate ─▶ StartTraffic ─▶ UpdateTraffic … ─▶ StopTraffic
//	─▶ Release                           Snapshot, FlowStats, Events at any time
//
// The client uses only what is safe for a shared server. It never starts traffic without a duration after which
// the server stops by itself, since the server knows no keepalive and would send for ever on behalf of a dead
// client. It uses the default profile only. It refuses to send the few inputs that abort a server (a zero
// session id, unknown profiles, some field-engine ranges, core pinning).
//
// One Client is one connection, and the RPC is strictly one request and then its answer, so calls of one Client wait
// for each other. A caller that needs answers on time while another call may block (counters under load) must open a
// second Client with the same user and session.
package trex
