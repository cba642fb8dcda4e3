package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// start starts a component unless it runs, and writes down which process it is. Its words go to the end of its log.
func (c *cluster) start(box, name string, groups cgroups) error {
	at, err := c.component(box, name)
	if err != nil || at.Process.alive() {
		return err
	}
	b, err := c.box(at.Box)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.logOf(*at), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(at.program(), at.Args...)
	cmd.Env = []string{searchPath, "HOME=/root"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := groups.startIn(cmd, func() error { return b.start(cmd) }); err != nil {
		return fmt.Errorf("start %s in %s: %w", at.Name, at.Box, err)
	}
	if at.Process, err = identify(cmd.Process.Pid); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // or, if it died while we live, it would stay as a zombie
	return c.save()
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
	at, err := c.component(box, name)
	if err != nil {
		return err
	}
	return at.Process.kill(ctx)
}

// addDaemon writes down another program for a box, or what is new about it, to be started like the others.
func (c *cluster) addDaemon(x component) error {
	if at, err := c.component(x.Box, x.Name); err == nil {
		if at.Process.alive() {
			return fmt.Errorf("%s runs on %s already: kill it first", x.Name, x.Box)
		}
		*at = x
		return c.save()
	}
	c.Components = append(c.Components, x)
	return c.save()
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
