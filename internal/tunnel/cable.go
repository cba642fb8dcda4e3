package tunnel

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/forwarder"
	"github.com/linerate-dev/linerate/internal/plan"
)

// OpenCable gives a gateway's end of the cable its address, and room for packets of the tunnel's MTU with their headers, and sets it up.
func OpenCable(local netip.Prefix, mtu int) error {
	forwarder.PlainFrames(plan.TunnelCable)
	l, err := netlink.LinkByName(plan.TunnelCable)
	if err != nil {
		return fmt.Errorf("find the cable between the gateways, %s: %w", plan.TunnelCable, err)
	}
	if room := mtu + plan.TunnelRoom; l.Attrs().MTU < room {
		if err := netlink.LinkSetMTU(l, room); err != nil {
			return fmt.Errorf("the cable between the gateways takes packets of %d bytes, and needs room for %d, encrypted ones: %w: give its network (dut.reference.mode.tunnel.network) that MTU, or use smaller frames", l.Attrs().MTU, room, err)
		}
	}
	if err := forwarder.AddAddress(l, local); err != nil {
		return fmt.Errorf("%s: address %s: %w", plan.TunnelCable, local, err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("set %s up: %w", plan.TunnelCable, err)
	}
	return nil
}

// tunDevice is what makes a tunnel's interface; pods have none.
const tunDevice = "/dev/net/tun"

// makeTunDevice makes it where it isn't there, as in a pod: a container's runtime allows it, and brings none.
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
