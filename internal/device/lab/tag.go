package lab

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// tagEnds gives the ends of links with a VLAN two programs of the kernel. One tags all that leaves. The other takes
// the tag off what arrives with it, and drops all else. An interface of type vlan would do the same by a module that
// not every kernel has.
func (b *testbed) tagEnds(t Topology) error {
	if !t.Ends {
		return nil
	}
	for _, l := range t.Links {
		if l.VLAN == 0 {
			continue
		}
		var programs []io.Closer
		err := b.ends[l.Name].Do(func() (err error) {
			programs, err = tagFrames(l.Interface, l.VLAN)
			return err
		})
		b.closers = append(b.closers, programs...)
		if errors.Is(err, ebpf.ErrNotSupported) {
			return &Fault{Unsupported, fmt.Sprintf("links: sessions of link %s are tagged (vlan: %d) by a program of the "+
				"kernel, which needs Linux 6.6 or newer: %v", l.Name, l.VLAN, err)}
		}
		if err != nil {
			return fmt.Errorf("link %s: tag frames with VLAN %d: %w", l.Name, l.VLAN, err)
		}
	}
	return nil
}

// The context of the programs (struct __sk_buff, linux/bpf.h), and what they return (enum tcx_action_base).
const (
	skbVLANPresent, skbVLANTag = 20, 24
	vlanIDs                    = 1<<12 - 1
	tcxNext, tcxDrop           = -1, 2
)

// tagFrames attaches the programs to an interface of the calling thread's namespace. They end with the closers.
func tagFrames(name string, vlan uint16) (attached []io.Closer, err error) {
	i, err := netif.Find(name)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	// a tag that can't be put on or taken off drops the frame
	decide := asm.Instructions{
		asm.JEq.Imm(asm.R0, 0, "next"),
		asm.Mov.Imm(asm.R0, tcxDrop).WithSymbol("drop"),
		asm.Return(),
		asm.Mov.Imm(asm.R0, tcxNext).WithSymbol("next"),
		asm.Return(),
	}
	push := append(asm.Instructions{
		asm.Mov.Imm(asm.R2, unix.ETH_P_8021Q),
		asm.HostTo(asm.BE, asm.R2, asm.Half),
		asm.Mov.Imm(asm.R3, int32(vlan)),
		asm.FnSkbVlanPush.Call(),
	}, decide...)
	pop := append(asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, skbVLANPresent, asm.Word),
		asm.JEq.Imm(asm.R2, 0, "drop"),
		asm.LoadMem(asm.R2, asm.R1, skbVLANTag, asm.Word),
		asm.And.Imm(asm.R2, vlanIDs),
		asm.JNE.Imm(asm.R2, int32(vlan), "drop"),
		asm.FnSkbVlanPop.Call(),
	}, decide...)
	for _, hook := range []struct {
		attach       ebpf.AttachType
		instructions asm.Instructions
	}{{ebpf.AttachTCXEgress, push}, {ebpf.AttachTCXIngress, pop}} {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_vlan", Type: ebpf.SchedCLS,
			AttachType: hook.attach, License: "GPL", Instructions: hook.instructions})
		if err != nil {
			return attached, fmt.Errorf("load the program: %w", err)
		}
		l, err := link.AttachTCX(link.TCXOptions{Interface: i.Attrs().Index, Program: program, Attach: hook.attach})
		err = errors.Join(err, program.Close())
		if l != nil {
			attached = append(attached, l)
		}
		if err != nil {
			return attached, fmt.Errorf("attach the program: %w", err)
		}
	}
	return attached, nil
}
