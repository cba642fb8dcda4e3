// Router is a Linux router to be tested in a pod: an example of a device under test of one's own, for images of dut.type Pod. It reads
// /etc/linerate/links.json, gives the links' interfaces their addresses, routes the generators' networks back to them, turns IPv4 forwarding
// on, and waits until it is told to end. Its container needs the capability NET_ADMIN, and nothing more:
//
//	CGO_ENABLED=0 go build -o bin/router ./examples/router
//	go run ./hack/image -o router.tar -tag example.com/router:1 -binary bin/router -name /router
//
//	dut:
//	  type: Pod
//	  pod:
//	    template:
//	      spec:
//	        containers:
//	        - name: router
//	          image: example.com/router:1
//	          args: [-limit, "10000"]    # per direction, in packets/s: for trying whether a measurement finds it
//	          securityContext: {capabilities: {add: [NET_ADMIN]}}
//	          readinessProbe: {exec: {command: [/router, -ready]}, periodSeconds: 1}
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	file := flag.String("links", "/etc/linerate/links.json", "what linerate says of the links")
	limit := flag.Uint64("limit", 0, "packets per second to forward of what comes in on each link; 0: all")
	mark := flag.String("mark", "/forwarding", "file that is there once frames are forwarded")
	ready := flag.Bool("ready", false, "say by the exit code whether the mark is there: for a readiness probe")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("router: ")
	if *ready {
		if _, err := os.Stat(*mark); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*file, *mark, *limit); err != nil {
		log.Fatal(err)
	}
}

func run(file, mark string, limit uint64) error {
	links, err := read(file)
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := l.setUp(); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
	}
	if err := errors.Join(restrict(links, limit), os.WriteFile(mark, nil, 0o600)); err != nil {
		return err
	}
	log.Printf("forwarding on %d links", len(links))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	<-ctx.Done()
	return nil
}
