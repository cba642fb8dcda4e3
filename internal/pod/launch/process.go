package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// DefaultGrace is how long TRex may take to end after SIGTERM. It takes two seconds, and Kubernetes waits for thirty.
const DefaultGrace = 20 * time.Second

// Process is a TRex to be started.
type Process struct {
	Installation Installation
	// Arguments are all of TRex's (Config.CommandLine).
	Arguments []string
	// Environment is the environment to start TRex in. Its LD_LIBRARY_PATH is prefixed with TRex's folders.
	Environment []string
	// Stdout and Stderr get what TRex says, as it says it.
	Stdout, Stderr io.Writer
	Grace          time.Duration // 0 is DefaultGrace
	Log            *slog.Logger  // nil discards
}

// Run starts TRex and returns when it has ended. When ctx ends, Run ends TRex (SIGTERM ─▶ Grace ─▶ SIGKILL) and
// returns nil, whatever TRex's exit code. Every other end is a Fault. If the CPU lacks the binary's
// instructions, Run starts the fallback, if there is one. TRex dies with this process.
func (p Process) Run(ctx context.Context) error {
	ending, err := p.start(ctx, p.Installation.Binary)
	if err != nil {
		return err
	}
	if ending.signal() == syscall.SIGILL && p.Installation.Fallback != "" && ctx.Err() == nil {
		p.log().Info("this CPU lacks instructions: starting the other build", "binary", p.Installation.Fallback)
		if ending, err = p.start(ctx, p.Installation.Fallback); err != nil {
			return err
		}
	}
	return ending.verdict()
}

// start runs one binary to its end, on a thread of its own, as the kernel kills the child when the thread that
// made it ends.
func (p Process) start(ctx context.Context, binary string) (ending, error) {
	type outcome struct {
		ending ending
		err    error
	}
	outcomes := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		e, err := p.wait(ctx, binary)
		outcomes <- outcome{e, err}
	}()
	o := <-outcomes
	return o.ending, o.err
}

func (p Process) wait(ctx context.Context, binary string) (ending, error) {
	output := &tail{}
	cmd := exec.CommandContext(ctx, binary, p.Arguments...)
	cmd.Dir = p.Installation.Directory
	cmd.Env = withLibraries(p.Environment, libraryDirectories(p.Installation.Directory, runtime.GOARCH))
	cmd.Stdout = io.MultiWriter(cmp.Or(p.Stdout, io.Discard), output)
	cmd.Stderr = io.MultiWriter(cmp.Or(p.Stderr, io.Discard), output)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = cmp.Or(p.Grace, DefaultGrace)
	requested := false
	cmd.Cancel = func() error {
		requested = true
		p.log().Info("stopping TRex", "why", context.Cause(ctx))
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return ending{requested: true, code: exitOrderly}, nil //nolint:nilerr // stopped before TRex ran
		}
		return ending{}, startFault(binary, err)
	}
	p.log().Info("started TRex", "pid", cmd.Process.Pid, "arguments", strings.Join(p.Arguments, " "))
	err := cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		return ending{}, fmt.Errorf("wait for TRex: %w", err)
	}
	return endingOf(status, requested, cmd.WaitDelay, output.lines()), nil
}

func (p Process) log() *slog.Logger { return cmp.Or(p.Log, slog.New(slog.DiscardHandler)) }

func startFault(binary string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return Fault{WrongArchitecture, binary + " isn't a program for this machine",
			"use an image for this architecture"}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return Fault{TRexNotFound, fmt.Sprintf("start %s: %v", binary, err),
			"see that the image holds it, executable, and the loader that it needs"}
	}
	return fmt.Errorf("start %s: %w", binary, err)
}

// withLibraries puts directories before the loader's other ones.
func withLibraries(environment, directories []string) []string {
	const name = "LD_LIBRARY_PATH="
	value := name + strings.Join(directories, ":")
	settings := make([]string, 0, len(environment)+1)
	for _, setting := range environment {
		if old, ok := strings.CutPrefix(setting, name); ok {
			if old != "" {
				value += ":" + old
			}
			continue
		}
		settings = append(settings, setting)
	}
	return append(settings, value)
}
