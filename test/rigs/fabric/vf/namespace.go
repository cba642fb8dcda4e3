package vf

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// InNamespace runs fn on a thread in the network namespace that a path names, as in /proc/PID/ns/net or a bind
// mount of it. Goroutines that fn starts run elsewhere.
func InNamespace(path string, fn func() error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the network namespace %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	result := make(chan error, 1)
	go func() { result <- inside(fd, path, fn) }()
	return <-result
}

// inside brings the thread back where it was. A thread that can't be brought back isn't used again. It ends with its
// goroutine, which stays locked to it.
func inside(fd int, path string, fn func() error) error {
	runtime.LockOSThread()
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("hold the network namespace: %w", err)
	}
	defer func() { _ = unix.Close(home) }()
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter the network namespace %s: %w", path, err)
	}
	err = fn()
	if unix.Setns(home, unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
	return err
}
