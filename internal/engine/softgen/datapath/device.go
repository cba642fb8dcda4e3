package datapath

import (
	"cmp"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
)

// device is the interface that a port is open on.
type device struct {
	name  string
	index int
	mac   [6]byte
	mtu   int
	nic   machine.NIC
	speed units.BitRate
	// queues are those that it sends on now, receiveQueues 0 if unknown. A driver may have made room for more.
	queues, receiveQueues int
	ring                  int    // how many frames the far end's receive ring is taken to hold, 0 if unknown
	xdp                   uint32 // the id of the XDP program that was on it before, 0 for none
	namespace             *namespace
	link                  *linkWatch
}

// open reads the interface's properties, and begins to watch its link.
func (d *device) open(name string) error {
	l, err := facts(name)
	if err != nil {
		return err
	}
	a := l.Attrs()
	if len(a.HardwareAddr) != 6 {
		return fmt.Errorf("it is not an Ethernet interface: its hardware address is %q", a.HardwareAddr)
	}
	d.name, d.index, d.mtu, d.mac = a.Name, a.Index, a.MTU, [6]byte(a.HardwareAddr)
	d.speed = speed(d.name)
	channels := channelsOf(d.name)
	d.queues, d.receiveQueues = max(cmp.Or(channels.send(), a.NumTxQueues), 1), channels.receive()
	if d.receiveQueues == 0 && a.NumRxQueues == 1 { // there is no room for another
		d.receiveQueues = 1
	}
	if a.Xdp != nil && a.Xdp.Attached {
		d.xdp = a.Xdp.ProgId
	}
	if d.nic = machine.NICOf(d.name); d.nic.Driver == "" {
		d.nic.Driver = l.Type()
	}
	d.ring = ringOf(d.name, d.nic.Driver)
	if d.namespace, err = currentNamespace(); err != nil {
		return err
	}
	d.link, err = watchLink(d.index)
	return err
}

func (d *device) close() error {
	if d.link != nil {
		d.link.close()
	}
	if d.namespace != nil {
		return d.namespace.close()
	}
	return nil
}

// cautions say what may keep the test's frames from this port, where the port itself doesn't show it.
func (d *device) cautions() (sentences []string) {
	if d.xdp != 0 {
		sentences = append(sentences, fmt.Sprintf("an XDP program of somebody else (id %d) is on %s, and gets each frame "+
			"first: ip link set %s xdp off", d.xdp, d.name, d.name))
	}
	if d.nic.Port != "" {
		sentences = append(sentences, card.FunctionCaution(d.name, d.nic.Port))
	}
	return sentences
}

// dropsLeave says whether a frame that the driver drops has left the port. On a veth it has, unless the link is down.
func (d *device) dropsLeave() bool { return d.nic.Driver == "veth" && d.link.isUp.Load() }

// compile makes tracks of streams that the interface can send.
func (d *device) compile(streams []RunStream, nextHop [6]byte) ([]*track, error) {
	tracks, err := compiler{source: d.mac, nextHop: nextHop, speed: d.speed}.compile(streams)
	if err != nil {
		return nil, err
	}
	return tracks, d.checkLengths(tracks)
}

// The kernel allows a frame an Ethernet header and a VLAN tag beyond the interface's MTU.
const (
	ethernetHeaderBytes = 14
	vlanTagBytes        = 4
)

// checkLengths refuses frames that are too long for the interface. A virtual cable drops them silently, and
// counts them like frames without room in the far end's queue.
func (d *device) checkLengths(tracks []*track) error {
	var mtu int
	err := d.namespace.run(func() error {
		l, err := facts(d.name)
		if err == nil {
			mtu = l.Attrs().MTU
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range tracks {
		if length := t.program.MaxLength(); length > mtu+ethernetHeaderBytes+vlanTagBytes {
			return fmt.Errorf("stream %d has frames of %d bytes, and the MTU of %s, %d, lets %d pass at most, a "+
				"VLAN tag included: send shorter ones, or raise it (ip link set %s mtu %d)",
				t.id, length, d.name, mtu, mtu+ethernetHeaderBytes+vlanTagBytes, d.name, length-ethernetHeaderBytes)
		}
	}
	return nil
}

// explain adds the cause and the fix to the kernel's error for a frame of this length without FCS. A virtual
// cable has no queue, so its far end drops a frame that is too long.
func (d *device) explain(err error, length int) error {
	const minMTU = 68 // the smallest MTU of IPv4 (RFC 791); shorter frames fit everywhere
	switch {
	case errors.Is(err, unix.EMSGSIZE):
		return fmt.Errorf("%w: its MTU is %d: ip link set %s mtu %d", ErrTooLong, d.mtu, d.name,
			length-ethernetHeaderBytes)
	case errors.Is(err, unix.ENOBUFS) && d.nic.Driver == "veth" && length > minMTU+ethernetHeaderBytes:
		return fmt.Errorf("%w: the far end of this virtual cable takes less, or is down: set it up, with an MTU "+
			"of at least %d", ErrTooLong, length-ethernetHeaderBytes)
	}
	return err
}

// ErrTooLong refuses a frame that is longer than a port takes.
var ErrTooLong = errors.New("too long")
