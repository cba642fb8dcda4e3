package lab

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// The device's order is larger than a pipe holds, and the device closes its end and lives on.
func TestADeviceThatDoesNotReadItsOrderIsEnded(t *testing.T) {
	deaf := exec.Command("sh", "-c", "echo 'no time for orders' >&2; exec sleep 600 <&-")
	_, err := startDevice(t.Context(), nil, "a deaf router", "ready", deaf, bytes.Repeat([]byte("x"), 1<<20))
	if err == nil || !strings.Contains(err.Error(), "start a deaf router: it doesn't read its order") ||
		!strings.HasSuffix(err.Error(), "its last words: no time for orders") {
		t.Errorf("it said %v", err)
	}
	if deaf.ProcessState == nil {
		t.Error("its process lives on")
	}
}
