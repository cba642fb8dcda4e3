// Linerate-fabric lays network cards with virtual functions between nodes on this machine, from the shell, see
// package fabric.
//
//	linerate-fabric lay -name lab -wires west,east -functions 4 node-1=PID node-2=PID    # any process of each node
//	linerate-fabric networks -namespace default -wires west,east | kubectl apply -f -
//	linerate-fabric remove -name lab
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

const usage = "usage: linerate-fabric lay | networks | remove [FLAGS] [NODE=PID …]"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "linerate-fabric:", err)
		os.Exit(1)
	}
}

type options struct {
	name, wires, namespace string
	functions, mtu         int
}

func run(args []string, output io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.name, "name", "linerate", "name of the fabric on this machine")
	flags.StringVar(&o.wires, "wires", "west,east", "names of the wires; each has a port in each node")
	flags.StringVar(&o.namespace, "namespace", "default", "Kubernetes namespace of the networks")
	flags.IntVar(&o.functions, "functions", 4, "virtual functions of each port")
	flags.IntVar(&o.mtu, "mtu", 0, "MTU of all ports; 0: 1500")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "lay":
		return o.lay(flags.Args())
	case "networks":
		return o.networks(output)
	case "remove":
		return fabric.Remove(o.name)
	}
	return errors.New(usage)
}

func (o options) lay(nodes []string) error {
	parsed, err := parseNodes(nodes)
	if err != nil {
		return err
	}
	s := fabric.Across(o.name, parsed, o.functions, strings.Split(o.wires, ",")...)
	s.MTU = o.mtu
	return fabric.Lay(s)
}

// parseNodes reads NODE=PID, where PID is one of the node's processes.
func parseNodes(texts []string) ([]fabric.Node, error) {
	if len(texts) == 0 {
		return nil, errors.New("no node: name each with one of its processes, as in node-1=4711")
	}
	var nodes []fabric.Node
	for _, text := range texts {
		name, pid, _ := strings.Cut(text, "=")
		if n, err := strconv.Atoi(pid); err != nil || n < 1 || name == "" {
			return nil, fmt.Errorf("node %q: name it with one of its processes, as in node-1=4711", text)
		}
		nodes = append(nodes, fabric.Node{Name: name, Namespace: "/proc/" + pid + "/ns/net", Root: "/proc/" + pid +
			"/root"})
	}
	return nodes, nil
}

func (o options) networks(output io.Writer) error {
	for w := range strings.SplitSeq(o.wires, ",") {
		text, err := fabric.NetworkAttachment(o.namespace, w, fabric.ResourceOf(w))
		if err != nil {
			return err
		}
		if _, err := output.Write(text); err != nil {
			return err
		}
	}
	return nil
}
