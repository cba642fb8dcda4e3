//go:build full

package profile

import "testing"

// The functions of a program that runs at any address are found, too. All of Go is compiled for it, which takes half a
// minute.
func TestAProgramThatRunsAtAnyAddress(t *testing.T) {
	t.Run("with symbols", func(t *testing.T) { burnsInNamedFunction(t, "-buildmode=pie", "-ldflags=") })
	t.Run("without symbols", func(t *testing.T) { burnsInNamedFunction(t, "-buildmode=pie", "-ldflags=-s -w") })
}
