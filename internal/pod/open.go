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
	if IsLoopback(address) {
		return "any user and program of this machine"
	}
	return "whoever reaches " + address
}

// IsLoopback says that only this machine reaches a server at host:port.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (net.ParseIP(host).IsLoopback() || host == "localhost")
}
