package cli

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// until ends what is going on once something was said.
type signalWriter struct {
	words string
	end   context.CancelFunc

	mu      sync.Mutex
	written bytes.Buffer
}

func (u *signalWriter) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.written.Write(p)
	if strings.Contains(u.written.String(), u.words) {
		u.end()
	}
	return len(p), nil
}

// Somebody starts a server by hand, and doesn't know that others may use it.
func TestAServerThatAsksForNoProofSaysWhoMayUseItAndForWhat(t *testing.T) {
	verifier, _ := credential.New().Verifier().MarshalText()
	for name, c := range map[string]struct {
		line    []string
		message string
	}{
		"iperf3 on loopback": {[]string{"iperf3", "--listen", "127.0.0.1:0"},
			"note: any user and program of this machine can make this machine send"},
		"iperf3 for all": {[]string{"iperf3", "--listen", ":0"}, "note: whoever reaches [::]:"},
		"vitals": {[]string{"vitals", "--vitals", "127.0.0.1:0"},
			"note: any user and program of this machine can read how busy this machine is"},
		"vitals with a verifier": {[]string{"vitals", "--vitals", "127.0.0.1:0", "--verifier", string(verifier)}, ""},
		"sessions": {[]string{"sessions", "--link", "lo", "--listen", "127.0.0.1:0",
			"--secret-file", ""}, "can make this machine send and give lo addresses and routes: --secret-file"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			u := &signalWriter{words: c.message, end: cancel}
			if c.message == "" {
				u.words = "serving"
			}
			var stdout bytes.Buffer
			s := Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: u}
			root, args := rootOf("linerate", c.line, s)
			execute(ctx, root, args, s)
			u.mu.Lock()
			defer u.mu.Unlock()
			if text := u.written.String(); !strings.Contains(text, u.words) ||
				(c.message == "") == strings.Contains(text, "note: ") || strings.Count(text, "note: ") > 1 {
				t.Errorf("it said %q, want %q", text, c.message)
			}
		})
	}
}
