package job

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// notAllowedError is a server that the operator's administrator doesn't let tests use.
type notAllowedError struct{ reason string }

func (e *notAllowedError) Error() string { return e.reason }

// dialAllowed connects to allowed servers only. Each connection is judged by the address that it is about to go
// to, so a name that resolves to another address the next time is no way around.
func dialAllowed(sites plan.Sites) (dialer, error) {
	allowed, err := compile.ParseServerRanges(sites.AllowedServers)
	if err != nil {
		return nil, fmt.Errorf("allowed servers: %w", err)
	}
	judging := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		resolved, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("address %s: %w", address, err)
		}
		if reason := allowed.Refuse(resolved); reason != "" {
			return &notAllowedError{reason}
		}
		return nil
	}}
	return func(ctx context.Context, address string) (net.Conn, error) {
		return judging.DialContext(ctx, "tcp", address)
	}, nil
}
