package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine/softgen"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/pod/generator"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// newLabHost is the hidden verb of the child process that holds a run's namespaces and engine on this machine.
func newLabHost(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:    lab.Verb,
		Short:  "Host the namespaces and the engine of a run (for linerate's own use)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lab.HostMain(cmd.Context(), openInLab(s.Stderr))
		},
	}
}

// newLabTunnel is the hidden verb of the process that is one gateway of a tunnel, in a run on this machine.
func newLabTunnel() *cobra.Command {
	return &cobra.Command{
		Use:    lab.TunnelVerb,
		Short:  "Be a gateway of a tunnel in a run (for linerate's own use)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return lab.TunnelMain(cmd.Context()) },
	}
}

// openInLab opens a generator of any kind in the lab's child process.
func openInLab(stderr io.Writer) lab.OpenEngine {
	return func(_ context.Context, sends plan.Sender, bench lab.Bench) (lab.Engine, error) {
		kind := localKinds[sends]
		if kind.inLab == nil {
			return nil, fmt.Errorf("engine %q has no lab on this machine for traffic of type %s", sends.Engine,
				sends.Traffic)
		}
		return kind.inLab(stderr, bench)
	}
}

// openSoftware opens the software engine on interfaces of this process's namespace.
func openSoftware(stderr io.Writer, bench lab.Bench) (lab.Engine, error) {
	cfg := generator.Config(version, stderr)
	cfg.Signs = &machine.SignsReader{Links: forwarder.Signs(bench.Device)}
	for _, p := range bench.Ports {
		port, err := datapath.Open(datapath.Options{
			Interface: p.Interface, Cores: p.Cores, CPUs: p.Processors, Path: datapath.Path(p.Path), Batch: p.Batch,
			Follow: true,
		})
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", p.Interface, err)
		}
		cfg.Ports = append(cfg.Ports, softgen.PortConfig{Port: port, Speed: p.Speed, Cores: p.Cores})
	}
	return softgen.New(cfg)
}

// openEnds opens the ends of a lab's links, each in its namespace.
func openEnds(stderr io.Writer, bench lab.Bench) (lab.Engine, error) {
	var ends sessions.Ends
	signs := &machine.SignsReader{Links: forwarder.Signs(bench.Device)}
	for _, p := range bench.Ports {
		end := sessions.End{
			Link: p.Link, Interface: p.Interface, Namespace: p.Namespace, Product: generator.SessionsProduct(version),
			Signs: signs, Prepared: true,
			Log: logger(stderr, true),
		}
		if p.Real {
			end.Port = p.Interface
		}
		ends = append(ends, end)
	}
	return ends, nil
}
