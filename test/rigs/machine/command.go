package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Command is a program that runs in a machine, as exec.Cmd is one that runs here.
type Command struct {
	Args []string
	// Dir is the working directory, / by default.
	Dir string
	// Env is added to the machine's own environment, each as NAME=VALUE.
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	machine        *Machine
}

// ExitStatus is the status of a program that didn't end with 0; 128 and more is a signal.
type ExitStatus int

func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Command is a program with its arguments.
func (m *Machine) Command(name string, args ...string) *Command {
	return &Command{Args: append([]string{name}, args...), Dir: "/", machine: m}
}

// Run runs the program until it and all that hold its output have ended. The context's end kills it.
func (c *Command) Run(ctx context.Context) error {
	session, err := c.machine.shell.NewSession()
	if err != nil {
		return fmt.Errorf("run %s in %s: %w", c.Args[0], c.machine.Name, err)
	}
	defer func() { _ = session.Close() }()
	session.Stdin, session.Stdout, session.Stderr = c.Stdin, c.Stdout, c.Stderr
	for _, variable := range c.Env {
		name, value, _ := strings.Cut(variable, "=")
		if err := session.Setenv(name, value); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	return c.end(ctx, session.Run(c.line()))
}

// Output runs the program, and returns what it printed to its standard output.
func (c *Command) Output(ctx context.Context) (string, error) {
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(ctx); err != nil {
		return stdout.String(), fmt.Errorf("%s in %s: %w: %s", strings.Join(c.Args, " "), c.machine.Name, err, stderr.String())
	}
	return stdout.String(), nil
}

func (c *Command) end(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
		return ExitStatus(exit.ExitStatus())
	}
	if _, ok := errors.AsType[*ssh.ExitMissingError](err); ok {
		return fmt.Errorf("machine %s ended before its program; its console:\n%s", c.machine.Name, c.machine.Console())
	}
	return err
}

// line is the command as the machine's shell reads it.
func (c *Command) line() string {
	words := make([]string, len(c.Args))
	for i, word := range c.Args {
		words[i] = quote(word)
	}
	return "cd " + quote(c.Dir) + " && exec " + strings.Join(words, " ")
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
