package forwarder

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// Counted is the kernel's counters of one of the device's interfaces, since the interface was made
// (rtnl_link_stats64, include/uapi/linux/if_link.h).
type Counted struct {
	Interface      string
	Received, Sent int64 // frames
	Dropped        int64 // dropped by the kernel on their way in or out, for lack of room or of a receiver
	Errors         int64 // damaged when they came in, or could not be sent
}

// Counters reads the device's interfaces. It is used by one goroutine at a time.
type Counters struct {
	handle *netlink.Handle
	links  []Link
}

// OpenCounters opens the counters of a spec's interfaces, in the namespace that was configured. Nil is the
// caller's own.
func OpenCounters(ns *netif.Namespace, spec Spec) (*Counters, error) {
	c := &Counters{links: spec.Links}
	err := ns.Do(func() (err error) {
		c.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE) // which stays in the namespace that it was opened in
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	return c, nil
}

// Read returns the present counters of each interface, in the spec's order.
func (c *Counters) Read() ([]Counted, error) {
	counters := make([]Counted, 0, len(c.links))
	for _, l := range c.links {
		link, err := c.handle.LinkByName(l.Interface)
		if err != nil {
			return nil, fmt.Errorf("the device's interface %s can't be read: %w", l.Interface, err)
		}
		s := link.Attrs().Statistics
		if s == nil {
			return nil, fmt.Errorf("the kernel doesn't count the device's interface %s", l.Interface)
		}
		counters = append(counters, Counted{Interface: l.Interface, Received: int64(s.RxPackets),
			Sent:    int64(s.TxPackets),
			Dropped: int64(s.RxDropped + s.TxDropped), Errors: int64(s.RxErrors + s.TxErrors)})
	}
	return counters, nil
}

// Close closes the netlink socket.
func (c *Counters) Close() error {
	c.handle.Close()
	return nil
}

// Signs turns the kernel's counters of a device's interfaces into vital signs. It is nil where read is nil.
func Signs(read func() ([]Counted, error)) func() ([]signs.Value, error) {
	if read == nil {
		return nil
	}
	return func() (values []signs.Value, err error) {
		counted, err := read()
		for _, c := range counted {
			value := func(series string, n int64) signs.Value {
				return signs.Value{Series: series, Part: c.Interface, Number: float64(n)}
			}
			values = append(values, value("received", c.Received), value("sent", c.Sent), value("dropped", c.Dropped),
				value("errors", c.Errors))
		}
		return values, err
	}
}
