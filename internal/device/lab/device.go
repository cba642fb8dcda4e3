package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// TunnelVerb is the hidden verb of linerate's own program that runs TunnelMain.
const TunnelVerb = "lab-tunnel"

// startWithin is how long a device's process may take until it forwards.
const startWithin = 30 * time.Second

// DeviceProcess is a process that forwards. It is a child of the process that started it, and ends with it.
type DeviceProcess struct {
	name    string
	command *exec.Cmd
	life    io.Closer // its standard input
	words   *bounded.Words
	exited  chan struct{} // closed when it has ended, and ended is set
	ended   error
}

// startDevice starts a process in a namespace, and waits until a line of its standard output contains ready,
// which means that it forwards. It runs on these processors, or where none are given on all that this process
// may use.
func startDevice(ctx context.Context, ns *netif.Namespace, name, ready string, cmd *exec.Cmd, order []byte,
	processors ...int) (*DeviceProcess, error) {
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	p := &DeviceProcess{name: name, command: cmd, life: life, words: &bounded.Words{}, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = writer, p.words
	err = ns.Start(cmd, func() {
		p.ended = cmd.Wait()
		close(p.exited)
	})
	_ = writer.Close() // the process has its own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), life.Close(), reader.Close())
	}
	forwards := make(chan bool, 1)
	go func() {
		defer func() { _ = reader.Close() }()
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			if strings.Contains(lines.Text(), ready) {
				forwards <- true
				break
			}
			_, _ = p.words.Write(append(lines.Bytes(), '\n'))
		}
		_, _ = io.Copy(io.Discard, reader)
	}()
	refused := make(chan error, 1)
	go func() { // what it starts for its order runs where it runs
		if len(processors) > 0 {
			if err := machine.BindProcess(cmd.Process.Pid, processors...); err != nil {
				refused <- err
				return
			}
		}
		if _, err := life.Write(order); err != nil {
			refused <- fmt.Errorf("it doesn't read its order: %w", err)
		}
	}()
	bounded, cancel := context.WithTimeoutCause(ctx, startWithin, fmt.Errorf("it doesn't forward after %s",
		startWithin))
	defer cancel()
	var reason error
	select {
	case <-forwards:
		return p, nil
	case <-p.exited:
		return nil, p.Fault()
	case reason = <-refused: // it has ended, or doesn't read
	case <-bounded.Done():
		reason = context.Cause(bounded)
	}
	_ = p.Close() // its last words are complete then
	return nil, fmt.Errorf("start %s: %w; its last words: %s", name, reason, p.words)
}

// deviceEnded is the error of a device's process that ended by itself.
type deviceEnded struct{ sentence string }

// Error is the sentence.
func (d *deviceEnded) Error() string { return d.sentence }

// Done is closed when the process has ended.
func (p *DeviceProcess) Done() <-chan struct{} { return p.exited }

// Fault is the error of a process that ended by itself.
func (p *DeviceProcess) Fault() error {
	ending := "ended"
	if p.ended != nil {
		ending = "ended: " + p.ended.Error()
	}
	return &deviceEnded{fmt.Sprintf("the device's process %s %s; its last words: %s", p.name, ending, p.words)}
}

// Close ends the process by closing its standard input, and kills it if that isn't enough.
func (p *DeviceProcess) Close() error {
	_ = p.life.Close()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	grace := time.AfterFunc(stopGrace/2, func() { _ = p.command.Process.Kill() })
	defer grace.Stop()
	<-p.exited
	return nil
}

