package trex

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// A hostile server may answer with 64 MiB, of which three bytes could become two hundred of memory, in the envelope
// or in a result.
func TestAnswersThatWereMadeToFillMemoryAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	for name, bomb := range intaketest.Bombs(24<<20, "[", "]") {
		var err error
		allocated := intaketest.Allocated(func() { _, err = parse([]byte(bomb), 1) })
		if err == nil || !strings.Contains(err.Error(), "no document of linerate's") || allocated > 64<<20 {
			t.Errorf("an envelope that is %s: %v, and reading it takes %d bytes", name, err, allocated)
		}
	}
	for name, bomb := range intaketest.Bombs(24<<20, `{"streams":[`, "]}") {
		var result map[string]any
		var err error
		allocated := intaketest.Allocated(func() {
			err = new(Connection).outcome(&call{method: "get_all_streams", result: &result},
				wire.Response{Result: []byte(bomb)})
		})
		if err == nil || !strings.Contains(err.Error(), "no document of linerate's") || allocated > 64<<20 {
			t.Errorf("a result that is %s: %v, and reading it takes %d bytes", name, err, allocated)
		}
	}
}
