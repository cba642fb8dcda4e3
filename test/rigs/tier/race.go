package tier

import "testing"

// Plain leaves a test that computes for long on one goroutine to the run without the race detector, which plays
// all tests of its package. The run with the race detector is the one with -short.
func Plain(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine computes for long: it is played without the race detector")
	}
}
