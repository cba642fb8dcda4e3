package datapath

import (
	"fmt"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// kernelCounters reads the kernel's counters of an interface (rtnl_link_stats64, include/uapi/linux/if_link.h). They
// show frames that were lost before the engine could count them, and frames that were lost after it had counted them.
type kernelCounters struct {
	index  int
	handle *netlink.Handle
	mutex  sync.Mutex // guards base and latest
	base   netlink.LinkStatistics
	latest kernelCounts
}

// kernelCounts are the kernel's counters of frames since the port was opened.
type kernelCounts struct {
	// missed frames found no buffer in the network card. dropped frames found no room in the kernel's queues, or
	// no receiver.
	missed, dropped int64
	// damaged frames came with a wrong checksum, length or alignment.
	damaged int64
	// unsent are frames that the driver took and did not send.
	unsent int64
	// received and sent are all frames, those of other programs included.
	received, sent int64
}

// open begins to count, in the network namespace of the calling thread.
func (k *kernelCounters) open() (err error) {
	if k.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("open a netlink socket: %w", err)
	}
	if s := k.read(); s != nil {
		k.base = *s
	}
	return nil
}

// counts returns the counters since open. They never decrease. Counters of an interface that has vanished stay
// as they were.
func (k *kernelCounters) counts() kernelCounts {
	s := k.read()
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if s != nil {
		k.latest = countsBetween(k.base, *s).atLeast(k.latest)
	}
	return k.latest
}

func (k *kernelCounters) read() *netlink.LinkStatistics {
	l, err := k.handle.LinkByIndex(k.index)
	if err != nil {
		return nil
	}
	return l.Attrs().Statistics
}

// countsBetween returns the difference of two readings. Some drivers count a frame in two of the counters. Then
// too many frames count as the generator's loss, and never too many as the device's.
func countsBetween(a, b netlink.LinkStatistics) kernelCounts {
	return kernelCounts{
		missed:  int64(b.RxMissedErrors+b.RxFifoErrors) - int64(a.RxMissedErrors+a.RxFifoErrors),
		dropped: int64(b.RxDropped) - int64(a.RxDropped),
		damaged: int64(b.RxCrcErrors+b.RxLengthErrors+b.RxFrameErrors) - int64(a.RxCrcErrors+a.RxLengthErrors+
			a.RxFrameErrors),
		unsent: int64(b.TxDropped+b.TxErrors) - int64(a.TxDropped+a.TxErrors),

		received: int64(b.RxPackets) - int64(a.RxPackets),
		sent:     int64(b.TxPackets) - int64(a.TxPackets),
	}
}

func (c kernelCounts) atLeast(d kernelCounts) kernelCounts {
	return kernelCounts{max(c.missed, d.missed), max(c.dropped, d.dropped), max(c.damaged, d.damaged),
		max(c.unsent, d.unsent), max(c.received, d.received), max(c.sent, d.sent)}
}

func (k *kernelCounters) close() {
	if k.handle != nil {
		k.handle.Close()
	}
}
