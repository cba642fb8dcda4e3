package tunnel

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Interface is a WireGuard gateway's end of the tunnel, in its network namespace.
const Interface = "tunnel.0"

// Port is where gateways listen.
const Port = 51820

// Gateway is one of the tunnel's two gateways, with its keys.
type Gateway struct {
	Kind string `json:"kind"`
	// Of WireGuard, in hexadecimal as all keys here.
	PrivateKey string `json:"privateKey,omitempty"`
	PeerKey    string `json:"peerKey,omitempty"`
	// Secret is what both gateways of an IPsec tunnel know, Cipher how they encrypt, Behind the networks behind
	// this gateway, and Local its address outside the tunnel. Asks says that it dials the other gateway, which
	// listens.
	Secret string         `json:"secret,omitempty"`
	Cipher string         `json:"cipher,omitempty"`
	Behind []netip.Prefix `json:"behind,omitempty"`
	Local  netip.Addr     `json:"local"`
	Asks   bool           `json:"asks,omitempty"`
	// Peer is where the other gateway is reached, outside the tunnel.
	Peer netip.AddrPort `json:"peer"`
	MTU  int            `json:"mtu"`
	// Networks are those that are reached through the tunnel.
	Networks []netip.Prefix `json:"networks"`
	// InPod says that the gateway has a pod of its own, so its files can't collide with another gateway's or the
	// machine's.
	InPod bool `json:"inPod,omitempty"`
}

// Keys makes a gateway's pair of keys.
func Keys() (private, public string, err error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	return hex.EncodeToString(key.Bytes()), hex.EncodeToString(key.PublicKey().Bytes()), nil
}

// Serve makes the tunnel in the process's network namespace, calls ready once frames can go through, and
// encrypts until the context ends. It needs CAP_NET_ADMIN and /dev/net/tun, in a pod CAP_MKNOD.
func (g Gateway) Serve(ctx context.Context, ready func() error) error {
	if g.InPod {
		if err := makeTunDevice(); err != nil {
			return err
		}
	}
	if g.Kind == plan.TunnelIPsec {
		return g.serveIPsec(ctx, ready)
	}
	end, err := open()
	if err != nil {
		return err
	}
	d := device.NewDevice(fixed{end, g.MTU}, conn.NewStdNetBind(), device.NewLogger(device.LogLevelError,
		"wireguard: "))
	defer d.Close()
	if err := d.IpcSet(g.settings()); err != nil {
		return fmt.Errorf("configure WireGuard: %w", err)
	}
	if err := d.Up(); err != nil {
		return fmt.Errorf("start WireGuard: %w", err)
	}
	if err := g.route(Interface, g.MTU); err != nil {
		return err
	}
	if g.Asks {
		if err := g.awaitHandshake(ctx, d); err != nil {
			return err
		}
	} else {
		ctx, stop := context.WithCancel(ctx)
		confirmed := make(chan struct{})
		go func() {
			defer close(confirmed)
			_ = g.confirm(ctx, d) // without the confirmation the other gateway says that this one doesn't answer
		}()
		defer func() {
			stop()
			<-confirmed
		}()
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

// handshakeBound bounds how long the first gateway may take to answer, and pollHandshake is the time between
// two looks at WireGuard's state.
const (
	handshakeBound = 20 * time.Second
	pollHandshake  = 10 * time.Millisecond
)

// keepIdleTunnelAlive has WireGuard send an empty packet in each second without another one, and
// sendNoKeepalives ends that.
const (
	keepIdleTunnelAlive = "persistent_keepalive_interval=1\n"
	sendNoKeepalives    = "persistent_keepalive_interval=0\n"
)

// awaitHandshake is the second gateway's part of the handshake. It waits until both gateways can encrypt.
// WireGuard's first gateway can't before a packet of the second one confirmed the new keys. If that packet is
// lost, the first gateway starts a handshake of its own only 5 s later, and the frames of these seconds are
// lost.
//
//	first                                second
//	  │ ◀──────── initiation ─────────────  │  again each 5 s, until the first gateway is up
//	  │ ───────── response ─────────────▶   │  the second gateway can encrypt
//	  │ ◀──────── keepalive ──────────────  │  each second, so the first gateway can encrypt
//	  │ ───────── keepalive ────────────▶   │  each second, so the second gateway knows that
func (g Gateway) awaitHandshake(ctx context.Context, d *device.Device) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeBound,
		fmt.Errorf("the other gateway, %s, answers no handshake within %s", g.Peer, handshakeBound))
	defer cancel()
	answered, err := awaitState(ctx, d, func(s state) bool { return s.shaken })
	if err != nil {
		return err
	}
	if _, err := awaitState(ctx, d, func(s state) bool { return s.received > answered.received }); err != nil {
		return err
	}
	return d.IpcSet("public_key=" + g.PeerKey + "\nupdate_only=true\n" + sendNoKeepalives)
}

