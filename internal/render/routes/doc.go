// Package routes writes the addresses and routes that a test's device needs, and the hosts at its links, in the words
// of Linux, FreeBSD, OpenBSD, VPP and FRR. It reads them from the Plan, and is pure.
package routes
