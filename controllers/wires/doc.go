// Package wires records which test has which physical port: each port that a test holds has a Lease.
package wires
