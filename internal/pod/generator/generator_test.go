package generator

import (
	"io"
	"testing"
)

// Whoever drives a software engine of ours may die: it stops sending then, unless the command line says otherwise.
func TestASoftwareEngineHasAHeartbeat(t *testing.T) {
	if got := Config("v0", io.Discard).Heartbeat; got != Heartbeat || got <= 0 {
		t.Errorf("%v", got)
	}
}
