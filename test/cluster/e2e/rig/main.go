package rig

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// Main brings a rig up, gives it to use, runs a package's tests in it and takes it down again: a TestMain's
// whole work. It returns the exit code. Only root can make a rig: outside of CI the lack of it is no failure.
func Main(m *testing.M, o Options, use func(*Rig)) int {
	if os.Geteuid() != 0 {
		_, _ = fmt.Fprintf(o.Talk, "%s: these tests bring up a cluster of network namespaces: run them as root\n",
			o.Name)
		if os.Getenv("CI") == "true" {
			return 1
		}
		return 0
	}
	log.SetLogger(logr.Discard()) // the clients' errors come back as values
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	request, err := machine.KeepAwake() // pods can't ask for it
	if err != nil {
		_, _ = fmt.Fprintf(o.Talk, "%s: what is measured may be late: %v\n", o.Name, err)
	}
	defer func() { _ = request.Close() }()
	r, err := BringUp(ctx, o)
	code := 1
	if err != nil {
		_, _ = fmt.Fprintf(o.Talk, "%s: %v\n", o.Name, err)
	} else {
		use(r)
		code = r.play(ctx, m)
	}
	return max(code, r.leave())
}

// play runs the tests until they are done, or somebody interrupts them: then the cluster is taken away from under them.
func (r *Rig) play(ctx context.Context, m *testing.M) int {
	exitCode := make(chan int, 1)
	go func() { exitCode <- m.Run() }()
	select {
	case code := <-exitCode:
		return code
	case <-ctx.Done():
		_, _ = fmt.Fprintf(r.Talk, "%s: interrupted\n", r.Name)
		return 1
	}
}

// leave has time of its own: also an interrupted run is tidied up after.
func (r *Rig) leave() int {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if err := r.TearDown(ctx); err != nil {
		_, _ = fmt.Fprintf(r.Talk, "%s: take it down: %v\n", r.Name, err)
		return 1
	}
	return 0
}
