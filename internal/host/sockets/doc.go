// Package sockets reads and sets what Go's net package can't on Linux. That is TCP_INFO, buffers of a known size,
// congestion control, unacknowledged bytes, what a socket dropped, and whether an error came from beyond this
// machine.
package sockets
