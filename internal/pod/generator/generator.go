package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/engine/softgen"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/units"
)

// Heartbeat is how long the software engine goes on sending after the runner's last request.
const Heartbeat = 10 * time.Second

// Options are what the software engine is served with.
type Options struct {
	Ports []Port
	// Listen is the address of the RPC. Guard returns who may call it, once the ports are open.
	Listen string
	Guard  func() (credential.Verifier, error)
	// Wait is how long the interfaces may take to exist, and to be up.
	Wait time.Duration
	// Cores is how many threads may send on each port. Zero is the engine's own number.
	Cores int
	// MaxRate bounds what a port sends, whatever load is asked for, which makes a weak generator for tests. Zero
	// is no bound.
	MaxRate units.PacketRate
	// Heartbeat ends all traffic so long after the last request. Zero never ends it.
	Heartbeat time.Duration
	// Plain uses AF_PACKET alone. Path is how to send. Batch is how many live frames the kernel sends at once.
	// Zero is the engine's own number.
	Plain bool
	Path  datapath.Path
	Batch int
	// ReceiveRing is the ring that AF_PACKET receives into, in bytes. Zero is the engine's own.
	ReceiveRing int
	// Version is linerate's.
	Version string
}

// Port is an interface that the engine sends on.
type Port struct {
	Interface string
	Speed     units.BitRate // which the port reports if it has none of its own
	NextHop   [6]byte       // the device behind it, for clients that leave addressing to the server, zero if unknown
}

// Config is the engine's configuration but for its ports.
func Config(version string, stderr io.Writer) softgen.Config {
	return softgen.Config{Version: version, Heartbeat: Heartbeat, Log: logger(stderr)}
}

func logger(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Serve opens the ports, and answers TRex's RPC for them until ctx ends.
func Serve(ctx context.Context, stderr io.Writer, o Options) error {
	cfg := Config(o.Version, stderr)
	cfg.Heartbeat = o.Heartbeat
	var names []string
	for _, p := range o.Ports {
		names = append(names, p.Interface)
	}
	if err := pod.AwaitInterfaces(ctx, stderr, names, o.Wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	for _, p := range o.Ports {
		port, err := datapath.Open(datapath.Options{Interface: p.Interface, Cores: o.Cores, Plain: o.Plain,
			Path: o.Path, Batch: o.Batch, ReceiveRing: o.ReceiveRing, Follow: true})
		if err != nil {
			return exit.NotMeasured("%w%s", err, missingRight(err))
		}
		fmt.Fprintf(stderr, "%s: %s\n", p.Interface, port.Info().Path)
		if o.MaxRate > 0 {
			port = datapath.Throttle(port, o.MaxRate)
		}
		cfg.Ports = append(cfg.Ports, softgen.PortConfig{Port: port, Speed: p.Speed, Cores: o.Cores,
			NextHop: p.NextHop})
	}
	e, err := softgen.New(cfg)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	verifier, err := o.Guard()
	if err != nil {
		return err
	}
	l, err := aside.Listen(ctx, o.Listen, names)
	if err != nil {
		return exit.BadInput("--listen %s: %w", o.Listen, err)
	}
	fmt.Fprintf(stderr, "privileges: %s\n", strings.Join(privileges(), ", "))
	fmt.Fprintf(stderr, "answering on %s; Ctrl-C ends\n", l.Addr())
	return e.Serve(ctx, verifier.Listen(l, credential.Control))
}

// missingRight is the end of an error's sentence, which says how to get the right that opening an interface
// needs. It is empty for other errors.
func missingRight(err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return "; run it as root, or in a container with the capability NET_RAW and user id 0 to have it"
}

// privileges names the capabilities of this process that the engine can use.
func privileges() []string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return []string{"unknown"}
	}
	var names []string
	for _, c := range []struct {
		bit  int
		name string
	}{
		{unix.CAP_NET_RAW, "NET_RAW (sockets on the interfaces)"},
		{unix.CAP_NET_ADMIN, "NET_ADMIN (interfaces up, AF_XDP)"},
		{unix.CAP_BPF, "BPF (frames counted in the kernel)"},
		{unix.CAP_SYS_NICE, "SYS_NICE (sending threads that nothing holds up)"},
		{unix.CAP_SYS_ADMIN, "SYS_ADMIN (not needed)"},
	} {
		if data[c.bit/32].Effective&(1<<(c.bit%32)) != 0 {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}
