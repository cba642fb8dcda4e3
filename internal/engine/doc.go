// Package engine defines what a traffic generator can do, in the runner's words. internal/engine/stl implements it
// over TRex's RPC, for TRex and for the software engine alike. test/rigs/sim implements it in memory for tests.
//
// An Engine is one generator process with its ports. It is used by one goroutine at a time unless a method says
// otherwise. Every method honours its context's deadline and returns a wrapped, typed error. No method retries
// a call that changes the generator's state, except a common start that came too late, which is undone first.
//
// The packages below are its two sides:
//
//	stl          an Engine over TRex's RPC
//	trex         the client of that RPC; wire is its envelope, zmtp its sockets, neighbor ARP and ND
//	softgen      the software engine, which answers that RPC; datapath moves frames, fieldengine makes them
package engine
