package datapath

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// namespace is the network namespace that a port was opened in; the threads of the Go runtime may be in another.
type namespace struct{ handle netns.NsHandle }

// currentNamespace is the calling thread's.
func currentNamespace() (*namespace, error) {
	h, err := netns.Get()
	if err != nil {
		return nil, fmt.Errorf("open this thread's network namespace: %w", err)
	}
	return &namespace{h}, nil
}

// do runs fn in the namespace. A thread that had to change its namespace isn't used for anything else afterwards.
func (n *namespace) do(fn func() error) error {
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

// enter moves the calling thread into the namespace, and says whether it was in another.
func (n *namespace) enter() (changed bool, err error) {
	here, err := netns.Get()
	if err != nil {
		return false, err
	}
	same := here.Equal(n.handle)
	if err := here.Close(); err != nil || same {
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
