package generator

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// End is one end of a test's sessions.
type End struct {
	// Link is the test's name of the link. Interface is the interface on it, empty if it has the link's name.
	Link, Interface string
	// Listen is the address that answers the runner. Callers must prove the key of Verifier. Zero answers all callers.
	Listen   string
	Verifier credential.Verifier
	// Wait is how long the interface may take to exist, and to be up.
	Wait time.Duration
	// SlowReader is how many bytes a second are read on each connection, which makes a slow receiver for tests.
	// Zero reads all that come.
	SlowReader int64
	// Version is linerate's.
	Version string
}

// Serve answers the runner until ctx ends.
func (o End) Serve(ctx context.Context, stderr io.Writer) error {
	if o.Link == "" {
		return exit.BadInput("linerate sessions: name the link that it is on, such as --link west")
	}
	if o.Interface == "" {
		o.Interface = o.Link
	}
	if err := pod.AwaitInterfaces(ctx, stderr, []string{o.Interface}, o.Wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	l, err := aside.Listen(ctx, o.Listen, []string{o.Interface})
	if err != nil {
		return exit.BadInput("--listen %s: %w", o.Listen, err)
	}
	fmt.Fprintf(stderr, "end of link %s on interface %s answers on %s; Ctrl-C ends\n", o.Link, o.Interface, l.Addr())
	ends := sessions.Ends{{Link: o.Link, Interface: o.Interface, Product: SessionsProduct(o.Version),
		SlowReader: o.SlowReader, Log: logger(stderr)}}
	return ends.Serve(ctx, o.Verifier.Listen(l, credential.Control))
}

// SessionsProduct is what an end calls itself.
func SessionsProduct(version string) string { return "linerate sessions " + version }
