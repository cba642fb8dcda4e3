// Package wires records which test has which physical port. Each port that a test holds has a Lease.
package wires
