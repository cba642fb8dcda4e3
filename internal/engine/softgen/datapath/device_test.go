package datapath

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// TestThreadsShareTheQueuesThatACardUses: a driver makes room for eight queues and uses two, as igb does beside virtual
// functions. A third thread must not ask for a third queue.
func TestThreadsShareTheQueuesThatACardUses(t *testing.T) {
	enterNamespace(t)
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "west", NumTxQueues: 4, NumRxQueues: 4}, PeerName: "east"}
	needKernel(t, netlink.LinkAdd(veth), "CAP_NET_ADMIN and veth interfaces")
	setUp(t, "west")
	setUp(t, "east")
	fewer := channelsOf("west")
	fewer.command, fewer.sending, fewer.receiving = unix.ETHTOOL_SCHANNELS, 2, 2
	noError(t, netif.Ethtool("west", unsafe.Pointer(&fewer)))
	info := open(t, Options{Interface: "west", Cores: 4}).Info()
	if !strings.HasPrefix(info.Path, "sends by AF_XDP ") || info.ReceiveQueues != 2 {
		t.Errorf("it %s, with %d receive queues", info.Path, info.ReceiveQueues)
	}
}

// TestAProgramThatAnotherPodLeft: an XDP program stays on an interface after the process that attached it.
func TestAProgramThatAnotherPodLeft(t *testing.T) {
	addCable(t)
	west, err := netlink.LinkByName("west")
	noError(t, err)
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R0, 1 /* XDP_DROP */), asm.Return()}})
	needKernel(t, err, "CAP_BPF")
	noError(t, netlink.LinkSetXdpFd(west, program.FD()))
	noError(t, program.Close())
	info := open(t, Options{Interface: "west"}).Info()
	if len(info.Cautions) != 1 || !strings.Contains(info.Cautions[0], "is on west, and gets each frame first: ip link "+
		"set west xdp off") {
		t.Errorf("it warns of %q", info.Cautions)
	}
}
