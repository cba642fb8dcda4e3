//go:build full

package operator

import "testing"

// TestEveryLife: every sample, so every engine and type of DUT.
func TestEveryLife(t *testing.T) {
	playLives(t, samples(t)...)
}
