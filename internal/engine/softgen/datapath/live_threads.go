package datapath

import (
	"errors"
	"slices"
	"sync"
)

// liveThreadPool has the threads that send live frames for any port of this process. A thread
// keeps a processor busy. One processor is left to requests, to the receivers, and to a device
// on this machine. So ports share threads where there are no more processors than ports, or
// where they are bound to the same processor. If the options say how many threads send on a
// port, these threads send on no other port.
type liveThreadPool struct {
	mutex   sync.Mutex // guards threads, and the threads' parts
	threads []*liveThread
}

// liveThreads is this process's pool.
var liveThreads liveThreadPool

// maxLiveThreads is how many threads may send for any port on a machine with so many processors.
func maxLiveThreads(processors int) int { return max(processors-1, 1) }

// join finds a thread for the k-th part of a port's run, and adds the part that build makes for
// that thread. A new thread's frames have this length, and a shared thread keeps its own.
func (c *liveThreadPool) join(
	p *port, k, threads, length int, build func(*liveThread) (*livePart, error),
) (*livePart, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	t, err := c.thread(p, k, threads, length)
	if err != nil {
		return nil, err
	}
	part, err := build(t)
	if err == nil {
		if err = t.add(part); err == nil {
			return part, nil
		}
		err = errors.Join(err, part.close())
	}
	if len(t.parts) == 0 {
		c.forget(t)
		err = errors.Join(err, t.close())
	}
	return nil, err
}

// thread returns a new thread while the pool may grow, and else the thread with the fewest parts.
func (c *liveThreadPool) thread(p *port, k, threads, length int) (*liveThread, error) {
	o := p.options
	shared, bound := o.Cores == 0 && threads == 1, len(o.CPUs) > 0
	if best := c.leastBusy(p); shared && best != nil && (bound || len(c.threads) >= maxLiveThreads(p.cpus)) {
		return best, nil
	}
	t, err := newLiveThread(length, p.batch())
	if err != nil {
		return nil, err
	}
	if bound {
		t.processors = o.CPUs[k%len(o.CPUs):]
	}
	if shared {
		c.threads = append(c.threads, t)
	}
	return t, nil
}

// leastBusy is the thread with the fewest parts of those that the port may share, which are bound as the port is. Nil
// means that there is none.
func (c *liveThreadPool) leastBusy(p *port) (best *liveThread) {
	c.threads = slices.DeleteFunc(c.threads, (*liveThread).failed)
	for _, t := range c.threads {
		hasRoom := t.batch == p.batch() && len(t.parts) < int(sendSharedSLOTS)
		if hasRoom && slices.Equal(t.processors, p.options.CPUs) && (best == nil || len(t.parts) < len(best.parts)) {
			best = t
		}
	}
	return best
}

// leave removes a part, and returns when no frame of the part is on its way any more. The thread ends with its
// last part.
func (c *liveThreadPool) leave(part *livePart) error {
	t := part.thread
	c.mutex.Lock()
	if len(t.parts) > 1 {
		defer c.mutex.Unlock()
		err := t.remove(part)
		t.waitForCurrentBatch()
		return err
	}
	c.forget(t)
	c.mutex.Unlock()
	t.end()
	return t.close()
}

// forget takes a thread out of the pool, so that no other port joins it.
func (c *liveThreadPool) forget(t *liveThread) {
	c.threads = slices.DeleteFunc(c.threads, func(candidate *liveThread) bool { return candidate == t })
}
