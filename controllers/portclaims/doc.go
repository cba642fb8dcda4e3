// Package portclaims records which test has which physical port. Each claim is a Lease.
package portclaims
