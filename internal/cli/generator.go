package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/generator"
	"github.com/linerate-dev/linerate/internal/units"
)

// generatorOptions has the server's options, and the flags from which the others follow.
type generatorOptions struct {
	generator.Options
	ports, nextHops, speeds       []string
	maxRate, path, terminationLog string
	guard                         guardOptions
}

func newGenerator(s Streams) *cobra.Command {
	o := generatorOptions{guard: guardOptions{use: "make this machine send"}}
	cmd := &cobra.Command{
		Use:   "generator",
		Short: "Serve the software engine on interfaces of this machine, over TRex's RPC",
		Example: "  sudo linerate generator --ports eth1,eth2 --next-hop 02:00:5e:00:53:01,02:00:5e:00:53:02\n" +
			"  linerate ramp -s 127.0.0.1 -rt 10 -rd 60 --line-rate 1gbps",
		Long: "Answers TRex's stateless RPC (v3) for the named interfaces, with real packets, to who has the secret " +
			"of --secret-file. TRex's own clients\n" +
			"have none: --secret-file \"\" serves them, and whoever else reaches the address, but not by the " +
			"interfaces that it sends on. All traffic stops when no request has come for --heartbeat.\n\n" +
			"It needs CAP_NET_RAW to open interfaces, and CAP_NET_ADMIN to bring up those that are down and to send " +
			"by AF_XDP. With CAP_BPF as\n" +
			"well, the kernel counts frames (eBPF); without, they are copied out of it (AF_PACKET), which is slower. " +
			"It says at start what it uses.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(o.terminationLog, serveGenerator(cmd.Context(), s.Stderr, o))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.ports, "ports", nil, "interfaces, in the order of the ports")
	f.StringSliceVar(&o.nextHops, "next-hop", nil,
		"the device's MAC address behind each port, for clients that leave addressing to the server, as ramp does")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4501", "address to answer on")
	f.StringSliceVar(&o.speeds, "speed", []string{"10gbps"},
		"the speed that ports without one of their own report: one for all, or one for each")
	f.DurationVar(&o.Wait, "wait", 10*time.Second, "how long to wait until the interfaces exist, and are up")
	f.IntVar(&o.Cores, "cores", 0, "threads that may send on each port (default 1, which ports share if they send "+
		"live frames and there are no more processors than ports)")
	f.StringVar(&o.maxRate, "max-rate", "", "the most that a port sends, whatever load is asked for, such as 5kpps: "+
		"a weak generator, for tests")
	f.DurationVar(&o.Heartbeat, "heartbeat", generator.Heartbeat,
		"stop all traffic this long after the last request; 0 never, as TRex itself")
	f.BoolVar(&o.Plain, "plain", false, "use AF_PACKET alone, as on machines that forbid AF_XDP and eBPF")
	f.StringVar(&o.path, "path", "auto", "how to send: live (the kernel makes and paces the frames), af_xdp, "+
		"zero_copy (af_xdp from memory that the card reads, where its driver can), af_packet, or auto: live over "+
		"virtual cables where processors are free for it, else af_xdp, else af_packet")
	batchFlag(f, &o.Batch)
	f.IntVar(&o.ReceiveRing, "receive-ring", 0, "bytes of the ring that AF_PACKET receives into (default 8 MiB)")
	o.guard.flags(f)
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	cmd.AddCommand(newRPCProbe(s, "generator", "the software engine"))
	return cmd
}

func serveGenerator(ctx context.Context, stderr io.Writer, o generatorOptions) error {
	if len(o.ports) == 0 {
		return exit.BadInput("linerate generator: name the interfaces that it sends on, such as --ports eth1,eth2")
	}
	speeds, err := portSpeeds(o)
	if err != nil {
		return exit.BadInput("--speed: %w", err)
	}
	if o.MaxRate, err = packetRate(o.maxRate); err != nil {
		return exit.BadInput("--max-rate: %w", err)
	}
	hops, err := nextHops(o)
	if err != nil {
		return exit.BadInput("--next-hop: %w", err)
	}
	if o.Path, err = readPath(o.path); err != nil {
		return err
	}
	if err := checkBatch(o.Batch); err != nil {
		return err
	}
	if o.Heartbeat < 0 {
		return exit.BadInput("--heartbeat %v: give a duration, or 0 for never", o.Heartbeat)
	}
	for i, name := range o.ports {
		o.Ports = append(o.Ports, generator.Port{Interface: name, Speed: speeds[i], NextHop: hops[i]})
	}
	o.Version = version
	o.Guard = func() (credential.Verifier, error) { return o.guard.verify(stderr, o.Listen) }
	return generator.Serve(ctx, stderr, o.Options)
}

// readPath parses --path.
func readPath(text string) (datapath.Path, error) {
	path, err := datapath.ReadPath(text)
	if err != nil {
		return "", exit.BadInput("--path: %w", err)
	}
	return path, nil
}

// batchFlag adds --batch.
func batchFlag(f *pflag.FlagSet, target *int) {
	f.IntVar(target, "batch", 0, "live frames that the kernel sends as one batch, 1 to 64; after a stall up to two "+
		"batches leave at once. 1 sends most evenly, but fewer frames where other work takes the processor (default "+
		"16)")
}

func checkBatch(frames int) error {
	if frames < 0 || frames > datapath.MostBatch {
		return exit.BadInput("--batch %d: 1 to %d frames, or 0 for the default", frames, datapath.MostBatch)
	}
	return nil
}

// packetRate parses a rate in packets per second. An empty text is 0.
func packetRate(text string) (units.PacketRate, error) {
	if text == "" {
		return 0, nil
	}
	r, err := units.ParseRate(text)
	if err != nil {
		return 0, err
	}
	if r.Kind != units.Packets {
		return 0, fmt.Errorf("%s: a port's own limit is in packets per second, such as 5kpps", text)
	}
	return r.PacketRateOf(units.Traffic{Packets: 1, Bytes: 64}, 0)
}

// nextHops parses --next-hop into one MAC address for each port. The addresses are zero without the flag.
func nextHops(o generatorOptions) ([][6]byte, error) {
	hops := make([][6]byte, len(o.ports))
	if len(o.nextHops) == 0 {
		return hops, nil
	}
	if len(o.nextHops) != len(o.ports) {
		return nil, fmt.Errorf("%d addresses for %d ports: give one for each, in the ports' order", len(o.nextHops),
			len(o.ports))
	}
	for i, text := range o.nextHops {
		mac, err := net.ParseMAC(text)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("%q is no MAC address: write it as 02:00:5e:00:53:01", text)
		}
		copy(hops[i][:], mac)
	}
	return hops, nil
}

// portSpeeds parses --speed into one speed for each port.
func portSpeeds(o generatorOptions) ([]units.BitRate, error) {
	if len(o.speeds) != 1 && len(o.speeds) != len(o.ports) {
		return nil, fmt.Errorf("%d speeds for %d ports: give one for all, or one for each in the ports' order",
			len(o.speeds), len(o.ports))
	}
	speeds := make([]units.BitRate, len(o.ports))
	for i := range o.ports {
		speed, err := units.ParseBitRate(o.speeds[min(i, len(o.speeds)-1)])
		if err != nil {
			return nil, err
		}
		speeds[i] = speed
	}
	return speeds, nil
}