// confirm is the first gateway's part of the handshake. Once it can encrypt, its keepalives say so.
func (g Gateway) confirm(ctx context.Context, d *device.Device) error {
	if _, err := awaitState(ctx, d, func(s state) bool { return s.shaken }); err != nil {
		return err
	}
	return d.IpcSet("public_key=" + g.PeerKey + "\nupdate_only=true\n" + keepIdleTunnelAlive)
}

// state is what WireGuard reports of the other gateway. shaken means that this gateway can encrypt. received
// counts bytes.
type state struct {
	shaken   bool
	received int64
}

// awaitState waits until WireGuard's state is as wanted, and returns that state.
func awaitState(ctx context.Context, d *device.Device, wanted func(state) bool) (state, error) {
	for {
		words, err := d.IpcGet()
		if err != nil {
			return state{}, fmt.Errorf("ask WireGuard for its handshake: %w", err)
		}
		current := parseState(words)
		if wanted(current) {
			return current, nil
		}
		if err := bounded.Pause(ctx, pollHandshake); err != nil {
			return state{}, context.Cause(ctx)
		}
	}
}

// parseState reads the state of WireGuard's only peer in the form of its cross-platform interface.
func parseState(words string) (s state) {
	for line := range strings.Lines(words) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		number, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case key == "last_handshake_time_sec":
			s.shaken = number != 0
		case key == "rx_bytes":
			s.received = number
		}
	}
	return s
}

// settings are the gateway's settings in the form of WireGuard's cross-platform interface. The second gateway
// makes the handshake, by a packet that keeps the tunnel alive.
func (g Gateway) settings() string {
	var s strings.Builder
	fmt.Fprintf(&s, "private_key=%s\nlisten_port=%d\npublic_key=%s\nendpoint=%s\n", g.PrivateKey, Port, g.PeerKey,
		g.Peer)
	for _, network := range []string{"0.0.0.0/0", "::/0"} {
		fmt.Fprintf(&s, "allowed_ip=%s\n", network)
	}
	if g.Asks {
		s.WriteString(keepIdleTunnelAlive)
	}
	return s.String()
}

// open makes the tunnel's interface. Packets are read and written one at a time, and none is merged with others
// or split.
func open() (tun.Device, error) {
	fd, err := unix.Open(tunDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("open %s: %w (the node's container runtime keeps it from containers, as runc 1.2.0 to "+
			"1.2.3 do: use another release)", tunDevice, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w (load the kernel's module tun)", tunDevice, err)
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

// fixed is a device with an MTU that doesn't change.
type fixed struct {
	tun.Device
	mtu int
}

// MTU returns it.
func (f fixed) MTU() (int, error) { return f.mtu, nil }

// route sets the tunnel's interface up, and routes the networks behind the other gateway by it.
func (g Gateway) route(name string, mtu int) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetMTU(l, mtu); err != nil {
		return fmt.Errorf("%s: MTU %d: %w", name, mtu, err)
	}
	if err := netif.ForwardIPv4(l); err != nil {
		return fmt.Errorf("%s: forward what comes out of it: %w", name, err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("set %s up: %w", name, err)
	}
	for _, network := range g.Networks {
		err := netlink.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Scope: netlink.SCOPE_LINK,
			Dst: netif.IPNet(network.Masked())})
		if err != nil {
			return fmt.Errorf("route %s by %s: %w", network, name, err)
		}
	}
	return nil
}
