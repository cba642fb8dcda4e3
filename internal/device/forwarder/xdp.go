package forwarder

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// The kernel lends its routing table (bpf_fib_lookup) to programs under the GPL alone, so this one may be had under it, too.
//
// forwardByXDP attaches a program to each link that forwards frames before the kernel's stack sees them. Frames that it can't forward go to the kernel: ARP, the first frames to a neighbour that isn't known yet, frames for the device itself.
func forwardByXDP(spec Spec, info *Info) error {
	if spec.Mode == nil || spec.Mode.XDP == nil {
		return nil
	}
	_ = rlimit.RemoveMemlock() // for kernels before 5.11; where it matters and fails, loading says so
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_route", Type: ebpf.XDP, License: "Dual BSD/GPL", Flags: unix.BPF_F_XDP_HAS_FRAGS, Instructions: routeProgram()})
	if err != nil {
		return explain(fmt.Errorf("load the XDP program (it takes CAP_BPF and CAP_NET_ADMIN): %w", err), "bpf_fib_lookup for XDP", "CONFIG_BPF_SYSCALL, CONFIG_XDP_SOCKETS")
	}
	defer func() { _ = program.Close() }() // the links hold it
	for _, l := range spec.Links {
		how, err := attachXDP(l.Interface, program, spec.AcceptsXDP)
		if err != nil {
			return fmt.Errorf("link %s: attach the XDP program: %w", l.Interface, err)
		}
		info.applied("XDP at %s, %s: routed by the kernel's table before the kernel's stack", l.Interface, how)
	}
	return nil
}

// attachXDP attaches the program until the interface is removed: in the driver where the far ends of the cables accept frames that are sent by XDP, else in the kernel's generic hook.
func attachXDP(name string, program *ebpf.Program, driver bool) (how string, err error) {
	l, err := netif.Find(name)
	if err != nil {
		return "", err
	}
	how, flags := "in the driver", link.XDPDriverMode
	if !driver && l.Type() == "veth" {
		how, flags = "in the generic hook, as a virtual cable's far end drops frames that XDP sends unless it is prepared for them", link.XDPGenericMode
	}
	attached, err := link.AttachXDP(link.XDPOptions{Interface: l.Attrs().Index, Program: program, Flags: flags})
	if err != nil && flags == link.XDPDriverMode {
		how = fmt.Sprintf("in the generic hook, as the driver takes none (%v)", err)
		attached, err = link.AttachXDP(link.XDPOptions{Interface: l.Attrs().Index, Program: program, Flags: link.XDPGenericMode})
	}
	if err != nil {
		return "", err
	}
	held = append(held, attached)
	return how, nil
}

// held keeps the programs attached until this process ends: when an interface outlives the process, such as a VF that goes back to its node, no program is left on it.
var held []link.Link

// Offsets in struct bpf_fib_lookup (linux/bpf.h), which lies on the program's stack.
const (
	lookupSize        = 64
	lookup            = -lookupSize // from the frame pointer
	lookupFamily      = lookup
	lookupProtocol    = lookup + 1
	lookupLength      = lookup + 6
	lookupInterface   = lookup + 8
	lookupTOS         = lookup + 12
	lookupSource      = lookup + 16
	lookupDestination = lookup + 32
	lookupSourceMAC   = lookup + 52
	lookupFarMAC      = lookup + 58
)

// Offsets in struct xdp_md, and what the program answers.
const (
	xdpData      = 0
	xdpDataEnd   = 4
	xdpInterface = 12
	xdpPass      = 2
)

