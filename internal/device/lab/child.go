package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// child is the process that holds the lab.
type child struct {
	command      *exec.Cmd
	life         io.WriteCloser // its standard input, open as long as this process lives
	status       io.ReadCloser  // its standard output
	childsStatus io.Closer      // the child's end of that pipe, which this process closes once the child has it
	words        *bounded.Words // its standard error
	exited       chan struct{}  // closed when it has ended and ended is set
	ended        error
}

// spawn starts the child in a new network namespace. The child of an ordinary user is also in a new user
// namespace, in which the user is root. For a Device the child stays in this namespace, where the interfaces
// are.
func spawn(t Topology, h Host, listener *os.File) (*child, error) {
	rootless := t.Kind != Device && !mayMakeNamespaces()
	c := &child{words: &bounded.Words{}, exited: make(chan struct{}), command: hostCommand(h)}
	c.command.Stderr = c.words
	c.command.ExtraFiles = []*os.File{listener}
	c.command.SysProcAttr = attributes(t.Kind, rootless)
	if err := c.pipes(); err != nil {
		return nil, faultOf(err)
	}
	defer func() { _ = c.childsStatus.Close() }()
	started := make(chan error)
	// The parent-death signal is sent when the *thread* that started the child ends (prctl(2), PR_SET_PDEATHSIG).
	// This one waits for the child and does nothing else, so it can't end before.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.command.Start()
		started <- err
		if err != nil {
			return
		}
		c.ended = c.command.Wait()
		close(c.exited)
	}()
	if err := <-started; err != nil {
		_ = c.life.Close()
		_ = c.status.Close()
		return nil, spawnFault(err, rootless)
	}
	return c, nil
}

func hostCommand(h Host) *exec.Cmd {
	if h.Path == "" {
		h.Path, h.Args = "/proc/self/exe", []string{Verb}
	}
	cmd := exec.Command(h.Path, h.Args...)
	cmd.Env = h.Env
	return cmd
}

func (c *child) pipes() error {
	life, err := c.command.StdinPipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	// StdoutPipe won't do, as Wait would close it before the last answers are read.
	reader, writer, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("make a pipe: %w", err), life.Close())
	}
	c.life, c.status, c.childsStatus, c.command.Stdout = life, reader, writer, writer
	return nil
}

// attributes put the child in its namespaces, and in a session of its own, for two reasons. An interrupt at the
// terminal then reaches only this process, which stops the child in order. And an engine that raises the
// priority of its whole session while it sends doesn't raise that of the user's other programs.
func attributes(k Kind, rootless bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if k != Device {
		a.Cloneflags = unix.CLONE_NEWNET
	}
	if rootless {
		a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS // so that it can mount its own sysfs
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return a
}

// mayMakeNamespaces says whether this process has the capabilities to make network namespaces without a user namespace.
func mayMakeNamespaces() bool {
	return hasCapability(unix.CAP_SYS_ADMIN) && hasCapability(unix.CAP_NET_ADMIN) && hasCapability(unix.CAP_NET_RAW)
}

func hasCapability(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return os.Geteuid() == 0
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

func (c *child) kill() error {
	if err := c.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the lab's process: %w", err)
	}
	return nil
}

// fault is the error for a child that ended by itself.
func (c *child) fault() *Fault {
	ending := "ended"
	if c.ended != nil {
		ending = "died: " + c.ended.Error()
	}
	if words := c.words.String(); words != "" {
		ending += "; its last words: " + words
	}
	return &Fault{Died, "the lab's process " + ending}
}
