package tunnel

import (
	"context"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/conn/bindtest"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun/tuntest"
)

// lossy is a gateway's socket that loses the first encrypted packets.
type lossy struct {
	conn.Bind
	lost atomic.Int64
	loss int64
}

// transportMessage is the type of an encrypted packet (WireGuard's protocol, section 5.4.6).
const transportMessage = 4

func (l *lossy) Send(messages [][]byte, to conn.Endpoint) error {
	if messages[0][0] == transportMessage && l.lost.Add(1) <= l.loss {
		return nil
	}
	return l.Bind.Send(messages, to)
}

// TestATunnelIsOpenOnceBothGatewaysCanEncrypt: the first gateway can't before an encrypted packet of the second
// one reached it, and that packet may be lost. A second gateway that was ready with the first answer left the
// first one unable to send for more than five seconds, so that no path was proven.
func TestATunnelIsOpenOnceBothGatewaysCanEncrypt(t *testing.T) {
	for name, loss := range map[string]int64{"nothing is lost": 0, "the packet that confirms the keys is lost": 1} {
		t.Run(name, func(t *testing.T) {
			binds := bindtest.NewChannelBinds()
			cable := &lossy{Bind: binds[1], loss: loss}
			gateways := twoGateways(t)
			first := startWireGuard(t, gateways[0], binds[0])
			confirmed := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			go func() { confirmed <- gateways[0].confirm(ctx, first) }()
			defer func() {
				stop()
				if err := <-confirmed; err != nil {
					t.Errorf("the first gateway: %v", err)
				}
			}()
			second := startWireGuard(t, gateways[1], cable)
			if err := gateways[1].awaitHandshake(t.Context(), second); err != nil {
				t.Fatalf("the second gateway: %v", err)
			}
			words, err := first.IpcGet()
			if err != nil {
				t.Fatal(err)
			}
			if !parseState(words).shaken {
				t.Errorf("the tunnel is open, and the first gateway can't encrypt:\n%s", words)
			}
			if lost := min(cable.lost.Load(), loss); lost != loss {
				t.Errorf("%d packets were lost, want %d", lost, loss)
			}
		})
	}
}

// twoGateways are a tunnel's two gateways at the ends of bindtest's channels.
func twoGateways(t *testing.T) (gateways [2]Gateway) {
	t.Helper()
	var public [2]string
	for i := range gateways {
		var err error
		if gateways[i].PrivateKey, public[i], err = Keys(); err != nil {
			t.Fatal(err)
		}
		gateways[i].Asks = i == 1
		// bindtest tells its ends by their ports
		gateways[i].Peer = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(i+1))
	}
	gateways[0].PeerKey, gateways[1].PeerKey = public[1], public[0]
	return gateways
}

func startWireGuard(t *testing.T, g Gateway, bind conn.Bind) *device.Device {
	t.Helper()
	d := device.NewDevice(tuntest.NewChannelTUN().TUN(), bind, device.NewLogger(device.LogLevelError, "wireguard: "))
	t.Cleanup(d.Close)
	if err := d.IpcSet(g.settings()); err != nil {
		t.Fatal(err)
	}
	if err := d.Up(); err != nil {
		t.Fatal(err)
	}
	return d
}
