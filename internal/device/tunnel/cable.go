package tunnel

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// OpenCable gives a gateway's end of the cable its address, and sets it up. It refuses one without room for
// packets of the tunnel's MTU with their headers.
func OpenCable(local netip.Prefix, mtu int) error {
	netif.DisableOffloads(plan.TunnelCable)
	l, err := netlink.LinkByName(plan.TunnelCable)
	if err != nil {
		return fmt.Errorf("find the cable between the gateways, %s: %w", plan.TunnelCable, err)
	}
	if err := roomOn(l.Attrs().MTU, mtu); err != nil {
		return err
	}
	if err := netif.AddAddress(l, local); err != nil {
		return fmt.Errorf("%s: address %s: %w", plan.TunnelCable, local, err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("set %s up: %w", plan.TunnelCable, err)
	}
	return nil
}

// roomOn returns an error if the cable's MTU is too small. Only the cable's network can give it a larger one,
// as setting one on this interface would succeed, whatever the other end takes.
func roomOn(cable, tunnel int) error {
	if room := tunnel + plan.TunnelRoom; cable < room {
		return fmt.Errorf("the cable between the gateways, %s, takes packets of %d bytes, and encrypted ones have up "+
			"to %d: give its network (dut.reference.mode.tunnel.network) an MTU of %d (\"mtu\" of its CNI plugin, or "+
			"the plugin tuning after it), or use smaller frames", plan.TunnelCable, cable, room, room)
	}
	return nil
}

// tunDevice is what makes a tunnel's interface. Pods have none.
const tunDevice = "/dev/net/tun"

// makeTunDevice makes that device if it is missing, as in pods, where container runtimes allow to use it, but
// don't create it.
func makeTunDevice() error {
	const major, minor = 10, 200 // linux/miscdevice.h
	if err := unix.Access(tunDevice, unix.F_OK); err == nil {
		return nil
	}
	err := unix.Mkdir("/dev/net", 0o755)
	if err == nil || errors.Is(err, unix.EEXIST) {
		err = unix.Mknod(tunDevice, unix.S_IFCHR|0o600, int(unix.Mkdev(major, minor)))
	}
	if err != nil {
		return fmt.Errorf("make %s: %w (the pod needs the capability MKNOD)", tunDevice, err)
	}
	return nil
}
