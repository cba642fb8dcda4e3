package generator

import (
	"io"
	"testing"
)

// The program that drives a software engine may die. The engine then stops sending, unless the command line
// says otherwise.
func TestASoftwareEngineHasAHeartbeat(t *testing.T) {
	if got := Config("v0", io.Discard).Heartbeat; got != Heartbeat || got <= 0 {
		t.Errorf("%v", got)
	}
}
