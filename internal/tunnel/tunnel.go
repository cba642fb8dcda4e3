// Package tunnel is one gateway of a WireGuard tunnel, in user space: the process of a device under test.
package tunnel

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun"

	"github.com/linerate-dev/linerate/internal/forwarder"
)

// Interface is the gateway's end of the tunnel, in its network namespace.
const Interface = "tunnel.0"

// Port is where gateways listen.
const Port = 51820

// Gateway is one of the two.
type Gateway struct {
	PrivateKey string `json:"privateKey"` // in hexadecimal, as all keys here
	PeerKey    string `json:"peerKey"`
	// Peer is where the other gateway is reached, outside the tunnel.
	Peer netip.AddrPort `json:"peer"`
	MTU  int            `json:"mtu"`
	// Networks are reached through the tunnel.
	Networks []netip.Prefix `json:"networks"`
}

// Keys makes a gateway's pair of keys.
func Keys() (private, public string, err error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	return hex.EncodeToString(key.Bytes()), hex.EncodeToString(key.PublicKey().Bytes()), nil
}

// Serve makes the tunnel in the process's network namespace, calls ready once frames can go through, and encrypts until the context ends. It needs CAP_NET_ADMIN and /dev/net/tun.
func (g Gateway) Serve(ctx context.Context, ready func() error) error {
	end, err := open()
	if err != nil {
		return err
	}
	d := device.NewDevice(fixed{end, g.MTU}, conn.NewStdNetBind(), device.NewLogger(device.LogLevelError, "wireguard: "))
	defer d.Close()
	if err := d.IpcSet(g.settings()); err != nil {
		return fmt.Errorf("configure WireGuard: %w", err)
	}
	if err := d.Up(); err != nil {
		return fmt.Errorf("start WireGuard: %w", err)
	}
	if err := g.route(); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-d.Wait():
		return fmt.Errorf("WireGuard stopped by itself")
	}
}

// settings are the gateway's in the form of WireGuard's cross-platform interface. A handshake comes with the first frame.
func (g Gateway) settings() string {
	var s strings.Builder
	fmt.Fprintf(&s, "private_key=%s\nlisten_port=%d\npublic_key=%s\nendpoint=%s\n", g.PrivateKey, Port, g.PeerKey, g.Peer)
	for _, all := range []string{"0.0.0.0/0", "::/0"} {
		fmt.Fprintf(&s, "allowed_ip=%s\n", all)
	}
	return s.String()
}

// open makes the tunnel's interface. Packets are read and written one at a time, as they are: none is merged with others or split.
func open() (tun.Device, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w (load the kernel's module tun)", err)
	}
	request, err := unix.NewIfreq(Interface)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("make the interface %s: %w", Interface, err)
	}
	end, _, err := tun.CreateUnmonitoredTUNFromFD(fd)
	if err != nil {
		return nil, fmt.Errorf("take the interface %s: %w", Interface, err)
	}
	return end, nil
}

// fixed has the MTU that it was given.
type fixed struct {
	tun.Device
	mtu int
}

// MTU returns it.
func (f fixed) MTU() (int, error) { return f.mtu, nil }

// route sets the tunnel's interface up and leads to what is behind the other gateway.
func (g Gateway) route() error {
	l, err := netlink.LinkByName(Interface)
	if err != nil {
		return fmt.Errorf("find %s: %w", Interface, err)
	}
	if err := netlink.LinkSetMTU(l, g.MTU); err != nil {
		return fmt.Errorf("%s: MTU %d: %w", Interface, g.MTU, err)
	}
	if err := forwarder.Route(l); err != nil {
		return fmt.Errorf("%s: forward what comes out of it: %w", Interface, err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("set %s up: %w", Interface, err)
	}
	for _, network := range g.Networks {
		err := netlink.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Scope: netlink.SCOPE_LINK, Dst: forwarder.IPNet(network.Masked())})
		if err != nil {
			return fmt.Errorf("route %s by %s: %w", network, Interface, err)
		}
	}
	return nil
}
