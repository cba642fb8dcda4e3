package incluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// Daemon is the device plugin's name among a node's components.
const Daemon = "device-plugin"

// PCIPlugin is the program of Build's that offers kubelet the functions of real or emulated cards.
const PCIPlugin = "linerate-pci-plugin"

const (
	cniProgram    = "linerate-vf"
	pluginProgram = "linerate-vf-plugin"
)

// Cluster is one that is up.
type Cluster struct {
	// Program is hack/cluster, built.
	Program string
	// Name and Dir are what the cluster was brought up with. "" is the program's own default.
	Name, Dir string
}

// Run runs a command of the cluster's program, with input as its standard input, and returns its output.
func (c Cluster) Run(ctx context.Context, input, verb string, args ...string) (string, error) {
	line := []string{verb}
	if c.Name != "" {
		line = append(line, "--name", c.Name)
	}
	if c.Dir != "" {
		line = append(line, "--dir", c.Dir)
	}
	cmd := exec.CommandContext(ctx, c.Program, append(line, args...)...)
	var talk strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &talk
	output, err := cmd.Output()
	if err != nil {
		return string(output), fmt.Errorf("cluster %s %s: %w: %s", verb, strings.Join(args, " "), err,
			strings.TrimSpace(talk.String()))
	}
	return string(output), nil
}

// Nodes are the cluster's nodes as they are now, each by its first process, which lives as long as the node.
func (c Cluster) Nodes() ([]fabric.Node, error) {
	dir, name := c.Dir, c.Name
	if dir == "" {
		dir = "/var/lib/linerate-cluster"
	}
	if name == "" {
		name = "linerate"
	}
	text, err := os.ReadFile(filepath.Join(dir, name, "state.json"))
	if err != nil {
		return nil, fmt.Errorf("find the nodes of cluster %s: %w (is it up?)", name, err)
	}
	return parseState(text)
}

// parseState reads what hack/cluster has written down. Its boxes are the nodes and the control plane.
func parseState(text []byte) ([]fabric.Node, error) {
	var state struct {
		Boxes []struct {
			Name string
			Init struct{ PID int }
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("find the nodes: %w", err)
	}
	var nodes []fabric.Node
	for _, b := range state.Boxes {
		if b.Name == "control" || b.Init.PID == 0 {
			continue
		}
		process := filepath.Join("/proc", strconv.Itoa(b.Init.PID))
		nodes = append(nodes, fabric.Node{Name: b.Name, Namespace: filepath.Join(process, "ns/net"),
			Root: filepath.Join(process, "root")})
	}
	if len(nodes) == 0 {
		return nil, errors.New("find the nodes: none is written down")
	}
	return nodes, nil
}

// Build makes the programs that nodes need, static, in a directory. It must be one that the nodes see as we do,
// as they do the machine's /tmp and home directories.
func Build(ctx context.Context, dir string) error {
	target, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	folder, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}",
		"github.com/linerate-dev/linerate/test/rigs/fabric/incluster").Output()
	if err != nil {
		return fmt.Errorf("find the project: %w", err)
	}
	// a module of its own, whose packages have no name here
	module := filepath.Join(strings.TrimSpace(string(folder)), "../plugins")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-o", target+"/", "./"+cniProgram, "./"+pluginProgram,
		"./"+PCIPlugin)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s, %s and %s: %w: %s", cniProgram, pluginProgram, PCIPlugin, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// Install lays the fabric, and gives all nodes its plugins. Nodes of the Spec without a Root aren't the cluster's,
// and get none. A second Install adds what is missing and restarts the device plugins with the present Spec.
func (c Cluster) Install(ctx context.Context, s fabric.Spec, programs string) error {
	if err := fabric.Lay(s); err != nil {
		return err
	}
	if _, err := c.Run(ctx, "", "plugin", filepath.Join(programs, cniProgram)); err != nil {
		return err
	}
	for _, n := range s.Nodes {
		if n.Root == "" {
			continue
		}
		_, _ = c.Run(ctx, "", "kill", n.Name, Daemon) // there mostly is none
		if _, err := c.Run(ctx, "", "daemon", n.Name, Daemon, "--",
			filepath.Join(programs, pluginProgram)); err != nil {
			return err
		}
	}
	return nil
}

// Networks makes a NetworkAttachmentDefinition for each wire, by its name, of the resource of its first port.
func (c Cluster) Networks(ctx context.Context, namespace string, s fabric.Spec) error {
	for _, w := range s.Wires {
		if len(w.Ports) == 0 {
			continue
		}
		manifest, err := fabric.NetworkAttachment(namespace, w.Name, w.Ports[0].Resource)
		if err != nil {
			return err
		}
		if _, err := c.Run(ctx, string(manifest), "kubectl", "--", "apply", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}
