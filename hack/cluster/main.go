// Cluster brings up a real Kubernetes of two nodes on one Linux machine, as root, without Docker or a registry,
// and takes it down:
//
//	go run ./hack/cluster up        # about half a minute once the programs are built
//	eval "$(go run ./hack/cluster env)"
//	kubectl get nodes
//	go run ./hack/cluster down      # nothing is left
//
// docs/cluster.md describes the cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if status, ok := errors.AsType[exitStatus](err); ok {
		os.Exit(int(status)) // the command has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == initVerb {
		return boxInit()
	}
	if len(args) >= 2 && args[0] == gateVerb {
		return gate(args[1:])
	}
	i := slices.IndexFunc(verbs(), func(v verb) bool { return len(args) > 0 && v.name == args[0] })
	if i < 0 {
		return errors.New(usage())
	}
	var p place
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&p.name, "name", "linerate", "the cluster's name: at most ten lower-case letters and digits")
	flags.StringVar(&p.root, "dir", "/var/lib/linerate-cluster", "where clusters are kept")
	if args[0] == "up" {
		flags.BoolVar(&p.exclusiveCPUs, "exclusive-cpus", false,
			"have kubelets give whole processors to containers that ask for them (four processors or more)")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	root, err := filepath.Abs(p.root)
	if err != nil {
		return err
	}
	p.root = root
	return verbs()[i].take(ctx, p, flags.Args())
}

// exitStatus is that of a command which was run for the user.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
