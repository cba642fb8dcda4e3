package datapath

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// kernelDrops reads what the kernel itself has dropped of an interface's frames before anyone could count them: full queues of the
// driver or the processor. It is only right where nothing behind the counting drops frames on the interface's account.
type kernelDrops struct {
	index  int
	handle *netlink.Handle
	base   int64
}

// open begins to count, in the network namespace of the calling thread.
func (k *kernelDrops) open() (err error) {
	if k.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("open a netlink socket: %w", err)
	}
	k.base = k.sum()
	return nil
}

func (k *kernelDrops) count() int64 { return max(k.sum()-k.base, 0) }

// sum is what was ever dropped; an interface that is gone has dropped no more than before.
func (k *kernelDrops) sum() int64 {
	l, err := k.handle.LinkByIndex(k.index)
	if err != nil || l.Attrs().Statistics == nil {
		return k.base
	}
	s := l.Attrs().Statistics
	return int64(s.RxDropped + s.RxMissedErrors + s.RxFifoErrors)
}

func (k *kernelDrops) close() {
	if k.handle != nil {
		k.handle.Close()
	}
}
