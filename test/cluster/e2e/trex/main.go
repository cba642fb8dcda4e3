// Trex stands where TRex's server would in an image: it takes TRex's command line and configuration, and
// becomes linerate's own engine on the interfaces that stand there. So all that is around TRex in a pod can be
// tried without TRex: the copy of linerate's program, its launcher, the configuration, probes, beats, endings,
// and with real packets that the test measures what it should.
//
//	_t-rex-64 -i --cfg /tmp/trex_cfg.yaml -c 1 [--fail]
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"syscall"

	"sigs.k8s.io/yaml"
)

// engine is where the launcher was copied to.
const engine = "/opt/linerate/linerate"

func main() {
	if slices.Contains(os.Args, "--fail") {
		fmt.Fprintln(os.Stderr, "EAL: Error - exiting with code: 1\n  Cause: this is what was asked for")
		os.Exit(255)
	}
	text, err := os.ReadFile(valueOf("--cfg"))
	if err != nil {
		log.Fatal(err)
	}
	args, err := arguments(text, valueOf("-c"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(syscall.Exec(engine, args, os.Environ()))
}

// valueOf is what follows an option on the command line; the other options are TRex's business.
func valueOf(option string) string {
	if i := slices.Index(os.Args, option); i >= 0 && i+1 < len(os.Args) {
		return os.Args[i+1]
	}
	return ""
}

// arguments are the engine's for a TRex configuration.
func arguments(config []byte, cores string) ([]string, error) {
	var documents []struct {
		Interfaces []string `json:"interfaces"`
		RPCPort    int      `json:"zmq_rpc_port"`
		PortSpeed  int64    `json:"port_speed"`
	}
	if err := yaml.Unmarshal(config, &documents); err != nil {
		return nil, fmt.Errorf("read TRex's configuration: %w", err)
	}
	if len(documents) != 1 || len(documents[0].Interfaces) == 0 || documents[0].RPCPort == 0 {
		return nil, errors.New("TRex's configuration must be a list of one map, with interfaces and zmq_rpc_port")
	}
	d := documents[0]
	args := []string{"linerate", "generator", "--ports", strings.Join(d.Interfaces, ","), "--listen",
		fmt.Sprintf(":%d", d.RPCPort),
		"--cores", cores, "--heartbeat", "0", "--secret-file", "", "--open", "--termination-log", "/dev/null"}
	if d.PortSpeed > 0 {
		args = append(args, "--speed", fmt.Sprintf("%dmbps", d.PortSpeed))
	}
	return args, nil
}
