package cli

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

func newTRexLaunch(s Streams) *cobra.Command {
	var l launch.Launcher
	cmd := &cobra.Command{
		Use:   "trex-launch [flags] [-- TREX-ARGUMENT...]",
		Short: "Start TRex in a generator pod, with the devices, CPUs and memory that the pod has",
		Example: "  linerate trex-launch --links /etc/linerate/trex/links.yaml --cores 4\n" +
			"  linerate trex-launch --link west=lab/sriov-west --link east=lab/sriov-east --print",
		Long: "Writes TRex's configuration from the devices, CPUs and memory of this pod, starts its server, stops " +
			"all traffic when the runner's heartbeats\n" +
			"stop, and says in the pod's termination message why TRex can't run. docs/trex.md says what an image " +
			"must contain.",
		RunE: func(cmd *cobra.Command, args []string) error {
			l.Options.Arguments = args
			return l.Run(cmd.Context(), s.Stdout, s.Stderr)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.LinksFile, "links", "", "file with the list of links, in the order of TRex's ports")
	digestFlag(f, &l.LinksDigest, "links")
	f.StringArrayVar(&l.Links, "link", nil, "a link as NAME=NETWORK, instead of --links; again for each, in the "+
		"order of TRex's ports")
	networkFlags(cmd, &l.Networks, time.Minute)
	f.StringVar(&l.Directory, "directory", "", "TRex's folder (default: looked for in the usual places)")
	f.StringVar(&l.ConfigFile, "config-file", "/tmp/trex_cfg.yaml", "where to write TRex's configuration")
	f.StringVar(&l.ExtraFile, "extra-config", "", "file with a YAML map that overrides parts of TRex's configuration")
	digestFlag(f, &l.ExtraDigest, "extra-config")
	f.IntVar(&l.Options.Cores, "cores", 0, "threads that send, per pair of ports (default: as many as the pod's CPUs "+
		"allow)")
	f.IntVar(&l.Options.MTU, "mtu", 0, "MTU of the ports (default: TRex's own)")
	f.StringVar(&l.PortSpeed, "port-speed", "",
		"the speed that ports report, such as 25gbps (default: what they detect)")
	f.BoolVar(&l.Options.Kernel, "kernel", false,
		"use the kernel's interfaces through AF_PACKET, also where there are devices")
	f.BoolVar(&l.Options.SharedPort, "shared-port", false, "let two links share a physical port")
	f.IntVar(&l.Options.RPCPort, "rpc-port", 0, "TCP port of TRex's RPC (default 4501)")
	f.StringVar(&l.HeartbeatListen, "heartbeat-listen", ":"+strconv.Itoa(launch.HeartbeatPort),
		"address for the runner's heartbeats; empty: traffic isn't stopped when they stop")
	verifierFlag(f, &l.Verifier)
	f.DurationVar(&l.HeartbeatTimeout, "heartbeat", launch.DefaultHeartbeatTimeout,
		"stop all traffic this long after the runner's last heartbeat")
	f.DurationVar(&l.Grace, "grace", launch.DefaultGrace, "how long TRex may take to end")
	f.StringVar(&l.ReportFile, "report", "", "file for the links' devices as JSON (default: a line on stdout)")
	terminationFlag(cmd, &l.TerminationLog, "for what went wrong")
	f.BoolVar(&l.Print, "print", false, "print TRex's configuration, and start nothing")
	cmd.AddCommand(newRPCProbe(s, "trex-launch", "TRex"), newTRexCopy(s))
	return cmd
}

func newTRexCopy(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "copy DESTINATION",
		Short:   "Copy this program, for an init container",
		Example: "  linerate trex-launch copy /opt/linerate/",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return exit.NotMeasured("find this program: %w", err)
			}
			written, err := launch.CopyProgram(self, args[0])
			if err != nil {
				return exit.NotMeasured("%w", err)
			}
			fmt.Fprintln(s.Stdout, written)
			return nil
		},
	}
}
