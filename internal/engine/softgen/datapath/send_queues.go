package datapath

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sendQueues are a port's transmitters, one per sending thread, and the memory that they send
// from. They stay open between runs, because the kernel takes long to release an AF_XDP queue.
type sendQueues struct {
	arena        *arena
	transmitters []transmitter
}

// openSendQueues opens AF_XDP, or AF_PACKET where the kernel, a sandbox or the limit on locked memory forbids
// AF_XDP. The name says which, and why.
func openSendQueues(p *port) (o *sendQueues, name string, err error) {
	name = "AF_PACKET"
	if !p.options.Plain && p.options.Path != PathPacket {
		var refusal error
		if p.options.Path == PathZeroCopy {
			if o, refusal = openXDPQueues(p, unix.XDP_ZEROCOPY); refusal == nil {
				return o, "AF_XDP in zero copy", nil
			}
		}
		if o, err = openXDPQueues(p, unix.XDP_COPY); err == nil && refusal != nil {
			return o, "AF_XDP (no zero copy: " + shortReason(refusal) + ")", nil
		}
		if err == nil {
			return o, "AF_XDP", nil
		}
		if p.options.Path == PathXDP || p.options.Path == PathZeroCopy {
			return nil, "", err
		}
		name += " (no AF_XDP: " + shortReason(err) + ")"
	}
	o, err = openPacketQueues(p, arenaSize)
	return o, name, err
}

// shortReason is a short reason why a faster way was refused, mostly "operation not permitted".
func shortReason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// busyQueueTimeout bounds how long a queue stays busy with a socket that was closed before.
const busyQueueTimeout = time.Second

// errSharedQueue refuses zero copy for several threads on one queue, because a queue's completions don't say
// whose frame they belong to.
var errSharedQueue = errors.New("two threads would share a queue")

// newSendQueues makes an arena, and a transmitter for each sending thread.
func newSendQueues(p *port, size int, open func(thread int, a *arena) (transmitter, error)) (*sendQueues, error) {
	a, err := newArena(size)
	if err != nil {
		return nil, err
	}
	o := &sendQueues{arena: a}
	for k := range max(p.options.Cores, 1) {
		x, err := open(k, a)
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.transmitters = append(o.transmitters, x)
	}
	return o, nil
}

func openXDPQueues(p *port, mode uint16) (*sendQueues, error) {
	if mode == unix.XDP_ZEROCOPY && p.options.Cores > p.queues {
		return nil, errSharedQueue
	}
	pools := map[int]*xdpPool{}
	return newSendQueues(p, arenaSize, func(thread int, a *arena) (transmitter, error) {
		queue := thread % p.queues
		for deadline := Now() + busyQueueTimeout; ; sleep(time.Millisecond) {
			x, pool, err := openXDP(p.name, p.index, queue, a, pools[queue], mode)
			if err == nil {
				pools[queue] = pool
				return x, nil
			}
			if !errors.Is(err, unix.EBUSY) || Now() >= deadline {
				return nil, err
			}
		}
	})
}

func openPacketQueues(p *port, size int) (*sendQueues, error) {
	return newSendQueues(p, size, func(_ int, a *arena) (transmitter, error) {
		return newMessages(p.name, p.index, a)
	})
}

func (o *sendQueues) close() error {
	var errs []error
	for i := len(o.transmitters) - 1; i >= 0; i-- { // the pools' owners are closed last
		errs = append(errs, o.transmitters[i].close())
	}
	return errors.Join(append(errs, o.arena.close())...)
}

// longArenaSize holds the slots for frames above a page, and a few prebuilt frames.
const longArenaSize = 4 << 20

// queuesFor returns the send queues for frames of this length. The caller holds the port's mutex.
func (p *port) queuesFor(longest int) (*sendQueues, error) {
	if longest <= unix.Getpagesize() {
		return p.shortQueues, nil
	}
	if p.longQueues != nil {
		return p.longQueues, nil
	}
	err := p.namespace.run(func() (err error) {
		p.longQueues, err = openPacketQueues(p, longArenaSize)
		return err
	})
	return p.longQueues, err
}
