package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/card"
)

// interfacePoll is the time between two looks for an interface.
const interfacePoll = 100 * time.Millisecond

// AwaitInterfaces waits until all interfaces exist, sets up those that are down, and waits for their carriers.
// An interface without a carrier gets a note and is no error, since the other end of its cable may come up
// later, and the runner checks again.
func AwaitInterfaces(ctx context.Context, stderr io.Writer, names []string, wait time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, name := range names {
		if err := awaitInterface(bounded, stderr, name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !awaitCarrier(bounded, name) {
			question := "is what is at its other end up?"
			if port := card.PortOf(os.DirFS("/"), name); port != "" {
				question = "is port " + port + " up, which it is a virtual function of? linerate doctor on the node says more"
			}
			fmt.Fprintf(stderr, "note: %s has no carrier: %s\n", name, question)
		}
	}
	return ctx.Err()
}

// AwaitLinks waits until the interfaces exist, and leaves them down, as a device must first keep the kernel
// from sending frames of its own on them.
func AwaitLinks(ctx context.Context, interfaces []string, wait time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		var missing []string
		for _, name := range interfaces {
			_, err := netlink.LinkByName(name)
			if _, absent := errors.AsType[netlink.LinkNotFoundError](err); absent {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if bounded.Pause(limited, interfacePoll) != nil {
			return fmt.Errorf("no interface %s in this network namespace; in a pod, look at the annotation "+
				"k8s.v1.cni.cncf.io/networks and at Multus' log",
				strings.Join(missing, ", "))
		}
	}
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
			return fmt.Errorf("interface %s doesn't exist in this network namespace; in a pod, look at the "+
				"annotation k8s.v1.cni.cncf.io/networks and at Multus' log", name)
		}
	}
}

func setUp(stderr io.Writer, link netlink.Link) error {
	name := link.Attrs().Name
	if link.Attrs().RawFlags&unix.IFF_UP != 0 {
		return nil
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("interface %s is down, and can't be set up: %w; that needs the capability NET_ADMIN", name,
			err)
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
