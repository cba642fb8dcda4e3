package forwarder

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel route kernel/route.c -- -Wall -Werror -mcpu=v3

// forwardByXDP attaches a program to each link that forwards frames before the kernel's stack sees them
// (kernel/route.c). Frames that it can't forward go to the kernel. These are ARP, the first frames to a
// neighbour that isn't known yet, and frames for the device itself.
func forwardByXDP(spec Spec, info *Info) error {
	if spec.Mode == nil || spec.Mode.XDP == nil {
		return nil
	}
	_ = rlimit.RemoveMemlock() // for kernels before 5.11, where loading fails if this does
	var router routePrograms
	if err := loadRouteObjects(&router, nil); err != nil {
		return explain(fmt.Errorf("load the XDP program (it takes CAP_BPF and CAP_NET_ADMIN): %w", err),
			"bpf_fib_lookup for XDP", "CONFIG_BPF_SYSCALL, CONFIG_XDP_SOCKETS")
	}
	defer func() { _ = router.Close() }() // the links hold the program
	for _, l := range spec.Links {
		hook, err := attachXDP(l.Interface, router.LinerateRoute, spec.AcceptsXDP)
		if err != nil {
			return fmt.Errorf("link %s: attach the XDP program: %w", l.Interface, err)
		}
		info.applied("XDP at %s, %s: routed by the kernel's table before the kernel's stack", l.Interface, hook)
	}
	return nil
}

// attachXDP attaches the program until the interface is removed. It attaches it in the driver where the far
// ends of the cables accept frames that are sent by XDP, else in the kernel's generic hook.
func attachXDP(name string, program *ebpf.Program, driver bool) (hook string, err error) {
	l, err := netif.Find(name)
	if err != nil {
		return "", err
	}
	hook, flags := "in the driver", link.XDPDriverMode
	if !driver && l.Type() == "veth" {
		hook, flags = "in the generic hook, as a virtual cable's far end drops frames that XDP sends unless it is "+
			"prepared for them", link.XDPGenericMode
	}
	attached, err := link.AttachXDP(link.XDPOptions{Interface: l.Attrs().Index, Program: program, Flags: flags})
	if err != nil && flags == link.XDPDriverMode {
		hook = fmt.Sprintf("in the generic hook, as the driver takes none (%v)", err)
		attached, err = link.AttachXDP(link.XDPOptions{Interface: l.Attrs().Index, Program: program,
			Flags: link.XDPGenericMode})
	}
	if err != nil {
		return "", err
	}
	attachments = append(attachments, attached)
	return hook, nil
}

// attachments keeps the programs attached until this process ends. No program stays on an interface that
// outlives the process, such as a VF that goes back to its node.
var attachments []link.Link
