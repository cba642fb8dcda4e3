package datapath

import (
	"errors"
	"slices"
	"sync"
)

// liveCrew are the threads that send live frames for any port of this process. A thread keeps a processor busy, and
// one processor is left to all else: requests, what receives, and the device where it works on this machine. So ports
// share threads where there are no more processors than ports. Where somebody says how many threads send on a port,
// they are that port's own.
type liveCrew struct {
	mutex   sync.Mutex // guards what follows, and the threads' parts
	threads []*liveThread
}

// crew is the process's.
var crew liveCrew

// liveThreads is how many threads may send for any port on so many processors.
func liveThreads(processors int) int { return max(processors-1, 1) }

// join finds a thread for a port's part of a run, the k-th of so many, and adds what build makes for that thread. The
// thread's frames begin so long, or as another port's do.
func (c *liveCrew) join(p *port, k, threads, length int, build func(*liveThread) (*livePart, error)) (*livePart, error) {
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

// thread is a new one while there may be more, and else the one that the fewest ports send on.
func (c *liveCrew) thread(p *port, k, threads, length int) (*liveThread, error) {
	o := p.options
	if o.Cores > 0 || threads > 1 || len(o.CPUs) > 0 {
		t, err := newLiveThread(length, p.batch())
		if err == nil && len(o.CPUs) > 0 {
			t.processors = o.CPUs[k%len(o.CPUs):]
		}
		return t, err
	}
	c.threads = slices.DeleteFunc(c.threads, (*liveThread).failed)
	var best *liveThread
	for _, t := range c.threads {
		hasRoom := t.batch == p.batch() && len(t.parts) < int(sendSharedSLOTS)
		if hasRoom && (best == nil || len(t.parts) < len(best.parts)) {
			best = t
		}
	}
	if best != nil && len(c.threads) >= liveThreads(p.cpus) {
		return best, nil
	}
	t, err := newLiveThread(length, p.batch())
	if err == nil {
		c.threads = append(c.threads, t)
	}
	return t, err
}

// leave returns when no frame of a part is on its way any more. The thread ends with the last of its parts.
func (c *liveCrew) leave(part *livePart) error {
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

// forget has no other port come to a thread.
func (c *liveCrew) forget(t *liveThread) {
	c.threads = slices.DeleteFunc(c.threads, func(other *liveThread) bool { return other == t })
}
