package reset_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/reset"
)

// A program that poses as a device's pod fills no memory, neither by an endless answer nor by one that decodes
// to a thousand times its size.
func TestAnAnswerToAResetThatWasMadeToFillMemoryIsRefused(t *testing.T) {
	answers := intaketest.Bombs(60<<10, `{"version":"x","did":[`, `]}`)
	answers["endless"] = ""
	for name, answer := range answers {
		address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, err := io.WriteString(w, answer); name == "endless" && err == nil; _,
				err = io.WriteString(w, strings.Repeat("x", 64<<10)) {
			}
		}))
		var err error
		allocated := intaketest.Allocated(func() { _, err = reset.Ask(t.Context(), address, credential.Key{}) })
		if err == nil || allocated > 4<<20 {
			t.Errorf("%s: %v, and reading it takes %d bytes", name, err, allocated)
		}
	}
}
