// Package stl drives a generator that answers TRex's RPC in stateless mode. That is TRex itself, or the software
// engine. It implements engine.Engine over internal/engine/trex, and its errors say in sentences what went wrong and
// what to do.
//
//	runner ──▶ Engine ──▶ control connection ─┐
//	                 └──▶ reading connection ─┴▶ server
//
// There are two connections, because the RPC is strictly one request and then its answer, and a slow start or stop
// must not delay a reading of the counters. Both belong to one session, so each may read the events of the session's
// ports.
package stl
