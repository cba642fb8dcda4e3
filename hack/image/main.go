// Image packs the project's container image, one of a single program of yours, or one of a device that this
// machine has installed, without Docker:
//
//	go run ./hack/image -o linerate.tar -tag ghcr.io/linerate-dev/linerate:dev
//	go run ./hack/image -o router.tar -tag example.com/router:dev -binary bin/router -name /router
//	go run ./hack/image -o testpmd.tar -tag example.com/testpmd:here -device testpmd   # or strongswan
//
// The archive is what "docker save" writes: load it with "ctr -n k8s.io images import", "docker load" or "kind
// load image-archive". The project's image holds what the Dockerfile's does: /manager and /linerate, run as
// user 65532.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/linerate-dev/linerate/hack/image/devices"
	"github.com/linerate-dev/linerate/hack/image/pack"
)

func main() {
	o := parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Println(o.path)
}

type options struct{ path, tag, version, binary, name, user, device string }

func parse() options {
	var o options
	flag.StringVar(&o.path, "o", "linerate.tar", "archive to write")
	flag.StringVar(&o.tag, "tag", "ghcr.io/linerate-dev/linerate:dev", "name of the image")
	flag.StringVar(&o.version, "version", "dev", "version that the project's programs say they are")
	flag.StringVar(&o.binary, "binary", "", "static program to pack instead of the project's")
	flag.StringVar(&o.name, "name", "", "where it is in the image; the entrypoint, too")
	flag.StringVar(&o.user, "user", "", "uid:gid it runs as; root if empty")
	flag.StringVar(&o.device, "device", "", "testpmd or strongswan: pack that as this machine has it, instead of the project's")
	flag.Parse()
	return o
}

func run(o options) error {
	switch {
	case o.binary != "" && o.device != "":
		return fmt.Errorf("-binary and -device are an image each")
	case o.binary != "":
		return packOne(o)
	}
	if o.name != "" || o.user != "" {
		return fmt.Errorf("-name and -user are for a program given with -binary; the others have their own")
	}
	if o.device != "" {
		return packDevice(o)
	}
	return packProject(o)
}

func packOne(o options) error {
	if o.name == "" {
		return fmt.Errorf("-binary %s: say with -name where it goes, as in -name /router", o.binary)
	}
	return pack.Pack(o.path, o.tag, map[string]string{o.name: o.binary},
		pack.Config{User: o.user, Entrypoint: []string{o.name}})
}

func packDevice(o options) error {
	files, config, err := devices.Files(o.device)
	if err != nil {
		return err
	}
	return pack.Pack(o.path, o.tag, files, config)
}

func packProject(o options) error {
	dir, err := os.MkdirTemp("", "linerate-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs, err := pack.Programs(dir, o.version)
	if err != nil {
		return err
	}
	return pack.Pack(o.path, o.tag, programs, pack.Project())
}
