package sessions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An end's own fault proves nothing of the path, and neither does it disprove it.
func TestWhoseFaultItIsThatEndsAreNotConnected(t *testing.T) {
	dialled := func(err error) error {
		return fmt.Errorf("connect from 198.18.0.2: %w", &net.OpError{Op: "dial", Net: "tcp4", Err: err})
	}
	for name, c := range map[string]struct {
		err  error
		path bool
	}{
		"nobody answers in time":           {dialled(os.ErrDeadlineExceeded), true},
		"the far end refuses":              {dialled(os.NewSyscallError("connect", unix.ECONNREFUSED)), true},
		"the device has no way":            {dialled(os.NewSyscallError("connect", unix.ENETUNREACH)), true},
		"a connection is reset":            {dialled(os.NewSyscallError("write", unix.ECONNRESET)), true},
		"the others did not come":          {fmt.Errorf("3 of 4 connections came to 198.18.1.2, and %w: %w", errMissing, context.DeadlineExceeded), true},
		"what an end said of its path":     {unansweredError("connect from 198.18.0.2: i/o timeout"), true},
		"the end has no files left":        {dialled(os.NewSyscallError("socket", unix.EMFILE)), false},
		"the end hasn't that address":      {dialled(os.NewSyscallError("bind", unix.EADDRNOTAVAIL)), false},
		"the end may not":                  {dialled(os.NewSyscallError("setsockopt", unix.EPERM)), false},
		"the end's kernel says too little": {errors.New("read TCP_INFO: the kernel says only 192 bytes"), false},
	} {
		if fromPath(c.err) != c.path {
			t.Errorf("%s: %v is the path's: %v, want %v", name, c.err, !c.path, c.path)
		}
	}
}

// broke is a listener whose machine has no files left for a while.
type broke struct {
	net.Listener
	times int
}

func (b *broke) Accept() (net.Conn, error) {
	if b.times--; b.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", unix.EMFILE)}
	}
	return b.Listener.Accept()
}

func TestAnEndOutlivesAWantOfFiles(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Ends{{Link: "west", Interface: "lo"}}.Serve(ctx, &broke{l, 2}) }()
	// More than may be connected at once: those beyond are closed, and the end goes on.
	var all []net.Conn
	for range mostDrivers {
		c, err := net.Dial("tcp4", l.Addr().String())
		must(t, err)
		all = append(all, c)
	}
	refused, err := net.Dial("tcp4", l.Addr().String())
	must(t, err)
	must(t, refused.SetReadDeadline(time.Now().Add(DriverSilence/2)))
	if n, err := refused.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one driver too many: %d bytes, %v", n, err)
	}
	for _, c := range append(all, refused) {
		_ = c.Close()
	}
	cancel()
	must(t, <-served)
}
