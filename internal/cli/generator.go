package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/engine/softgen"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
)

// heartbeat is how long the software engine goes on sending after the runner's last request.
const heartbeat = 10 * time.Second

// generatorOptions are the flags of generator.
type generatorOptions struct {
	listen, most, terminationLog string
	ports, nextHops, speeds      []string
	cores, ring, batch           int
	heartbeat, wait              time.Duration
	plain                        bool
	path, secretFile             string
	verifier                     credential.Verifier
}

func newGenerator(s Streams) *cobra.Command {
	var o generatorOptions
	cmd := &cobra.Command{
		Use:     "generator",
		Short:   "Serve the software engine on interfaces of this machine, over TRex's RPC",
		Example: "  sudo linerate generator --ports eth1,eth2 --next-hop 02:00:5e:00:53:01,02:00:5e:00:53:02\n  linerate ramp -s 127.0.0.1 -rt 10 -rd 60 --line-rate 1gbps",
		Long: "Answers TRex's stateless RPC (v3) for the named interfaces, with real packets, to who has the secret of --secret-file. TRex's own clients\n" +
			"have none: --secret-file \"\" serves them, and whoever else reaches the address, but not by the interfaces that it sends on. All traffic stops when no request has come for --heartbeat.\n\n" +
			"It needs CAP_NET_RAW to open interfaces, and CAP_NET_ADMIN to bring up those that are down and to send by AF_XDP. With CAP_BPF as\n" +
			"well, the kernel counts frames (eBPF); without, they are copied out of it (AF_PACKET), which is slower. It says at start what it uses.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, serveGenerator(cmd.Context(), s.Err, o))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.ports, "ports", nil, "interfaces, in the order of the ports")
	f.StringSliceVar(&o.nextHops, "next-hop", nil, "the device's MAC address behind each port, for clients that leave addressing to the server, as ramp does")
	f.StringVar(&o.listen, "listen", "127.0.0.1:4501", "address to answer on")
	f.StringSliceVar(&o.speeds, "speed", []string{"10gbps"}, "the speed that ports without one of their own report: one for all, or one for each")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait until the interfaces exist, and are up")
	f.IntVar(&o.cores, "cores", 0, "threads that may send on each port (default 1, which ports share if they send live frames and there are no more processors than ports)")
	f.StringVar(&o.most, "max-rate", "", "the most that a port sends, whatever load is asked for, such as 5kpps: a weak generator, for tests")
	f.DurationVar(&o.heartbeat, "heartbeat", heartbeat, "stop all traffic this long after the last request; 0 never, as TRex itself")
	f.BoolVar(&o.plain, "plain", false, "use AF_PACKET alone, as on machines that forbid AF_XDP and eBPF")
	f.StringVar(&o.path, "path", "auto", "how to send: live (the kernel makes and paces the frames), af_xdp, zero_copy (af_xdp from memory that the card reads, where its driver can), af_packet, or auto: live over virtual cables where processors are free for it, else af_xdp, else af_packet")
	batchFlag(f, &o.batch)
	f.IntVar(&o.ring, "receive-ring", 0, "bytes of the ring that AF_PACKET receives into (default 8 MiB)")
	secretFlag(f, &o.secretFile, "answer only who may read the secret in this file, which is made if there is none; \"\" answers whoever calls")
	verifierFlag(f, &o.verifier)
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
	most, err := packetRate(o.most)
	if err != nil {
		return exit.BadInput("--max-rate: %w", err)
	}
	hops, err := nextHops(o)
	if err != nil {
		return exit.BadInput("--next-hop: %w", err)
	}
	path, err := readPath(o.path)
	if err != nil {
		return err
	}
	if err := checkBatch(o.batch); err != nil {
		return err
	}
	if o.heartbeat < 0 {
		return exit.BadInput("--heartbeat %v: give a duration, or 0 for never", o.heartbeat)
	}
	cfg := engineConfig(stderr)
	cfg.Heartbeat = o.heartbeat
	if err := awaitInterfaces(ctx, stderr, o.ports, o.wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	for i, name := range o.ports {
		port, err := datapath.Open(datapath.Options{Interface: name, Cores: o.cores, Plain: o.plain, Path: path, Batch: o.batch, ReceiveRing: o.ring, Follow: true})
		if err != nil {
			return exit.NotMeasured("%w%s", err, missingRight(err))
		}
		fmt.Fprintf(stderr, "%s: %s\n", name, port.Info().Path)
		if most > 0 {
			port = datapath.Throttle(port, most)
		}
		cfg.Ports = append(cfg.Ports, softgen.PortConfig{Port: port, Speed: speeds[i], Cores: o.cores, NextHop: hops[i]})
	}
	e, err := softgen.New(cfg)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	verifier, err := guardedBy(stderr, o.verifier, o.secretFile, o.listen)
	if err != nil {
		return err
	}
	l, err := aside.Listen(ctx, o.listen, o.ports)
	if err != nil {
		return exit.BadInput("--listen %s: %w", o.listen, err)
	}
	fmt.Fprintf(stderr, "privileges: %s\n", strings.Join(privileges(), ", "))
	fmt.Fprintf(stderr, "answering on %s; Ctrl-C ends\n", l.Addr())
	return e.Serve(ctx, verifier.Listen(l, credential.Control))
}

// readPath reads --path.
func readPath(text string) (datapath.Path, error) {
	path, err := datapath.ReadPath(text)
	if err != nil {
		return "", exit.BadInput("--path: %w", err)
	}
	return path, nil
}

// batchFlag is --batch.
func batchFlag(f *pflag.FlagSet, to *int) {
	f.IntVar(to, "batch", 0, "live frames that the kernel sends as one batch, 1 to 64; after a stall up to two batches leave at once. 1 sends most evenly, but fewer frames where other work takes the processor (default 16)")
}

func checkBatch(frames int) error {
	if frames < 0 || frames > datapath.MostBatch {
		return exit.BadInput("--batch %d: 1 to %d frames, or 0 for the default", frames, datapath.MostBatch)
	}
	return nil
}

// missingRight is the end of an error's sentence, which says how to get the right that opening an interface needs; empty for other errors.
func missingRight(err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return "; run it as root, or in a container with the capability NET_RAW and user id 0 to have it"
}

// packetRate reads a rate in packets per second; "" is 0.
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

// nextHops are the MAC addresses behind the ports, from --next-hop; all are zero without it.
func nextHops(o generatorOptions) ([][6]byte, error) {
	hops := make([][6]byte, len(o.ports))
	if len(o.nextHops) == 0 {
		return hops, nil
	}
	if len(o.nextHops) != len(o.ports) {
		return nil, fmt.Errorf("%d addresses for %d ports: give one for each, in the ports' order", len(o.nextHops), len(o.ports))
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

func engineConfig(stderr io.Writer) softgen.Config {
	return softgen.Config{Version: version, Heartbeat: heartbeat, Log: logger(stderr, true)}
}

// openSoftware opens the software engine on interfaces of this process's namespace.
func openSoftware(stderr io.Writer, at lab.Bench) (lab.Engine, error) {
	cfg := engineConfig(stderr)
	cfg.Signs = &machine.SignsReader{Links: signsOfLinks(at.Device)}
	for _, p := range at.Ports {
		port, err := datapath.Open(datapath.Options{Interface: p.Interface, Cores: p.Cores, CPUs: p.Processors, Path: datapath.Path(p.Path), Batch: p.Batch, Follow: true})
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", p.Interface, err)
		}
		cfg.Ports = append(cfg.Ports, softgen.PortConfig{Port: port, Speed: p.Speed, Cores: p.Cores})
	}
	return softgen.New(cfg)
}
