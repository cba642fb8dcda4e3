package netif

// This file makes network namespaces that have no name, and runs code in them. Such a namespace lives exactly as
// long as a process in it, a socket of it, or the file descriptor in a Namespace. When the process that made it
// ends, for whatever reason, the kernel removes the namespace and every virtual interface in it (namespaces(7),
// network_namespaces(7)).

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace held by a file descriptor. The nil Namespace is the caller's own. It is safe for
// concurrent use.
type Namespace struct{ file *os.File }

// NewNamespace makes an empty namespace, with nothing but a loopback interface that is down. It needs CAP_SYS_ADMIN
// in the user namespace.
func NewNamespace() (*Namespace, error) {
	var created *Namespace
	err := onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		var err error
		created, err = ofThread()
		return err
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

// OpenNamespace holds the namespace of a file, such as /proc/PID/ns/net or one below /run/netns.
func OpenNamespace(path string) (*Namespace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("hold a network namespace: %w", err)
	}
	return &Namespace{file: f}, nil
}

// CurrentNamespace holds the namespace that the calling goroutine's thread is in.
func CurrentNamespace() (*Namespace, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return ofThread()
}

func ofThread() (*Namespace, error) {
	f, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("hold the network namespace: %w", err)
	}
	return &Namespace{file: f}, nil
}

// Do runs fn on a thread in the namespace and returns its error. Sockets that fn opens belong to the namespace for
// good. Goroutines that fn starts run elsewhere.
func (n *Namespace) Do(fn func() error) error {
	if n == nil {
		return fn()
	}
	return onOwnThread(func() error {
		if err := unix.Setns(n.Fd(), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace: %w", err)
		}
		return fn()
	})
}

// Start starts cmd in the namespace, and then runs tend, which must wait for cmd. It returns once cmd runs. Where
// cmd can't be started, Start returns the error and doesn't call tend. tend has the thread that started cmd. When
// this process ends, so does that thread, and the kernel kills cmd (prctl(2), PR_SET_PDEATHSIG).
func (n *Namespace) Start(cmd *exec.Cmd, tend func()) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // in the caller's own namespace Do has no thread of its own
		defer runtime.UnlockOSThread()
		err := n.Do(func() error {
			if err := cmd.Start(); err != nil {
				return err
			}
			started <- nil
			tend()
			return nil
		})
		if err != nil { // then it was not started
			started <- err
		}
	}()
	return <-started
}

// Fd is the descriptor that holds the namespace. It stays the Namespace's own.
func (n *Namespace) Fd() int { return int(n.file.Fd()) }

// ID is the namespace's identity on this machine, the inode that "ls -l /proc/self/ns/net" shows.
func (n *Namespace) ID() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(n.Fd(), &st); err != nil {
		return 0, fmt.Errorf("identify the network namespace: %w", err)
	}
	return st.Ino, nil
}

// Close gives up the hold. Without another holder the namespace and its interfaces are gone.
func (n *Namespace) Close() error {
	if n == nil {
		return nil
	}
	return n.file.Close()
}

// onOwnThread runs fn on a thread that nothing else uses, and brings the thread back to its namespace. A thread
// that can't be brought back ends with its goroutine, which stays locked to it.
func onOwnThread(fn func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := ofThread()
		if err != nil {
			runtime.UnlockOSThread()
			result <- err
			return
		}
		defer func() { _ = home.Close() }()
		err = fn()
		if unix.Setns(home.Fd(), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}