// gateways makes two routers with a tunnel between them. One of them has the far link, the other one all others.
//
//	west ──┤ gateway ├── tunnel.0 ═══ tunnel.0 ──┤ gateway ├── east
//	                     tunnel.out ── tunnel.out
func (b *testbed) gateways(ctx context.Context, t Topology, ends [2]*netif.Namespace, place placement) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.Namespace, attrs.NumTxQueues, attrs.NumRxQueues = plan.TunnelCable, t.MTU+
		plan.TunnelRoom, netlink.NsFd(ends[0].Fd()), 1, 1
	cable := netlink.NewVeth(attrs)
	cable.PeerName, cable.PeerNamespace, cable.PeerMTU = plan.TunnelCable, netlink.NsFd(ends[1].Fd()), uint32(attrs.MTU)
	if err := netlink.LinkAdd(cable); err != nil {
		return fmt.Errorf("lay the cable between the gateways: %w", err)
	}
	name, description := "WireGuard", "WireGuard (ChaCha20-Poly1305)"
	if t.Mode.Tunnel.Kind == plan.TunnelIPsec {
		name, description = "IPsec", fmt.Sprintf("strongSwan's IPsec (%s)", t.Mode.Tunnel.Cipher)
		if _, _, err := tunnel.FindIPsec(); err != nil {
			return badInput("dut.reference.mode.tunnel: %v", err)
		}
	}
	var keys [2]struct{ private, public string }
	for i := range keys {
		var err error
		if keys[i].private, keys[i].public, err = tunnel.Keys(); err != nil {
			return err
		}
	}
	for i, ns := range ends {
		info, err := forwarder.Configure(ctx, ns, t.gatewaySpec(i, place))
		b.info.Applied, b.info.Missing = append(b.info.Applied, info.Applied...),
			append(b.info.Missing, info.Missing...)
		if err != nil {
			return err
		}
		if err := ns.Do(func() error { return tunnel.OpenCable(plan.OnTunnelCable(i), t.MTU) }); err != nil {
			return err
		}
		g := tunnel.Gateway{Kind: t.Mode.Tunnel.Kind, PrivateKey: keys[i].private, PeerKey: keys[1-i].public,
			Secret: keys[0].public, Cipher: t.Mode.Tunnel.Cipher, Behind: t.networksBehind(i),
			Local: plan.OnTunnelCable(i).Addr(), Asks: i == 1, Peer: netip.AddrPortFrom(plan.OnTunnelCable(1-i).Addr(),
				tunnel.Port), MTU: t.MTU, Networks: t.networksBehind(1 - i)}
		order, err := json.Marshal(g)
		if err != nil {
			return fmt.Errorf("write a gateway's order: %w", err)
		}
		p, err := startDevice(ctx, ns, fmt.Sprintf("%s of gateway %d", name, i+1), tunnelReady,
			exec.Command("/proc/self/exe", TunnelVerb), append(order, '\n'), place.gateways...)
		if err != nil {
			return err
		}
		b.device = append(b.device, p)
		b.closers = append(b.closers, p)
	}
	b.info.Applied = append(b.info.Applied, description+" in user space between two routers, a packet at a time")
	return nil
}

// gatewaySpec is the forwarder's specification for the first gateway, or the second.
func (t Topology) gatewaySpec(end int, place placement) forwarder.Spec {
	whole := t.forwarderOn(place)
	spec := forwarder.Spec{Forwarding: whole.Forwarding, OwnCPU: whole.OwnCPU, AcceptsXDP: whole.AcceptsXDP}
	for i, l := range t.Links {
		if t.Mode.Tunnel.Gateway(l.Name) == end {
			spec.Links = append(spec.Links, whole.Links[i])
		}
	}
	return spec
}

// networksBehind are the networks behind a gateway.
func (t Topology) networksBehind(end int) (networks []netip.Prefix) {
	for _, l := range t.Links {
		if t.Mode.Tunnel.Gateway(l.Name) == end {
			networks = append(append(networks, l.Networks...), l.DUT...)
		}
	}
	return networks
}

// tunnelReady is the line that a gateway prints once it forwards.
const tunnelReady = "the tunnel is open"

// TunnelMain is the main function of a gateway's process. It reads its order from standard input, and runs
// until standard input ends.
func TunnelMain(ctx context.Context) error {
	stdin := bufio.NewReader(os.Stdin)
	order, err := stdin.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the order: %w (this verb is for the lab's own use)", err)
	}
	var g tunnel.Gateway
	if err := json.Unmarshal(order, &g); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		stop()
	}()
	return g.Serve(ctx, func() error {
		_, err := fmt.Fprintln(os.Stdout, tunnelReady) //nolint:forbidigo // a word for the process that started it
		return err
	})
}

// startUserspaceDevice prepares the links for testpmd, and starts it.
func (b *testbed) startUserspaceDevice(ctx context.Context, t Topology) error {
	spec := t.forwarderSpec()
	info, err := forwarder.Configure(ctx, b.dut, spec)
	if err != nil {
		return err
	}
	p, err := StartTestpmd(ctx, b.dut, spec, "this machine")
	if err != nil {
		return err
	}
	b.device, b.closers = append(b.device, p), append(b.closers, p)
	b.info = info
	b.info.Applied = append(b.info.Applied, fmt.Sprintf("%s forwards by AF_PACKET", p.command.Path))
	return nil
}
