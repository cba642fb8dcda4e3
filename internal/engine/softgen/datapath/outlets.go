package datapath

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// outlets are a port's transmitters, one per sending thread, and the memory that they send from. They stay open between runs: the
// kernel takes long to release an AF_XDP queue.
type outlets struct {
	arena        *arena
	transmitters []transmitter
}

// openOutlets opens AF_XDP, or AF_PACKET where the kernel, a sandbox or the limit on locked memory forbids it: by says which, and why.
func openOutlets(p *port) (o *outlets, by string, err error) {
	by = "AF_PACKET"
	if !p.options.Plain && p.options.Path != PathPacket {
		var instead error
		if p.options.Path == PathZeroCopy {
			if o, instead = openXDPOutlets(p, unix.XDP_ZEROCOPY); instead == nil {
				return o, "AF_XDP in zero copy", nil
			}
		}
		if o, err = openXDPOutlets(p, unix.XDP_COPY); err == nil && instead != nil {
			return o, "AF_XDP (no zero copy: " + brief(instead) + ")", nil
		}
		if err == nil {
			return o, "AF_XDP", nil
		}
		if p.options.Path == PathXDP || p.options.Path == PathZeroCopy {
			return nil, "", err
		}
		by += " (no AF_XDP: " + brief(err) + ")"
	}
	o, err = openMessageOutlets(p, arenaSize)
	return o, by, err
}

// brief is why a faster way was refused, in short: mostly "operation not permitted".
func brief(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// patience is how long a queue may stay busy with a socket that was closed before.
const patience = time.Second

// errSharedQueue is why several threads can't send by zero copy on one queue: a queue's completions don't say whose frame they belong to.
var errSharedQueue = errors.New("two threads would share a queue")

func openXDPOutlets(p *port, mode uint16) (*outlets, error) {
	if mode == unix.XDP_ZEROCOPY && p.options.Cores > p.queues {
		return nil, errSharedQueue
	}
	a, err := newArena(arenaSize)
	if err != nil {
		return nil, err
	}
	o := &outlets{arena: a}
	pools := map[int]*xdpPool{}
	for k := range max(p.options.Cores, 1) {
		queue := k % p.queues
		x, pool, err := openXDP(p.name, p.index, queue, a, pools[queue], mode)
		for deadline := Now() + patience; errors.Is(err, unix.EBUSY) && Now() < deadline; {
			sleep(time.Millisecond)
			x, pool, err = openXDP(p.name, p.index, queue, a, pools[queue], mode)
		}
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		pools[queue], o.transmitters = pool, append(o.transmitters, x)
	}
	return o, nil
}

func openMessageOutlets(p *port, size int) (*outlets, error) {
	a, err := newArena(size)
	if err != nil {
		return nil, err
	}
	o := &outlets{arena: a}
	for range max(p.options.Cores, 1) {
		m, err := newMessages(p.name, p.index, a)
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.transmitters = append(o.transmitters, m)
	}
	return o, nil
}

func (o *outlets) close() error {
	var errs []error
	for i := len(o.transmitters) - 1; i >= 0; i-- { // the pools' owners last
		errs = append(errs, o.transmitters[i].close())
	}
	return errors.Join(append(errs, o.arena.close())...)
}

// longArena holds frames above a page: a few prebuilt ones, and the slots.
const longArena = 4 << 20

// outlets are those that take frames of this length. The caller holds the port's mutex.
func (p *port) outlets(longest int) (*outlets, error) {
	if longest <= unix.Getpagesize() {
		return p.short, nil
	}
	if p.long != nil {
		return p.long, nil
	}
	err := p.namespace.do(func() (err error) {
		p.long, err = openMessageOutlets(p, longArena)
		return err
	})
	return p.long, err
}
