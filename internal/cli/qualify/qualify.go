package qualify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Options say what to qualify.
type Options struct {
	// Ports are the names of two interfaces that are wired to each other, in the calling thread's network namespace.
	Ports [2]string
	// Window is how long a load at full speed is measured.
	Window time.Duration
	// Producer is the program's name and version.
	Producer string
	// Progress is told what is measured next.
	Progress func(format string, args ...any)
}

// Longest is how long a qualification takes at most.
const Longest = 10 * time.Minute

// Run qualifies the ports. Its error is nil, or why nothing was measured: then the document has what was read, or is
// nil. The ports' network namespace is that of the calling goroutine's thread, to which it must be locked.
func Run(ctx context.Context, o Options) (d *Document, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Longest, fmt.Errorf("a qualification ends after %v", Longest))
	defer cancel()
	restore, err := setUp(o.Ports)
	defer func() { err = errors.Join(err, restore()) }()
	if err != nil {
		return nil, err
	}
	d = &Document{Version: Version, Producer: o.Producer, Machine: inspectMachine(os.DirFS("/"))}
	if err := d.inspect(os.DirFS("/"), o.Ports); err != nil {
		return nil, err
	}
	err = d.measure(ctx, o)
	d.Findings = weaknesses(d)
	if errors.Is(err, ErrNoCable) {
		d.Findings = slices.Insert(d.Findings, 0, doctor.Finding{Level: doctor.Fail, Check: "cable",
			Message: err.Error(),
			Fix:     "connect the two ports to each other, then run it again"})
	}
	d.Lines = verdict(d)
	return d, err
}

// setUp sets ports up that are down. restore sets them down again.
func setUp(ports [2]string) (restore func() error, err error) {
	var changed []netlink.Link
	restore = func() error {
		var errs []error
		for _, l := range changed {
			errs = append(errs, netlink.LinkSetDown(l))
		}
		return errors.Join(errs...)
	}
	for _, name := range ports {
		l, err := netif.Find(name)
		if err != nil {
			return restore, fmt.Errorf("port %s: %w; ip link lists those that there are", name, err)
		}
		if l.Attrs().RawFlags&unix.IFF_UP != 0 {
			continue
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return restore, fmt.Errorf("set port %s up: %w", name, err)
		}
		changed = append(changed, l)
	}
	return restore, nil
}

func (d *Document) inspect(root fs.FS, ports [2]string) error {
	asked, err := card.Ask()
	if err != nil {
		return err
	}
	for _, name := range ports {
		open, err := datapath.Open(datapath.Options{Interface: name, Path: datapath.PathPacket, Plain: true})
		if err != nil {
			return err
		}
		info := open.Info()
		if err := open.Close(); err != nil {
			return err
		}
		p, err := inspectPort(root, asked, info)
		if err != nil {
			return fmt.Errorf("port %s: %w", name, err)
		}
		d.Ports = append(d.Ports, p)
	}
	return nil
}

// measure measures one direction after the other, when cables hold in both.
func (d *Document) measure(ctx context.Context, o Options) error {
	if err := awaitCarrier(ctx, o.Ports[:]...); err != nil {
		return err
	}
	var benches []bench
	for i := range d.Ports {
		sender, receiver := d.Ports[i], d.Ports[1-i]
		b := bench{sender: sender, receiver: receiver, window: o.Window, progress: o.Progress,
			random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
		for index, name := range map[*int]string{&b.senderIndex: sender.Name, &b.receiverIndex: receiver.Name} {
			l, err := netif.Find(name)
			if err != nil {
				return fmt.Errorf("port %s: %w", name, err)
			}
			*index = l.Attrs().Index
		}
		if err := b.proveCable(ctx); err != nil {
			return err
		}
		benches = append(benches, b)
	}
	for _, b := range benches {
		direction, err := b.measure(ctx)
		d.Directions = append(d.Directions, direction)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b bench) measure(ctx context.Context) (d Direction, err error) {
	d.From, d.To = b.sender.Name, b.receiver.Name
	if d.Paths, err = b.ratePaths(ctx); err != nil {
		return d, err
	}
	if d.Clean, err = b.findClean(ctx, d.Paths); err != nil || d.Clean == nil {
		return d, err
	}
	if d.Overload, err = b.overload(ctx, *d.Clean); err != nil {
		return d, err
	}
	d.Answer, err = b.answer(ctx, *d.Clean)
	return d, err
}
