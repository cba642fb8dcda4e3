package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// box is one machine of the cluster: a process that holds network, mount, process, name and IPC namespaces.
// When that process ends, the kernel ends every other one in the box, unmounts what was mounted and removes the
// interfaces: there is nothing else to tidy up.
type box struct {
	Name string  `json:"name"`
	Init process `json:"init"`
	cpus []int   // the cluster's
}

const namespaces = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// searchPath is where programs are found in a box.
const searchPath = "PATH=" + inBoxBin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// openBox starts a box. Its first process does nothing before record has written it down, so that none is ever lost.
func openBox(c *cluster, name string, groups cgroups, record func(box) error) error {
	dir := filepath.Join(c.dir, name)
	if err := makeBoxDirs(dir); err != nil {
		return err
	}
	online, err := c.writeOnline(dir)
	if err != nil {
		return err
	}
	spec, err := json.Marshal(boxSpec{Hostname: name, Dir: dir, Bin: c.Assets, Online: online})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "log", "init.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	b, stderr, err := launch(name, dir, spec, log, groups)
	if err != nil {
		return fmt.Errorf("open box %s: %w", name, err)
	}
	defer stderr.close()
	if err := record(b); err != nil {
		return err
	}
	if err := stderr.settle(); err != nil {
		return fmt.Errorf("set up box %s: %w (see %s)", name, err, log.Name())
	}
	return nil
}

// makeBoxDirs makes what a box mounts.
func makeBoxDirs(dir string) error {
	for _, sub := range []string{"lib", "log", "opt/kubernetes/bin", "opt/cni/bin"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// launch starts the box's first process. It waits for our word, and dies with us until then.
func launch(name, dir string, spec []byte, log *os.File, groups cgroups) (box, conversation, error) {
	goAhead, say, err := os.Pipe()
	if err != nil {
		return box{}, conversation{}, err
	}
	answer, theirs, err := os.Pipe()
	if err != nil {
		return box{}, conversation{}, errors.Join(err, goAhead.Close(), say.Close())
	}
	cmd := exec.Command("/proc/self/exe", initVerb, dir)
	cmd.Args[0] = "linerate-" + name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(string(spec)), log, log
	cmd.ExtraFiles = []*os.File{goAhead, theirs}
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: namespaces, Setsid: true}
	err = groups.startIn(cmd, cmd.Start)
	_, _ = goAhead.Close(), theirs.Close()
	stderr := conversation{say: say, hear: answer}
	if err != nil {
		stderr.close()
		return box{}, conversation{}, err
	}
	init, err := identify(cmd.Process.Pid)
	return box{Name: name, Init: init}, stderr, err
}

// conversation is with a box's first process, until it is set up.
type conversation struct{ say, hear *os.File }

func (t conversation) close() { _, _ = t.say.Close(), t.hear.Close() }

// settle lets the box set itself up, and has what went wrong.
func (t conversation) settle() error {
	if _, err := t.say.WriteString("go"); err != nil {
		return err
	}
	answer, err := io.ReadAll(t.hear)
	switch {
	case err != nil:
		return err
	case string(answer) != ready:
		return fmt.Errorf("it said %q", answer)
	}
	return nil
}

// start starts a command in the box. From the machine it is our child, and has a process number of the machine's.
func (b box) start(cmd *exec.Cmd) error {
	cmd.Dir = "/"
	result := make(chan error)
	go func() {
		// and never unlocked: the thread ends with this function, and no other goroutine gets its namespaces
		runtime.LockOSThread()
		result <- func() error {
			if err := b.enter(); err != nil {
				return err
			}
			return cmd.Start()
		}()
	}()
	return <-result
}

// enter moves this thread, and what it starts, into the box and onto the cluster's processors, also where this
// process has more than those of the process that brought it up.
func (b box) enter() error {
	fd, err := unix.PidfdOpen(b.Init.PID, 0)
	if err != nil || !b.Init.alive() {
		return fmt.Errorf("%s is down (its first process, %d, is gone): bring the cluster up again", b.Name, b.Init.PID)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("leave the machine's root directory: %w", err)
	}
	if err := unix.Setns(fd, namespaces); err != nil {
		return fmt.Errorf("enter %s: %w", b.Name, err)
	}
	return runOn(b.cpus)
}

// run runs a command in the box to its end.
func (b box) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Path, cmd.Err = "/usr/bin/env", nil // it is found in the box, not here
	cmd.Args = append([]string{"env", name}, args...)
	cmd.Env = append(os.Environ(), searchPath)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	if err := b.start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// initVerb is the verb of a box's first process. Its argument is the box's directory, which lists of processes show.
const initVerb = "init"

// netns is the box's network namespace, as a file to open.
func (b box) netns() string { return fmt.Sprintf("/proc/%d/ns/net", b.Init.PID) }
