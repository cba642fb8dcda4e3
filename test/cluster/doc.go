// Package cluster holds the tests that need a real cluster: whole LoadTests with real packets (e2e), and faults
// in each part and phase of it (faults).
package cluster
