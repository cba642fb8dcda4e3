package pod

import (
	"fmt"
	"io"
	"net"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// WarnOpen says who may use a server without a verifier, and for what. instead says how to keep others out.
func WarnOpen(stderr io.Writer, v credential.Verifier, address, use, instead string) {
	if v.IsZero() {
		fmt.Fprintf(stderr, "note: %s can %s: %s\n", callers(address), use, instead)
	}
}

// callers are those who reach an address, in an error's words.
func callers(address string) string {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (ip.IsLoopback() || host == "localhost") {
		return "any user and program of this machine"
	}
	return "whoever reaches " + address
}
