// Machine brings an emulated machine up whose network cards have virtual functions, and runs a program in it:
//
//	go run ./hack/machine -- ip -br link
//
// docs/machine.md describes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/machine"
)

// Exit statuses of our own; all others are the program's. They are timeout(1)'s and the shell's.
const (
	timedOut    = 124
	failed      = 125
	interrupted = 130
)

func main() {
	endWithGo()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	status := command(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(status)
}

// endWithGo ends this process when go run ends, which doesn't hand a SIGKILL on.
func endWithGo() {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err == nil && string(name) == "go\n" {
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0)
	}
}

// streams are the command's, and the program's in the machine.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

func command(ctx context.Context, s streams, args []string) int {
	flags := flag.NewFlagSet("machine", flag.ContinueOnError)
	flags.SetOutput(s.stderr)
	file := flags.String("f", "", "a description of machines and cables; by default one machine with two ports")
	name := flags.String("on", "", "the machine in which the program runs, by default the first")
	timeout := flags.Duration("timeout", 10*time.Minute, "end everything after this time")
	if err := flags.Parse(args); err != nil {
		return failed
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(s.stderr, "machine: name the program that is to run, after --: go run ./hack/machine -- ip -br link")
		return failed
	}
	limited, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	err := play(limited, s, *file, *name, flags.Args())
	status, exited := errors.AsType[machine.ExitStatus](err)
	switch {
	case err == nil:
		return 0
	case exited:
		return int(status)
	case ctx.Err() != nil:
		return interrupted
	case limited.Err() != nil:
		fmt.Fprintf(s.stderr, "machine: not done after %s: raise --timeout, if that is too short\n", *timeout)
		return timedOut
	}
	fmt.Fprintln(s.stderr, "machine:", err)
	return failed
}

func play(ctx context.Context, s streams, file, name string, program []string) error {
	var lab machine.Lab
	if file != "" {
		var err error
		if lab, err = machine.ReadLab(file); err != nil {
			return err
		}
	}
	rig, err := machine.Start(ctx, lab, s.stderr)
	if err != nil {
		return err
	}
	defer rig.Close()
	target := rig.Machine(name)
	if target == nil {
		return fmt.Errorf("no machine is called %s", name)
	}
	run := target.Command(program[0], program[1:]...)
	if run.Dir, err = os.Getwd(); err != nil {
		return err
	}
	run.Stdin, run.Stdout, run.Stderr = s.stdin, s.stdout, s.stderr
	return run.Run(ctx)
}
