// Package delivery tests the way of a Plan to its runner and of Progress and Report back, with nothing made up:
// a real API server that grants no more than the runner's Role does, the built binary as generator and as
// runner, and real packets through a real forwarder.
//
//	ConfigMaps ◀─▶ API server ◀── gate (counts, cuts) ◀── linerate runner ──▶ relay ──▶ linerate generator ══ forwarder
//	                                                        host's loopback            │  a namespace of the test's
package delivery
