// Release makes what a release consists of, in a folder, and pushes what of it goes to a registry:
//
//	go run ./hack/release check -version v0.2.0          # is everything ready for this version?
//	go run ./hack/release build -version v0.2.0 -o dist
//	go run ./hack/release push -from dist -registry ghcr.io/linerate-dev
//
// The folder holds
//
//	linerate_linux_ARCH.tar.gz   the command line, also as a plugin of kubectl, with the licence
//	linerate.yaml                krew's manifest of these archives
//	linerate-VERSION.tgz         the Helm chart
//	PROGRAM_linux_ARCH.cdx.json  a bill of materials of each program (CycloneDX): the modules that it was built from, with versions and checksums
//	SHA256SUMS                   of all of these
//	image/                       the image for all architectures, as an OCI layout
//	notes.md                     what CHANGELOG.md says of it
//	version                      of what it is a release
//	pushed                       after push: what was pushed, each by its digest
//
// The same tree and the same Go give the same files, but for the bills' serial numbers and times. Nothing is
// signed here: hack/release/sign does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: check, build or push (go doc ./hack/release)")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	version := flags.String("version", "", "the release's `version`, as v0.2.0")
	outDir := flags.String("o", "dist", "the `folder` to make")
	fromDir := flags.String("from", "dist", "the `folder` that was made")
	registry := flags.String("registry", "", "the `registry` and the path in it that image and chart go below, as ghcr.io/linerate-dev")
	tree := flags.String("tree", ".", "the project's `folder`")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "check":
		return check(*tree, *version)
	case "build":
		return build(ctx, *tree, *version, *outDir)
	case "push":
		return push(ctx, *fromDir, *registry)
	}
	return fmt.Errorf("%q: say check, build or push", args[0])
}
