// Package stl drives a generator that answers TRex's RPC in stateless mode: TRex itself, and the software engine. It implements
// engine.Engine over internal/engine/trex, and says in sentences what went wrong and what to do.
//
//	runner ──▶ Engine ──▶ control connection ─┐
//	                 └──▶ reading connection ─┴▶ server
//
// Two connections, because the RPC is strictly one request, then its answer: a slow start or stop must not delay a reading
// of the counters. Both belong to one session, so each may read the events of our ports.
package stl
