// Package trextest plays a TRex server for tests, at the wire, with real ZeroMQ and real JSON-RPC. An Answerer
// answers. It is a Generator (a small TRex with ports, streams, counters and a device under test) or a Trace (the
// recording of a real one). The Server in front of it can stall, close connections, die or answer differently.
//
//	server := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
//	client, err := trex.Dial(ctx, server.Address(), trex.Options{})
package trextest
