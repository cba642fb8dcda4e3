// Package lab is a run on this machine. It connects the software engine and, where the test has a Reference,
// the forwarder by virtual cables in network namespaces of their own.
//
//	 this process                 one child process
//	┌───────────────┐  stdin    ┌─────────────────────────────────────────────┐
//	│ runner        │──────────▶│ topology, questions; end of file = stop     │
//	│               │◀──────────│ status: ready, or an error; answers         │
//	│               │  stdout   │                                             │
//	│ listener 127.0.0.1:N ═════╪▶ software engine      kernel forwarding     │
//	└───────────────┘ inherited │   │generator ns│ veths │   DUT ns   │        │
//	                            └─────────────────────────────────────────────┘
//
// For a Device the child stays in this process's namespace, and sends frames on the machine's interfaces themselves.
// Sessions have namespaces there, too, with an interface above each of the machine's (ports.go).
//
// The namespaces have no names and are held by the child alone, so they and everything in them end with it. The
// child ends with its parent, by the parent-death signal and, if that is lost, by the end of file on its
// standard input. Nothing is written to disk.
//
// The engine answers on a TCP port on loopback that the parent opened in its own namespace and passed to the
// child, as sockets stay in the namespace that they were made in. All users of this machine reach that port, so
// the engine serves only a client that proves the run's key (package credential). The parent alone has the key,
// and the child gets its public half by standard input.
package lab
