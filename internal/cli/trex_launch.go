package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/pod/launch"
	"github.com/linerate-dev/linerate/internal/units"
)

// trexLaunchOptions are the flags of trex-launch.
type trexLaunchOptions struct {
	links                               []string
	linksFile, configFile               string
	linksDigest, extraDigest            string
	networks                            podNetworks
	directory, extra, reportFile, speed string
	heartbeatListen, terminationLog     string
	heartbeat, grace                    time.Duration
	verifier                            credential.Verifier
	decide                              launch.Options
	print                               bool
}

func newTRexLaunch(s Streams) *cobra.Command {
	var o trexLaunchOptions
	cmd := &cobra.Command{
		Use:     "trex-launch [flags] [-- TREX-ARGUMENT...]",
		Short:   "Start TRex in a generator pod, with the devices, CPUs and memory that the pod has",
		Example: "  linerate trex-launch --links /etc/linerate/trex/links.yaml --cores 4\n  linerate trex-launch --link west=lab/sriov-west --link east=lab/sriov-east --print",
		Long: "Writes TRex's configuration from the devices, CPUs and memory of this pod, starts its server, stops all traffic when the runner's heartbeats\n" +
			"stop, and says in the pod's termination message why TRex can't run. docs/trex.md says what an image must contain.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.decide.Arguments = args
			return launchTRex(cmd.Context(), s, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.linksFile, "links", "", "file with the list of links, in the order of TRex's ports")
	digestFlag(f, &o.linksDigest, "links")
	f.StringArrayVar(&o.links, "link", nil, "a link as NAME=NETWORK, instead of --links; again for each, in the order of TRex's ports")
	o.networks.flags(cmd, time.Minute)
	f.StringVar(&o.directory, "directory", "", "TRex's folder (default: looked for in the usual places)")
	f.StringVar(&o.configFile, "config-file", "/tmp/trex_cfg.yaml", "where to write TRex's configuration")
	f.StringVar(&o.extra, "extra-config", "", "file with a YAML map that overrides parts of TRex's configuration")
	digestFlag(f, &o.extraDigest, "extra-config")
	f.IntVar(&o.decide.Cores, "cores", 0, "threads that send, per pair of ports (default: as many as the pod's CPUs allow)")
	f.IntVar(&o.decide.MTU, "mtu", 0, "MTU of the ports (default: TRex's own)")
	f.StringVar(&o.speed, "port-speed", "", "the speed that ports report, such as 25gbps (default: what they detect)")
	f.BoolVar(&o.decide.Kernel, "kernel", false, "use the kernel's interfaces through AF_PACKET, also where there are devices")
	f.BoolVar(&o.decide.SharedPort, "shared-port", false, "let two links share a physical port")
	f.IntVar(&o.decide.RPCPort, "rpc-port", 0, "TCP port of TRex's RPC (default 4501)")
	f.StringVar(&o.heartbeatListen, "heartbeat-listen", ":"+strconv.Itoa(launch.HeartbeatPort), "address for the runner's heartbeats; empty: traffic isn't stopped when they stop")
	verifierFlag(f, &o.verifier)
	f.DurationVar(&o.heartbeat, "heartbeat", launch.DefaultSilence, "stop all traffic this long after the runner's last heartbeat")
	f.DurationVar(&o.grace, "grace", launch.DefaultGrace, "how long TRex may take to end")
	f.StringVar(&o.reportFile, "report", "", "file for the links' devices as JSON (default: a line on stdout)")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	f.BoolVar(&o.print, "print", false, "print TRex's configuration, and start nothing")
	cmd.AddCommand(newRPCProbe(s, "trex-launch", "TRex"), newTRexCopy(s))
	return cmd
}

// launchTRex writes what went wrong to the log, and to the termination message that Kubernetes keeps.
func launchTRex(ctx context.Context, s Streams, o trexLaunchOptions) error {
	err := prepareAndServe(ctx, s, o)
	if err == nil || o.print {
		return err
	}
	var faults []launch.Fault
	for _, e := range flatten(err) {
		f, ok := errors.AsType[launch.Fault](e)
		if !ok {
			f = launch.Fault{Code: launch.TRexEnded, What: e.Error(), Fix: "see the container's log"}
		}
		faults = append(faults, f)
	}
	// Outside of a pod there is no such file, and the message is on stderr anyway.
	if _, missing := os.Stat(o.terminationLog); missing == nil {
		_ = writeInPlace(o.terminationLog, []byte(launch.TerminationMessage(faults)))
	}
	return err
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func prepareAndServe(ctx context.Context, s Streams, o trexLaunchOptions) error {
	links, err := o.readLinks()
	if err != nil {
		return exit.BadInput("%w", err)
	}
	o.decide.Links = links
	if err := o.readSettings(); err != nil {
		return exit.BadInput("%w", err)
	}
	config, err := o.decideHere(ctx, os.DirFS("/"))
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to stop before anything ran, which is no error
	}
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	text, err := launch.Render(config)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	if o.print {
		_, err := s.Out.Write(text)
		return err
	}
	if err := outfile.Write(o.configFile, text, outfile.ForOwner); err != nil {
		return exit.NotMeasured("write TRex's configuration: %w; name a writable place with --config-file", err)
	}
	return o.serve(ctx, s, config)
}

func (o trexLaunchOptions) readLinks() ([]launch.Link, error) {
	if o.linksFile != "" && len(o.links) > 0 {
		return nil, errors.New("--links and --link: give one of them")
	}
	if o.linksFile != "" {
		text, err := readHeld(o.linksFile, o.linksDigest)
		if err != nil {
			return nil, fmt.Errorf("--links: %w", err)
		}
		return launch.ParseLinks(text)
	}
	links, err := parseLinks(o.links)
	if err != nil {
		return nil, fmt.Errorf("--link: %w", err)
	}
	return links, launch.CheckLinks(links)
}

// parseLinks reads links as NAME=NETWORK, or NAME alone.
func parseLinks(texts []string) (links []launch.Link, err error) {
	for _, text := range texts {
		l, err := launch.ParseLink(text)
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

func (o *trexLaunchOptions) readSettings() error {
	if o.speed != "" {
		speed, err := units.ParseBitRate(o.speed)
		if err != nil {
			return fmt.Errorf("--port-speed: %w", err)
		}
		o.decide.PortSpeed = speed
	}
	if o.extra == "" {
		return nil
	}
	text, err := readHeld(o.extra, o.extraDigest)
	if err != nil {
		return fmt.Errorf("--extra-config: %w", err)
	}
	if err := yamltree.Decode(text, &o.decide.Extra, false); err != nil {
		return fmt.Errorf("--extra-config %s: %w", o.extra, err)
	}
	return nil
}

// decideHere makes TRex's configuration from what this machine has.
func (o trexLaunchOptions) decideHere(ctx context.Context, root fs.FS) (launch.Config, error) {
	var networks []launch.Network
	if launch.WantNetworks(o.decide.Links) {
		var err error
		if networks, err = o.networks.read(ctx, root); err != nil {
			return launch.Config{}, err
		}
	}
	o.decide.Namespace = os.Getenv("POD_NAMESPACE")
	config, faults := launch.Decide(launch.Observe(root, os.Environ(), networks), o.decide)
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	return config, errors.Join(all...)
}

func (o trexLaunchOptions) serve(ctx context.Context, s Streams, config launch.Config) error {
	log := slog.New(slog.NewTextHandler(s.Err, nil))
	installation, err := launch.Find(os.DirFS("/"), o.directory, runtime.GOARCH)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	for _, n := range config.Notices {
		log.Warn(n.What, "code", n.Code)
	}
	report := config.Report(os.Getenv("POD_NAME"), os.Getenv("NODE_NAME"), time.Now())
	report.Machine = machine.Local()
	if err := o.printReport(s, report); err != nil {
		return exit.NotMeasured("report the devices: %w", err)
	}
	session := launch.Session{
		Process: launch.Process{
			Installation: installation, Arguments: config.CommandLine(o.configFile), Environment: os.Environ(),
			Stdout: s.Out, Stderr: s.Err, Grace: o.grace,
		},
		Report: report, Silence: o.heartbeat, Log: log,
		RPC: net.JoinHostPort("127.0.0.1", strconv.Itoa(config.RPC())),
	}
	links := make([]string, len(o.decide.Links))
	for i, l := range o.decide.Links {
		links[i] = l.Name
	}
	if shut, err := aside.Shut(links); err != nil {
		log.Warn("TRex's RPC can be reached from the links under test: whoever is on one can drive it", "error", err)
	} else if len(shut) > 0 {
		log.Info("TRex's RPC can't be reached from the links under test", "links", shut)
	}
	if o.heartbeatListen != "" {
		if session.Heartbeat, err = aside.Listen(ctx, o.heartbeatListen, links); err != nil {
			return exit.NotMeasured("--heartbeat-listen %s: %w", o.heartbeatListen, err)
		}
		session.Heartbeat = o.verifier.Listen(session.Heartbeat, credential.Heartbeat)
	}
	if err := launch.Serve(ctx, session); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

func (o trexLaunchOptions) printReport(s Streams, report launch.Report) error {
	line, err := json.Marshal(report)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if o.reportFile != "" {
		return outfile.Write(o.reportFile, line, outfile.ForAll) // other users may read it
	}
	_, err = s.Out.Write(line)
	return err
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
			fmt.Fprintln(s.Out, written)
			return nil
		},
	}
}
