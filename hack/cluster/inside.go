package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// locked is for commands that change what is written down.
func locked(p place, change func(c *cluster, groups cgroups) error) error {
	lock, err := p.lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	c, err := p.running()
	if err != nil {
		return err
	}
	groups, err := findCgroups(p.name)
	if err != nil {
		return err
	}
	return change(c, groups)
}

// split reads [BOX] COMPONENT.
func split(args []string) (box, name string) {
	if len(args) == 1 {
		return "control", args[0]
	}
	return args[0], args[1]
}

func killCommand(ctx context.Context, p place, args []string) error {
	return locked(p, func(c *cluster, _ cgroups) error {
		box, name := split(args)
		return c.kill(ctx, box, name)
	})
}

func startCommand(_ context.Context, p place, args []string) error {
	return locked(p, func(c *cluster, groups cgroups) error {
		box, name := split(args)
		return c.start(box, name, groups)
	})
}

func restartCommand(ctx context.Context, p place, args []string) error {
	return errors.Join(killCommand(ctx, p, args), startCommand(ctx, p, args))
}

func daemonCommand(_ context.Context, p place, args []string) error {
	args = withoutDashes(args, 2)
	return locked(p, func(c *cluster, groups cgroups) error {
		if len(args) < 3 || !filepath.IsAbs(args[2]) {
			return fmt.Errorf("program %q: name one by its whole path, as it is in the box", args[2:])
		}
		if err := c.addDaemon(component{Box: args[0], Name: args[1], Program: args[2], Args: args[3:]}); err != nil {
			return err
		}
		if err := c.start(args[0], args[1], groups); err != nil {
			return errors.Join(err, c.forget(args[0], args[1]))
		}
		return nil
	})
}

func execCommand(ctx context.Context, p place, args []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	b, err := c.box(args[0])
	if err != nil {
		return err
	}
	args = withoutDashes(args, 1)
	return statusOf(b.run(ctx, os.Stdin, os.Stdout, os.Stderr, args[1], args[2:]...))
}

func kubectlCommand(ctx context.Context, p place, args []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.Assets, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return statusOf(cmd.Run())
}

// statusOf is a command's exit status, to exit with.
func statusOf(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exitStatus(exit.ExitCode())
	}
	return err
}

func cableCommand(_ context.Context, p place, args []string) error {
	return locked(p, func(c *cluster, _ cgroups) error {
		return c.layCable(args[0], args[len(args)-1])
	})
}
