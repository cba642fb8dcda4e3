package sessions

import (
	"errors"
	"sync"
)

// course is how an end's work goes. It begins once, and goes on until it is finished, unless it breaks before. It is
// safe for concurrent use.
type course struct {
	mu       sync.Mutex
	started  bool
	finished bool
	broken   string
}

var errTwice = errors.New("it sends already, or has stopped")

// begin calls start, unless it has begun or is finished.
func (c *course) begin(start func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started || c.finished {
		return errTwice
	}
	c.started = true
	start()
	return nil
}

// breakWith records why the work ended by itself. Of several reasons the first counts.
func (c *course) breakWith(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.finished && c.broken == "" {
		c.broken = err.Error()
	}
}

// brokenBy is why the work ended by itself. It is empty if it didn't.
func (c *course) brokenBy() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// finish says whether the work wasn't finished yet. Nothing that ends from here on breaks it.
func (c *course) finish() (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, c.finished = !c.finished, true
	return first
}

// isFinished says whether finish was called.
func (c *course) isFinished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished
}
