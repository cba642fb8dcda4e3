package lab

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// testpmd is DPDK's forwarding program, in Debian's package dpdk-dev.
const testpmd = "dpdk-testpmd"

// StartTestpmd has testpmd forward between the two links of each pair of directions, with the addresses of the
// ends that frames go to, in a namespace whose links the forwarder has opened. Nil is the caller's own
// namespace. place names where the program has to be in an error's sentence, such as "this machine".
func StartTestpmd(ctx context.Context, ns *netif.Namespace, spec forwarder.Spec, place string) (*DeviceProcess, error) {
	path, err := exec.LookPath(testpmd)
	if err != nil {
		return nil, badInput("dut.reference.mode.userspace: %s has no %s: install Debian's package dpdk-dev there",
			place, testpmd)
	}
	mtu := 0
	err = ns.Do(func() error {
		for _, l := range spec.Links {
			link, err := netlink.LinkByName(l.Interface)
			if err != nil {
				return fmt.Errorf("find %s: %w", l.Interface, err)
			}
			mtu = max(mtu, link.Attrs().MTU)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	processors, err := machine.OwnProcessors()
	if err == nil {
		err = enoughProcessors(processors)
	}
	if err != nil {
		return nil, err
	}
	arguments, err := testpmdArguments(spec, mtu, processors)
	if err != nil {
		return nil, err
	}
	return startDevice(ctx, ns, testpmd, "NIC statistics for port", exec.Command(path, arguments...), nil)
}

// testpmdArguments are testpmd's command line. It forwards between its ports 0 and 1, 2 and 3, and so on, so
// the links of a pair come one after the other.
func testpmdArguments(spec forwarder.Spec, mtu int, processors *unix.CPUSet) ([]string, error) {
	arguments := []string{"--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf"}
	if list := threads(processors); list != "" {
		arguments = append(arguments, "--lcores="+list)
	}
	links, err := pairedLinks(spec)
	if err != nil {
		return nil, err
	}
	for i, l := range links {
		arguments = append(arguments, "--vdev",
			fmt.Sprintf("net_af_packet%d,iface=%s,blocksz=65536,framesz=%d,framecnt=1024,qpairs=1", i, l.Interface,
				frameRoom(mtu)))
	}
	// it holds what it says back until it prints statistics
	arguments = append(arguments, "--", "--forward-mode=mac", "--auto-start", fmt.Sprintf("--mbuf-size=%d",
		frameRoom(mtu)+headroom), "--total-num-mbufs=8192", "--nb-cores=1", "--stats-period=1")
	for i, l := range links {
		if l.GeneratorMAC != nil {
			arguments = append(arguments, fmt.Sprintf("--eth-peer=%d,%s", i, net.HardwareAddr(l.GeneratorMAC)))
		}
	}
	return arguments, nil
}

// enoughProcessors refuses a machine with one processor, as testpmd's thread never sleeps, so that the
// generator's threads would get too little time.
func enoughProcessors(processors *unix.CPUSet) error {
	if processors.Count() > 1 {
		return nil
	}
	return badInput("dut.reference.mode.userspace: testpmd forwards by a thread that never sleeps, and here it may " +
		"use one processor only, which everything else needs too: give it at least two processors, or use another mode")
}

// threads are testpmd's two, each on any processor that it may use. By default DPDK ties each to one, where the
// generator's may be. The list is empty if DPDK, as Debian builds it, knows none of the processors.
func threads(processors *unix.CPUSet) string {
	const dpdkProcessors = 128
	var ids []string
	for _, cpu := range machine.ListProcessors(processors) {
		if cpu < dpdkProcessors {
			ids = append(ids, strconv.Itoa(cpu))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "(0,1)@(" + strings.Join(ids, ",") + ")"
}

// pairedLinks are the links of all directions, the two of each pair one after the other.
func pairedLinks(spec forwarder.Spec) ([]forwarder.Link, error) {
	var order []string
	for _, d := range spec.Directions {
		from, to := slices.Index(order, d.From), slices.Index(order, d.To)
		switch {
		case from < 0 && to < 0:
			order = append(order, d.From, d.To)
		case from < 0 || to < 0 || from/2 != to/2:
			return nil, badInput("direction %s to %s: testpmd forwards between the two links of a pair: let traffic "+
				"flow between the same two links only", d.From, d.To)
		}
	}
	links := make([]forwarder.Link, len(order))
	for i, name := range order {
		index := slices.IndexFunc(spec.Links, func(l forwarder.Link) bool { return l.Interface == name })
		if index < 0 {
			return nil, badInput("link %s: a direction names it, and the device has no such link", name)
		}
		goesTo := slices.ContainsFunc(spec.Directions, func(d forwarder.Direction) bool { return d.To == name })
		if goesTo && spec.Links[index].GeneratorMAC == nil {
			return nil, badInput("link %s: testpmd sends to one MAC address, and the generator's isn't known", name)
		}
		links[i] = spec.Links[index]
	}
	return links, nil
}

// headroom is what DPDK keeps free in front of a frame, in the buffer that it copies it to.
const headroom = 128

// frameRoom is what AF_PACKET's ring has for a frame, the next power of two with room for its own header.
func frameRoom(mtu int) int {
	room := 2048
	for room < mtu+128 {
		room *= 2
	}
	return room
}
