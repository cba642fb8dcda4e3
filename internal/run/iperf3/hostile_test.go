package iperf3

import (
	"errors"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
)

// The other side's documents may be 1 MiB, of which three bytes could become a hundred of memory.
func TestDocumentsOfTheOtherSideThatWereMadeToFillMemoryAreRefused(t *testing.T) {
	for name, bomb := range intaketest.Bombs(maxResults-1<<10, `{"streams":[`, `]}`) {
		var err error
		allocated := intaketest.Allocated(func() { _, _, err = parseResults([]byte(bomb), []int{1}) })
		if !errors.Is(err, ErrProtocol) || allocated > 4<<20 {
			t.Errorf("results that are %s: %v, and reading them takes %d bytes", name, err, allocated)
		}
	}
	for name, bomb := range intaketest.Bombs(maxParameters-1<<8, `{"tcp":[`, `]}`) {
		var err error
		allocated := intaketest.Allocated(func() { _, _, err = parseParameters([]byte(bomb)) })
		if !errors.Is(err, ErrProtocol) || allocated > 1<<20 {
			t.Errorf("parameters that are %s: %v, and reading them takes %d bytes", name, err, allocated)
		}
	}
}
