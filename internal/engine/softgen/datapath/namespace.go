package datapath

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// namespace is the network namespace that a port was opened in. Threads of the Go runtime may be in another one.
type namespace struct{ handle netns.NsHandle }

// currentNamespace is the calling thread's network namespace.
func currentNamespace() (*namespace, error) {
	h, err := netns.Get()
	if err != nil {
		return nil, fmt.Errorf("open this thread's network namespace: %w", err)
	}
	return &namespace{h}, nil
}

// run runs fn in the namespace. A thread that had to change its namespace isn't used again.
func (n *namespace) run(fn func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		changed, err := n.enter()
		if err != nil {
			result <- err
			return
		}
		result <- fn()
		if !changed {
			runtime.UnlockOSThread()
		}
	}()
	return <-result
}

// enter moves the calling thread into the namespace, and says whether the thread was in another.
func (n *namespace) enter() (changed bool, err error) {
	current, err := netns.Get()
	if err != nil {
		return false, err
	}
	unchanged := current.Equal(n.handle)
	if err := current.Close(); err != nil || unchanged {
		return false, err
	}
	if err := netns.Set(n.handle); err != nil {
		return false, fmt.Errorf("enter the port's network namespace: %w", err)
	}
	return true, nil
}

func (n *namespace) close() error {
	if !n.handle.IsOpen() {
		return nil
	}
	return errors.Join(n.handle.Close())
}
