// Trex stands where TRex's server would in an image: it takes TRex's command line and configuration. So all that is
// around TRex in a pod can be tried without TRex: the copy of linerate's program, its launcher, the configuration,
// probes, beats and endings.
//
//	_t-rex-64 -i --cfg /tmp/trex_cfg.yaml -c 1 [--fail]
//
// On kernel interfaces it becomes linerate's own engine, which sends real packets. It takes functions on vfio-pci as
// DPDK does, with processors and a huge page, but can't drive them: a scripted server then counts what ports that are
// joined by a cable would have sent and received.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// engine is where the launcher was copied to.
const engine = "/opt/linerate/linerate"

func main() {
	if slices.Contains(os.Args, "--fail") {
		fmt.Fprintln(os.Stderr, "EAL: Error - exiting with code: 1\n  Cause: this is what was asked for")
		os.Exit(255)
	}
	log.Fatal(run())
}

func run() error {
	text, err := os.ReadFile(valueOf("--cfg"))
	if err != nil {
		return err
	}
	c, err := read(text)
	if err != nil {
		return err
	}
	if !c.onFunctions() {
		return syscall.Exec(engine, c.arguments(valueOf("-c")), os.Environ())
	}
	if err := c.pin(); err != nil {
		return err
	}
	if err := takeFunctions(c.Interfaces); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", c.RPCPort))
	if err != nil {
		return err
	}
	return trextest.ServeOn(context.Background(), listener, trextest.NewGenerator(trextest.Cable()...))
}

// valueOf is what follows an option on the command line; the other options are TRex's business.
func valueOf(option string) string {
	if i := slices.Index(os.Args, option); i >= 0 && i+1 < len(os.Args) {
		return os.Args[i+1]
	}
	return ""
}

// config is what is read of TRex's configuration.
type config struct {
	Interfaces []string `json:"interfaces"`
	RPCPort    int      `json:"zmq_rpc_port"`
	PortSpeed  int64    `json:"port_speed"`
	Platform   struct {
		Master  int `json:"master_thread_id"`
		Latency int `json:"latency_thread_id"`
		Pairs   []struct {
			Threads []int `json:"threads"`
		} `json:"dual_if"`
	} `json:"platform"`
}

func read(text []byte) (config, error) {
	var documents []config
	if err := yaml.Unmarshal(text, &documents); err != nil {
		return config{}, fmt.Errorf("read TRex's configuration: %w", err)
	}
	if len(documents) != 1 || len(documents[0].Interfaces) == 0 || documents[0].RPCPort == 0 {
		return config{}, errors.New("TRex's configuration must be a list of one map, with interfaces and zmq_rpc_port")
	}
	return documents[0], nil
}

// onFunctions: TRex calls devices by their PCI addresses, and kernel interfaces by their names.
func (c config) onFunctions() bool { return strings.Contains(c.Interfaces[0], ":") }

// arguments are those of linerate's own engine on the same interfaces.
func (c config) arguments(cores string) []string {
	args := []string{"linerate", "generator", "--ports", strings.Join(c.Interfaces, ","), "--listen",
		fmt.Sprintf(":%d", c.RPCPort),
		"--cores", cores, "--heartbeat", "0", "--secret-file", "", "--open", "--termination-log", "/dev/null"}
	if c.PortSpeed > 0 {
		args = append(args, "--speed", fmt.Sprintf("%dmbps", c.PortSpeed))
	}
	return args
}

// pin puts a thread on each processor of the configuration, and at last on the master's. The kernel refuses a processor
// that the pod doesn't have.
func (c config) pin() error {
	processors := []int{c.Platform.Latency}
	for _, pair := range c.Platform.Pairs {
		processors = append(processors, pair.Threads...)
	}
	for _, processor := range append(processors, c.Platform.Master) {
		var affinity unix.CPUSet
		affinity.Set(processor)
		if err := unix.SchedSetaffinity(0, &affinity); err != nil {
			return fmt.Errorf("pin a thread to processor %d of %v: %w", processor, processors, err)
		}
	}
	return nil
}
