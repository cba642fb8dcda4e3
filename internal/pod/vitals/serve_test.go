package vitals_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// A link's own address is one of all addresses, and answers from it would leave by the link.
func TestVitalSignsAreNotServedAtAllAddresses(t *testing.T) {
	for _, address := range []string{"", ":0", "0.0.0.0", "0.0.0.0:0", "::", "[::]:0"} {
		l, err := vitals.Listen(t.Context(), address, nil)
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(),
			"name one address of this machine, in a network that is no link of the test") {
			t.Errorf("at %q: %v", address, err)
		}
	}
	l, err := vitals.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}
