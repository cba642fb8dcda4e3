package forwarder

import (
	"encoding/binary"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
)

// ethernetHeaderBytes is the header with one VLAN tag, which an interface's MTU leaves out.
const ethernetHeaderBytes = 14 + 4

// shape puts a token bucket (the kernel's tbf queue) on the interface's outgoing frames. The bucket fills at
// the limit and holds the burst. Each frame takes its size with FCS, which the kernel's own length lacks, so 4
// bytes are added to each. One frame of the largest size may wait for the bucket, and no more, so that the
// limit doesn't delay frames. l.Queue lets more frames wait, as in a router, since a queue of one frame would
// lose TCP's acknowledgements as soon as data goes both ways.
//
// Each frame that waits costs a timer interrupt, on the sender's CPU. In a virtual machine that is about 15 µs.
// A limit that lets through more than some 50 000 frames/s uses up that CPU before it is overloaded, and a test
// then rightly says that the generator was too weak. Such limits are better given in packets, which cost
// nothing.
func shape(name string, l plan.Limit) error {
	link, err := netif.Find(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	largest := link.Attrs().MTU + ethernetHeaderBytes + units.FCSBytes
	req := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link.Attrs().Index), Parent: netlink.HANDLE_ROOT,
		Handle: netlink.MakeHandle(1, 0)})
	req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("tbf")))
	req.AddData(bucket(uint64(l.Layer2BitsPerSecond/8), burstBytes(l, largest), queueBytes(l, largest)))
	if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return explain(fmt.Errorf("link %s: token bucket: %w", name, err), "token bucket queue", "CONFIG_NET_SCH_TBF")
	}
	return nil
}

const (
	tcaTBFBurst       = 6 // TCA_TBF_BURST, linux/pkt_sched.h
	linkLayerEthernet = 1 // TC_LINKLAYER_ETHERNET, exact sizes without cells
)

// bucket is the queue's TCA_OPTIONS, with rate and burst in bytes (and per second), and queue in bytes.
func bucket(rate uint64, burst, queue uint32) *nl.RtAttr {
	parameters := nl.TcTbfQopt{Limit: queue}
	parameters.Rate.Rate = uint32(min(rate, 1<<32-1))
	parameters.Rate.Overhead = units.FCSBytes
	parameters.Rate.Linklayer = linkLayerEthernet
	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	options.AddRtAttr(nl.TCA_TBF_PARMS, parameters.Serialize())
	options.AddRtAttr(tcaTBFBurst, binary.NativeEndian.AppendUint32(nil, burst))
	if rate >= 1<<32 {
		options.AddRtAttr(nl.TCA_TBF_RATE64, binary.NativeEndian.AppendUint64(nil, rate))
	}
	return options
}
