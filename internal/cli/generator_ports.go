package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/units"
)

// portSpeeds are the ports' speeds, from one for all or one for each.
func portSpeeds(o generatorOptions) ([]units.BitRate, error) {
	if len(o.speeds) != 1 && len(o.speeds) != len(o.ports) {
		return nil, fmt.Errorf("%d speeds for %d ports: give one for all, or one for each in the ports' order", len(o.speeds), len(o.ports))
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

// interfacePoll is the time between two looks for an interface.
const interfacePoll = 100 * time.Millisecond

// awaitInterfaces waits until all interfaces exist, sets up those that are down, and waits for their carriers. One without a carrier gets a note
// and is no error: the other end of its cable may come up later, and the runner checks again.
func awaitInterfaces(ctx context.Context, stderr io.Writer, names []string, wait time.Duration) error {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, name := range names {
		if err := awaitInterface(within, stderr, name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !awaitCarrier(within, name) {
			fmt.Fprintf(stderr, "note: %s has no carrier: is what is at its other end up?\n", name)
		}
	}
	return ctx.Err()
}

func awaitInterface(ctx context.Context, stderr io.Writer, name string) error {
	for noted := false; ; noted = true {
		link, err := netlink.LinkByName(name)
		if err == nil {
			return setUp(stderr, link)
		}
		if _, missing := errors.AsType[netlink.LinkNotFoundError](err); !missing {
			return fmt.Errorf("look up interface %s: %w", name, err)
		}
		if !noted {
			fmt.Fprintf(stderr, "waiting for interface %s\n", name)
		}
		if bounded.Pause(ctx, interfacePoll) != nil {
			return fmt.Errorf("interface %s doesn't exist in this network namespace; in a pod, look at the annotation k8s.v1.cni.cncf.io/networks and at Multus' log", name)
		}
	}
}

func setUp(stderr io.Writer, link netlink.Link) error {
	name := link.Attrs().Name
	if link.Attrs().RawFlags&unix.IFF_UP != 0 {
		return nil
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("interface %s is down, and can't be set up: %w; that needs the capability NET_ADMIN", name, err)
	}
	fmt.Fprintf(stderr, "%s: set up\n", name)
	return nil
}

func awaitCarrier(ctx context.Context, name string) bool {
	for {
		link, err := netlink.LinkByName(name)
		if err == nil && link.Attrs().RawFlags&unix.IFF_RUNNING != 0 {
			return true
		}
		if bounded.Pause(ctx, interfacePoll) != nil {
			return false
		}
	}
}

// privileges names the capabilities of this process that the engine can use.
func privileges() []string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return []string{"unknown"}
	}
	var have []string
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
			have = append(have, c.name)
		}
	}
	if len(have) == 0 {
		return []string{"none"}
	}
	return have
}
