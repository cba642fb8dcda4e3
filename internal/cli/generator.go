package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/lab"
	"github.com/linerate-dev/linerate/internal/softgen"
	"github.com/linerate-dev/linerate/internal/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// heartbeat is how long the software engine goes on sending after it last heard from who drives it.
const heartbeat = 10 * time.Second

func newGenerator(s Streams) *cobra.Command {
	var listen, speed string
	var ports []string
	var cores int
	cmd := &cobra.Command{
		Use:     "generator",
		Short:   "Serve the software engine on interfaces of this machine, over TRex's RPC",
		Example: "  sudo linerate generator --ports eth1,eth2 --listen 127.0.0.1:4501\n  linerate ramp -s 127.0.0.1 -rt 10 -rd 60 --line-rate 1gbps",
		Long: "Answers TRex's stateless RPC (v3) for the named interfaces, with real packets. The RPC has no authentication: whoever reaches the\n" +
			"address can make this machine send. All traffic stops 10 s after the last request.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rate, err := units.ParseBitRate(speed)
			if err != nil {
				return badInput("--speed: %w", err)
			}
			return serveGenerator(cmd.Context(), s.Err, listen, ports, rate, cores)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&ports, "ports", nil, "interfaces, in the order of the ports")
	f.StringVar(&listen, "listen", "127.0.0.1:4501", "address to answer on")
	f.StringVar(&speed, "speed", "10gbps", "what ports without a speed of their own say")
	f.IntVar(&cores, "cores", 1, "threads that may send on each port")
	_ = cmd.MarkFlagRequired("ports")
	return cmd
}

func serveGenerator(ctx context.Context, talk io.Writer, listen string, names []string, speed units.BitRate, cores int) error {
	ports := make([]lab.Port, len(names))
	for i, name := range names {
		ports[i] = lab.Port{Interface: name, Speed: speed, Cores: cores}
	}
	e, err := openEngine(talk)(ctx, ports)
	if err != nil {
		return notMeasured("%w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return badInput("--listen %s: %w", listen, err)
	}
	fmt.Fprintf(talk, "answering on %s; Ctrl-C ends\n", l.Addr())
	return e.Serve(ctx, l)
}

// openEngine opens the software engine on interfaces of this process's namespace.
func openEngine(talk io.Writer) lab.OpenEngine {
	return func(_ context.Context, ports []lab.Port) (lab.Engine, error) {
		cfg := softgen.Config{Version: version, Heartbeat: heartbeat, Log: logger(talk, true)}
		for _, p := range ports {
			port, err := datapath.Open(datapath.Options{Interface: p.Interface, Cores: p.Cores})
			if err != nil {
				return nil, fmt.Errorf("open %s: %w", p.Interface, err)
			}
			cfg.Ports = append(cfg.Ports, softgen.PortConfig{Port: port, Speed: p.Speed})
		}
		return softgen.New(cfg)
	}
}
