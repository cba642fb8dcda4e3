package datapath

import (
	"slices"
	"sync"
)

// captures are the functions that get captured frames.
type captures struct {
	mutex   sync.Mutex
	open    []*capture
	changed func(capturing bool) error // tells the receiver whether any capture is open
}

// capture has a queue of its own. A slow observer loses frames, and other observers don't wait for it.
type capture struct {
	queue chan Frame
	ended sync.WaitGroup
}

const captureQueue = 4096

// offer passes a frame to all captures.
func (c *captures) offer(f Frame) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, o := range c.open {
		select {
		case o.queue <- f:
		default:
		}
	}
}

func (c *captures) add(fn func(Frame)) (stop func(), err error) {
	o := &capture{queue: make(chan Frame, captureQueue)}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.open = append(c.open, o)
	if err := c.changed(true); err != nil {
		c.open = c.open[:len(c.open)-1]
		return nil, err
	}
	o.ended.Go(func() {
		for f := range o.queue {
			fn(f)
		}
	})
	return sync.OnceFunc(func() { c.remove(o) }), nil
}

func (c *captures) remove(o *capture) {
	c.mutex.Lock()
	c.open = slices.DeleteFunc(c.open, func(candidate *capture) bool { return candidate == o })
	_ = c.changed(len(c.open) > 0) // a receiver that passes on too many frames does no harm
	close(o.queue)
	c.mutex.Unlock()
	o.ended.Wait()
}
