package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// start starts a component unless it runs. Its words go to the end of its log.
func (c *cluster) start(box, name string, groups cgroups) error {
	existing, err := c.component(box, name)
	if err != nil || existing.Process.alive() {
		return err
	}
	b, err := c.box(existing.Box)
	if err != nil {
		return err
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", b.Init.PID, existing.program())); b.Init.alive() && err != nil {
		return fmt.Errorf("start %s: there is no %s in %s: boxes have an /opt, /run, /var/lib and /var/log of their own", existing.Name, existing.program(), b.Name)
	}
	log, err := os.OpenFile(c.logOf(*existing), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	begin, err := startAtGate(b, existing, log, groups)
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", existing.Name, existing.Box, err)
	}
	defer func() { _ = begin.Close() }()
	if err := c.save(); err != nil {
		return err
	}
	_, err = begin.WriteString("go")
	return err
}

// startAtGate starts a component that waits at the gate for our word, and gets its process's number. Were we
// killed before it is written down, it would end: nothing runs that isn't.
func startAtGate(b box, target *component, log *os.File, groups cgroups) (begin *os.File, err error) {
	goAhead, say, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = goAhead.Close() }()
	cmd := exec.Command("/proc/self/exe", append([]string{gateVerb, target.program()}, target.Args...)...)
	cmd.Env = []string{searchPath, "HOME=/root"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{goAhead}
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := groups.startIn(cmd, func() error { return b.start(cmd) }); err != nil {
		return nil, errors.Join(err, say.Close())
	}
	go func() { _ = cmd.Wait() }() // or, if it died while we live, it would stay as a zombie
	if target.Process, err = identify(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, say.Close())
	}
	return say, nil
}

const gateVerb = "gate"

// gate waits for the word on descriptor 3, and then becomes the program. If the process that started it dies
// before, it ends.
func gate(program []string) error {
	const goAhead = 3
	if n, _ := unix.Read(goAhead, make([]byte, 2)); n <= 0 {
		return errors.New("no word to begin")
	}
	unix.CloseOnExec(goAhead)
	return fmt.Errorf("become %s: %w", program[0], unix.Exec(program[0], program, os.Environ()))
}

// program is a component's path in its box.
func (x component) program() string {
	if x.Program != "" {
		return x.Program
	}
	return filepath.Join(inBoxBin, x.Name)
}

// logOf is a component's log, on the host.
func (c *cluster) logOf(x component) string { return filepath.Join(c.dir, x.Box, "log", x.Name+".log") }

// kill kills a component like a crash does: with SIGKILL, and what it started stays.
func (c *cluster) kill(ctx context.Context, box, name string) error {
	target, err := c.component(box, name)
	if err != nil {
		return err
	}
	return target.Process.kill(ctx)
}

// addDaemon writes down another program for a box, or what is new about it, to be started like the others.
func (c *cluster) addDaemon(x component) error {
	if target, err := c.component(x.Box, x.Name); err == nil {
		if target.Process.alive() {
			return fmt.Errorf("%s runs on %s already: kill it first", x.Name, x.Box)
		}
		*target = x
		return c.save()
	}
	c.Components = append(c.Components, x)
	return c.save()
}

// forget removes a program that could not be started.
func (c *cluster) forget(box, name string) error {
	c.Components = slices.DeleteFunc(c.Components, func(x component) bool { return x.Box == box && x.Name == name })
	return c.save()
}

// startDaemons starts what was added to the cluster and doesn't run.
func (c *cluster) startDaemons(groups cgroups) error {
	for _, x := range c.Components {
		if x.Program == "" {
			continue
		}
		if err := c.start(x.Box, x.Name, groups); err != nil {
			return err
		}
	}
	return nil
}

// startAll starts the named components of a box in this order.
func (c *cluster) startAll(box string, groups cgroups, names ...string) error {
	for _, name := range names {
		if err := c.start(box, name, groups); err != nil {
			return err
		}
	}
	return nil
}
