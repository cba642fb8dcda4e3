package vitals

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// A program that poses as a device's machine is asked eight times a second. An endless answer fills no memory,
// and neither does one that decodes to a hundred times its size.
func TestVitalSignsThatWereMadeToFillMemoryAreRefused(t *testing.T) {
	answers := intaketest.Bombs(mostAnswer-1<<10, `{"version":"`+Version+`","signs":[`, `]}`)
	answers["endless"] = ""
	for name, answer := range answers {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, err := io.WriteString(w, answer); name == "endless" && err == nil; _,
				err = io.WriteString(w, strings.Repeat("x", 64<<10)) {
			}
		}))
		t.Cleanup(s.Close)
		f := &Follower{address: s.Listener.Addr().String(), client: &http.Client{Timeout: askTimeout,
			Transport: &http.Transport{DialContext: dialer(credential.Key{})}}}
		var err error
		allocated := intaketest.Allocated(func() { _, err = f.ask(t.Context()) })
		f.client.CloseIdleConnections()
		if err == nil || allocated > 24<<20 {
			t.Errorf("%s: %v, and reading it takes %d bytes", name, err, allocated)
		}
	}
}