// routeProgram forwards a frame as a router does, by the kernel's routes and neighbours: the addresses of the next hop and of the link that it leaves by, the TTL one lower, and the checksum of
// IPv4's header mended (RFC 1624).
//
//	R6 the frame's context   R7 the frame   R8 its end   R9 the IP version's family
func routeProgram() asm.Instructions {
	const ethernet = 14
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R7, asm.R6, xdpData, asm.Word),
		asm.LoadMem(asm.R8, asm.R6, xdpDataEnd, asm.Word),
		asm.Mov.Imm(asm.R1, 0),
	}
	for at := 0; at < lookupSize; at += 8 {
		code = append(code, asm.StoreMem(asm.RFP, int16(lookup+at), asm.R1, asm.DWord))
	}
	reaches := func(bytes int32) asm.Instructions {
		return asm.Instructions{asm.Mov.Reg(asm.R2, asm.R7), asm.Add.Imm(asm.R2, bytes), asm.JGT.Reg(asm.R2, asm.R8, "pass")}
	}
	copies := func(to, from int16, words int, size asm.Size, base asm.Register) (out asm.Instructions) {
		for i := range words {
			at := int16(i * size.Sizeof())
			if base == asm.RFP { // into the stack
				out = append(out, asm.LoadMem(asm.R1, asm.R7, from+at, size), asm.StoreMem(asm.RFP, to+at, asm.R1, size))
			} else {
				out = append(out, asm.LoadMem(asm.R1, asm.RFP, from+at, size), asm.StoreMem(asm.R7, to+at, asm.R1, size))
			}
		}
		return out
	}
	code = append(code, reaches(ethernet+20)...)
	code = append(code,
		asm.LoadMem(asm.R1, asm.R7, 12, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JEq.Imm(asm.R1, unix.ETH_P_IPV6, "six"),
		asm.JNE.Imm(asm.R1, unix.ETH_P_IP, "pass"),
		// IPv4: no options, and a TTL that is left
		asm.LoadMem(asm.R1, asm.R7, ethernet, asm.Byte),
		asm.JNE.Imm(asm.R1, 0x45, "pass"),
		asm.LoadMem(asm.R1, asm.R7, ethernet+8, asm.Byte),
		asm.JLE.Imm(asm.R1, 1, "pass"),
		asm.LoadMem(asm.R1, asm.R7, ethernet+9, asm.Byte),
		asm.StoreMem(asm.RFP, lookupProtocol, asm.R1, asm.Byte),
		asm.LoadMem(asm.R1, asm.R7, ethernet+1, asm.Byte),
		asm.StoreMem(asm.RFP, lookupTOS, asm.R1, asm.Byte),
		asm.LoadMem(asm.R1, asm.R7, ethernet+2, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.StoreMem(asm.RFP, lookupLength, asm.R1, asm.Half),
	)
	code = append(code, copies(lookupSource, ethernet+12, 1, asm.Word, asm.RFP)...)
	code = append(code, copies(lookupDestination, ethernet+16, 1, asm.Word, asm.RFP)...)
	code = append(code,
		asm.Mov.Imm(asm.R9, unix.AF_INET),
		asm.Ja.Label("look"),
	)
	six := append(reaches(ethernet+40),
		asm.LoadMem(asm.R1, asm.R7, ethernet+7, asm.Byte),
		asm.JLE.Imm(asm.R1, 1, "pass"),
		asm.LoadMem(asm.R1, asm.R7, ethernet+6, asm.Byte),
		asm.StoreMem(asm.RFP, lookupProtocol, asm.R1, asm.Byte),
		asm.LoadMem(asm.R1, asm.R7, ethernet+4, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.Add.Imm(asm.R1, 40),
		asm.StoreMem(asm.RFP, lookupLength, asm.R1, asm.Half),
	)
	six[0] = six[0].WithSymbol("six")
	code = append(code, six...)
	code = append(code, copies(lookupSource, ethernet+8, 4, asm.Word, asm.RFP)...)
	code = append(code, copies(lookupDestination, ethernet+24, 4, asm.Word, asm.RFP)...)
	code = append(code,
		asm.Mov.Imm(asm.R9, unix.AF_INET6),
		asm.StoreMem(asm.RFP, lookupFamily, asm.R9, asm.Byte).WithSymbol("look"),
		asm.LoadMem(asm.R1, asm.R6, xdpInterface, asm.Word),
		asm.StoreMem(asm.RFP, lookupInterface, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, lookup),
		asm.Mov.Imm(asm.R3, lookupSize),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnFibLookup.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"), // no route, or no neighbour yet, or for us
	)
	code = append(code, copies(0, lookupFarMAC, 3, asm.Half, asm.R7)...)
	code = append(code, copies(6, lookupSourceMAC, 3, asm.Half, asm.R7)...)
	code = append(code,
		asm.JEq.Imm(asm.R9, unix.AF_INET6, "hop limit"),
		asm.LoadMem(asm.R1, asm.R7, ethernet+8, asm.Byte),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(asm.R7, ethernet+8, asm.R1, asm.Byte),
		asm.LoadMem(asm.R1, asm.R7, ethernet+10, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.Add.Imm(asm.R1, 0x100), // the checksum is of the complement, and the TTL is the upper byte of its word
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, 16),
		asm.Add.Reg(asm.R1, asm.R2), // the carry
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.StoreMem(asm.R7, ethernet+10, asm.R1, asm.Half),
		asm.Ja.Label("send"),
		asm.LoadMem(asm.R1, asm.R7, ethernet+7, asm.Byte).WithSymbol("hop limit"),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(asm.R7, ethernet+7, asm.R1, asm.Byte),
		asm.LoadMem(asm.R1, asm.RFP, lookupInterface, asm.Word).WithSymbol("send"),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"),
		asm.Return(),
	)
	return code
}
