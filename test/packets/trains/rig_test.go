package trains

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/softgen"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rig has a generator with two ports, west and east, whose cables lead to d0 and d1 in the device's namespace.
type rig struct {
	tester, device *netif.Namespace
	macs           map[string]net.HardwareAddr
	engine         *stl.Engine
}

// newRig makes the cables. open opens the generator, after the device is there.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{tester: netnstest.New(t), device: netnstest.New(t), macs: map[string]net.HardwareAddr{}}
	ends := map[*netif.Namespace][]string{r.tester: {"west", "east"}, r.device: {"d0", "d1"}}
	for i, name := range ends[r.tester] {
		netnstest.RunIn(t, r.tester, func() error {
			attributes := netlink.NewLinkAttrs()
			attributes.Name, attributes.NumTxQueues, attributes.NumRxQueues = name, 1, 1
			return netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: ends[r.device][i],
				PeerNamespace: netlink.NsFd(r.device.Fd())})
		})
	}
	for space, names := range ends {
		for _, name := range names {
			netnstest.RunIn(t, space, func() error { return r.setUp(name) })
		}
	}
	return r
}

func (r *rig) setUp(name string) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o600); err != nil {
		return err
	}
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	r.macs[name] = l.Attrs().HardwareAddr
	if err := netlink.LinkSetUp(l); err != nil {
		return err
	}
	return netif.AcceptXDP(name) // an interface that is up tells its far end
}

// open starts the generator, and connects its client.
func (r *rig) open(t *testing.T, options datapath.Options) {
	t.Helper()
	var config softgen.Config
	for _, name := range []string{"west", "east"} {
		options.Interface = name
		netnstest.RunIn(t, r.tester, func() error {
			port, err := datapath.Open(options)
			if err == nil {
				config.Ports = append(config.Ports, softgen.PortConfig{Port: port, NextHop: [6]byte(r.macs["d0"])})
				t.Cleanup(func() { must(t, port.Close()) })
			}
			return err
		})
	}
	server, err := softgen.New(config)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-served)
	})
	r.engine, err = stl.Dial(t.Context(), listener.Addr().String(), stl.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, r.engine.Close()) })
	must(t, r.engine.Claim(t.Context(), []int{0, 1}, false))
}

// Addresses of the frames, which a router has routes to.
var source, destination = netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("198.19.0.2")

// frame is an Ethernet frame of 60 bytes, of UDP over IPv4. The generator fills in the stamp and the checksum of UDP.
func frame(to, from net.HardwareAddr) []byte {
	f := make([]byte, 60)
	copy(f, to)
	copy(f[6:], from)
	copy(f[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17})
	copy(f[26:], source.AsSlice())
	copy(f[30:], destination.AsSlice())
	copy(f[34:], []byte{4, 1, 0, 9, 0, 26})
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(f[i:]))
	}
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum+sum>>16))
	return f
}

// send sends trains from west to east. The frames are for east itself, or for d0 where a router forwards them.
func (r *rig) send(t *testing.T, trains, frames int, pause time.Duration, to string) []engine.Train {
	t.Helper()
	list, err := r.engine.SendTrains(t.Context(), engine.TrainOrder{From: 0, To: 1, Trains: trains, Frames: frames,
		Pause: pause, Stream: stream.Stream{Flags: 3, CoreID: -1, Packet: stream.Packet{Binary: frame(r.macs[to],
			r.macs["west"])}}})
	must(t, err)
	if len(list) != trains {
		t.Fatalf("%d trains of %d", len(list), trains)
	}
	return list
}

// pollFrames are the frames of a poll, which are stamped when it ends.
const pollFrames = 64

// spacings are the times for a frame of complete trains, from the end of the first poll on.
func spacings(t *testing.T, trains []engine.Train, frames int) (list []time.Duration) {
	t.Helper()
	for _, train := range trains {
		if n := len(train.Arrivals); n == frames {
			span := train.Arrivals[n-1].Instant - train.Arrivals[pollFrames-1].Instant
			list = append(list, span/time.Duration(n-pollFrames))
		}
	}
	if len(list) < len(trains)*9/10 {
		t.Fatalf("%d of %d trains are complete", len(list), len(trains))
	}
	return list
}

// tenth is the tenth percentile.
func tenth(list []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(list))[len(list)/10]
}
