package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/units"
)

// Launcher is what trex-launch is started with, what the test asks for, and where the pod has its files.
type Launcher struct {
	Options Options
	// Links are NAME=NETWORK, or NAME alone, in the order of TRex's ports. LinksFile names the operator's list instead.
	Links                  []string
	LinksFile, LinksDigest string
	Networks               NetworkStatus
	// Directory is TRex's folder. Without one, Find looks in the usual places.
	Directory string
	// ConfigFile is where TRex's configuration is written. With Print it goes to stdout, and nothing is started.
	ConfigFile string
	Print      bool
	// ExtraFile is a YAML map that overrides parts of the configuration.
	ExtraFile, ExtraDigest string
	// PortSpeed is the speed that ports report, such as 25gbps. Without it they report what they detect.
	PortSpeed string
	// HeartbeatListen is the address for the runner's heartbeats. Without an address, traffic goes on when they end.
	// HeartbeatTimeout is how long traffic goes on after the last one.
	HeartbeatListen  string
	HeartbeatTimeout time.Duration
	Verifier         credential.Verifier
	// Grace is how long TRex may take to end.
	Grace time.Duration
	// ReportFile gets the links' devices as JSON. Without a file they are a line on stdout.
	ReportFile string
	// TerminationLog is the file of the container's termination message.
	TerminationLog string
}

// Run starts TRex, and returns when it has ended. It writes what went wrong to the termination message that
// Kubernetes keeps.
func (l *Launcher) Run(ctx context.Context, stdout, stderr io.Writer) error {
	err := l.prepareAndServe(ctx, stdout, stderr)
	if err == nil || l.Print {
		return err
	}
	var faults []Fault
	for _, e := range flatten(err) {
		f, ok := errors.AsType[Fault](e)
		if !ok {
			f = Fault{Code: TRexEnded, Problem: e.Error(), Fix: "see the container's log"}
		}
		faults = append(faults, f)
	}
	// the message is on stderr anyway
	_ = pod.WriteTerminationMessage(l.TerminationLog, []byte(TerminationMessage(faults)))
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

func (l *Launcher) prepareAndServe(ctx context.Context, stdout, stderr io.Writer) error {
	links, err := l.readLinks()
	if err != nil {
		return exit.BadInput("%w", err)
	}
	l.Options.Links = links
	if err := l.readSettings(); err != nil {
		return exit.BadInput("%w", err)
	}
	config, err := l.decideHere(ctx, os.DirFS("/"))
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to stop before anything ran, which is no error
	}
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	text, err := Render(config)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	if l.Print {
		_, err := stdout.Write(text)
		return err
	}
	if err := outfile.Write(l.ConfigFile, text, outfile.ForOwner); err != nil {
		return exit.NotMeasured("write TRex's configuration: %w; name a writable place with --config-file", err)
	}
	return l.serve(ctx, stdout, stderr, config)
}

func (l *Launcher) readLinks() ([]Link, error) {
	if l.LinksFile != "" && len(l.Links) > 0 {
		return nil, errors.New("--links and --link: give one of them")
	}
	if l.LinksFile != "" {
		text, err := pod.ReadFile(l.LinksFile, l.LinksDigest)
		if err != nil {
			return nil, fmt.Errorf("--links: %w", err)
		}
		return ParseLinks(text)
	}
	links, err := ParseLinkFlags(l.Links)
	if err != nil {
		return nil, fmt.Errorf("--link: %w", err)
	}
	return links, CheckLinks(links)
}

// ParseLinkFlags reads links as NAME=NETWORK, or NAME alone.
func ParseLinkFlags(texts []string) (links []Link, err error) {
	for _, text := range texts {
		l, err := ParseLink(text)
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

func (l *Launcher) readSettings() error {
	if l.PortSpeed != "" {
		speed, err := units.ParseBitRate(l.PortSpeed)
		if err != nil {
			return fmt.Errorf("--port-speed: %w", err)
		}
		l.Options.PortSpeed = speed
	}
	if l.ExtraFile == "" {
		return nil
	}
	text, err := pod.ReadFile(l.ExtraFile, l.ExtraDigest)
	if err != nil {
		return fmt.Errorf("--extra-config: %w", err)
	}
	if err := yamltree.Decode(text, &l.Options.Extra, false); err != nil {
		return fmt.Errorf("--extra-config %s: %w", l.ExtraFile, err)
	}
	return nil
}

// decideHere makes TRex's configuration from what this machine has.
func (l *Launcher) decideHere(ctx context.Context, root fs.FS) (Config, error) {
	var networks []Network
	if slices.ContainsFunc(l.Options.Links, func(l Link) bool { return l.Network != "" }) {
		var err error
		if networks, err = l.Networks.Await(ctx, root); err != nil {
			return Config{}, err
		}
	}
	l.Options.Namespace = os.Getenv("POD_NAMESPACE")
	config, faults := Decide(Observe(root, os.Environ(), networks), l.Options)
	problems := make([]error, len(faults))
	for i, f := range faults {
		problems[i] = f
	}
	return config, errors.Join(problems...)
}

func (l *Launcher) serve(ctx context.Context, stdout, stderr io.Writer, config Config) error {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	installation, err := Find(os.DirFS("/"), l.Directory, runtime.GOARCH)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	for _, n := range config.Notices {
		log.Warn(n.Notable, "code", n.Code)
	}
	report := config.Report(os.Getenv("POD_NAME"), os.Getenv("NODE_NAME"), time.Now())
	report.Machine = machine.Local()
	if err := l.printReport(stdout, report); err != nil {
		return exit.NotMeasured("report the devices: %w", err)
	}
	session := Session{
		Process: Process{
			Installation: installation, Arguments: config.CommandLine(l.ConfigFile), Environment: os.Environ(),
			Stdout: stdout, Stderr: stderr, Grace: l.Grace,
		},
		Report: report, HeartbeatTimeout: l.HeartbeatTimeout, Log: log,
		RPC: net.JoinHostPort("127.0.0.1", strconv.Itoa(config.RPC())),
	}
	links := make([]string, len(l.Options.Links))
	for i, l := range l.Options.Links {
		links[i] = l.Name
	}
	if shut, err := aside.Shut(links); err != nil {
		log.Warn("TRex's RPC can be reached from the links under test: whoever is on one can drive it", "error", err)
	} else if len(shut) > 0 {
		log.Info("TRex's RPC can't be reached from the links under test", "links", shut)
	}
	if l.HeartbeatListen != "" {
		if session.Heartbeat, err = aside.Listen(ctx, l.HeartbeatListen, links); err != nil {
			return exit.NotMeasured("--heartbeat-listen %s: %w", l.HeartbeatListen, err)
		}
		session.Heartbeat = l.Verifier.Listen(session.Heartbeat, credential.Heartbeat)
	}
	if err := Serve(ctx, session); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

func (l *Launcher) printReport(stdout io.Writer, report Report) error {
	line, err := json.Marshal(report)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if l.ReportFile != "" {
		return outfile.Write(l.ReportFile, line, outfile.ForAll) // other users may read it
	}
	_, err = stdout.Write(line)
	return err
}
