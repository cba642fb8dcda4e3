// Demo shows the operator at work on this machine alone, as root: a real Kubernetes of two nodes, linerate in
// it, and two LoadTests with real packets between pods on both nodes, whose results it prints.
//
//	go run ./hack/demo up      # the first time it builds Kubernetes; the cluster stays up
//	go run ./hack/demo down    # nothing is left
//
// It does nothing that can't be typed: "cluster up", "helm upgrade --install", "kubectl create" and "kubectl
// get". The tables go to stdout, all else to stderr. It ends with 0 where both were measured, whatever their
// verdicts are.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

const usage = `usage: demo up | down
  up     bring up a cluster with linerate in it, and measure; the cluster stays up
  down   remove the cluster`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	code, err := command(ctx, os.Args[1:])
	if ctx.Err() != nil {
		code, err = exitInterrupted, nil // what was cut off has nothing to say
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	os.Exit(code)
}

// The exit codes are those of "linerate run", but for verdicts: see codeOf.
const (
	exitOK          = report.ExitOK
	exitBadInput    = report.ExitBadInput
	exitNotMeasured = report.ExitNotMeasured
	exitInterrupted = report.ExitInterrupted
)

func command(ctx context.Context, args []string) (int, error) {
	if len(args) != 1 || args[0] != "up" && args[0] != "down" {
		return exitBadInput, errors.New(usage)
	}
	if os.Geteuid() != 0 {
		return exitBadInput, errors.New("a node is made of namespaces, mounts and control groups: run as root (sudo make demo)")
	}
	l, err := newDemoCluster(os.Stderr)
	if err != nil {
		return exitNotMeasured, err
	}
	if args[0] == "down" {
		return orNotMeasured(exitOK, l.tearDown(ctx))
	}
	if err := l.ensure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo: the cluster stays as it is: make demo continues with it, make demo-down removes it")
		return exitNotMeasured, err
	}
	request, err := machine.KeepAwake()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo: what is measured may be late:", err)
	}
	defer func() { _ = request.Close() }()
	return l.show(ctx, os.Stdout)
}

// orNotMeasured is the code where nothing went wrong.
func orNotMeasured(code int, err error) (int, error) {
	if err != nil {
		return exitNotMeasured, err
	}
	return code, nil
}
