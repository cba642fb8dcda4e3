// Router is a Linux router to be tested in a pod: an example of a device under test of one's own, for images of
// dut.type Pod. It reads /etc/linerate/links.json, gives the links' interfaces their addresses, routes the
// generators' networks back to them, turns IPv4 forwarding on, and waits for a signal to end. Its container
// needs the capability NET_ADMIN, and nothing more:
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
//	          securityContext: {capabilities: {add: [NET_ADMIN]}}    # and BPF for -burn 500ns, a slower release
//	          readinessProbe: {exec: {command: [/router, -ready]}, periodSeconds: 1}
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	file := flag.String("links", "/etc/linerate/links.json", "what linerate says of the links")
	limit := flag.Uint64("limit", 0, "packets per second to forward of what comes in on each link; 0: all")
	waste := flag.Duration("burn", 0, "processor time to waste on each frame, such as 500ns")
	ready := flag.Bool("ready", false, "say by the exit code whether the router of this pod forwards: for a readiness probe, or for procedure.reset")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("router: ")
	if *ready {
		if err := forwards(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*file, *limit, *waste); err != nil {
		log.Fatal(err)
	}
}

// announced is where a router says that it forwards: an abstract address of the pod's network, so that other
// containers of the pod can ask, and nothing needs to be written.
const announced = "@linerate.dev/examples/router"

// forwards asks whether the router of this pod forwards.
func forwards() error {
	conn, err := net.Dial("unix", announced)
	if err != nil {
		return fmt.Errorf("no router forwards in this pod: %w", err)
	}
	return conn.Close()
}

func run(file string, limit uint64, waste time.Duration) error {
	links, err := read(file)
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := l.setUp(); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
	}
	if err := errors.Join(restrict(links, limit), burn(links, waste)); err != nil {
		return err
	}
	asked, err := net.Listen("unix", announced)
	if err != nil {
		return fmt.Errorf("say that frames are forwarded: %w", err)
	}
	log.Printf("forwarding on %d links", len(links))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { _ = asked.Close() })
	for {
		conn, err := asked.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("say that frames are forwarded: %w", err)
		}
		_ = conn.Close()
	}
}
