package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/internal/softgen/datapath"
)

// contender is something that sends. Start begins to send as fast as it can; stop ends that and returns what went wrong meanwhile.
type contender struct {
	name    string
	threads int
	start   func(context.Context) (stop func() error, err error)
}

// flood is more than any machine sends.
const flood = 100e6

// engine is the software engine, which also receives, checks and counts.
func engine(threads int) contender {
	return contender{"linerate", threads, func(context.Context) (func() error, error) { return startEngine(threads, flood) }}
}

// bothWays is the engine with a thread on each port, sending in both directions at once.
func bothWays() contender {
	return contender{"linerate, both ways", 2, func(context.Context) (func() error, error) {
		from, to, err := openPorts(1)
		if err != nil {
			return nil, err
		}
		err = errors.Join(from.Start(datapath.Run{Streams: streams(flood), Factor: 1}), to.Start(datapath.Run{Streams: back(streams(flood)), Factor: 1}))
		stop := func() error { return errors.Join(from.Stop(), to.Stop(), from.Close(), to.Close()) }
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		return stop, nil
	}}
}

func startEngine(threads int, packetsPerSecond float64) (func() error, error) {
	from, to, err := openPorts(threads, processors(threads)...)
	if err != nil {
		return nil, err
	}
	if err := from.Start(datapath.Run{Streams: streams(packetsPerSecond), Factor: 1}); err != nil {
		return nil, errors.Join(err, from.Close(), to.Close())
	}
	return func() error { return errors.Join(from.Stop(), check(from, to), from.Close(), to.Close()) }, nil
}

// openPorts opens g0 for so many sending threads, bound to these processors if there are any, and g1 to receive or to send back.
func openPorts(threads int, bound ...int) (from, to datapath.Port, err error) {
	if from, err = datapath.Open(datapath.Options{Interface: "g0", Cores: threads, CPUs: bound}); err != nil {
		return nil, nil, err
	}
	if to, err = datapath.Open(datapath.Options{Interface: "g1"}); err != nil {
		return nil, nil, errors.Join(err, from.Close())
	}
	return from, to, nil
}

// processors are the first ones, which trafgen binds its threads to as well.
func processors(n int) []int {
	var out []int
	for k := range n {
		out = append(out, k%runtime.NumCPU())
	}
	return out
}

// check makes sure that the engine's figures can be right.
func check(from, to datapath.Port) error {
	sent, received := from.Counters().Sent.Packets, to.Counters().Received.Packets
	if received > sent || received == 0 {
		return fmt.Errorf("the engine says that %d of %d sent frames came back", received, sent)
	}
	return nil
}

// trafgen is netsniff-ng's generator at its fastest: a transmit ring past the queueing discipline, threads bound to processors.
func trafgen(threads int, directory string) contender {
	return contender{"trafgen", threads, func(ctx context.Context) (func() error, error) {
		config := filepath.Join(directory, "trafgen.cfg")
		if err := os.WriteFile(config, []byte(trafgenConfig()), 0o600); err != nil {
			return nil, err
		}
		return launch(ctx, "trafgen", "--in", config, "--out", "g0", "--num", "0", "--cpus", strconv.Itoa(threads), "--no-cpu-stats")
	}}
}

// trafgenWithSink is trafgen with the engine's own counting program at the far end, instead of the kernel's stack.
func trafgenWithSink(threads int, directory string) contender {
	plain := trafgen(threads, directory)
	return contender{"trafgen, counted by linerate", threads, func(ctx context.Context) (func() error, error) {
		sink, err := datapath.Open(datapath.Options{Interface: "g1"})
		if err != nil {
			return nil, err
		}
		stop, err := plain.start(ctx)
		if err != nil {
			return nil, errors.Join(err, sink.Close())
		}
		return func() error { return errors.Join(stop(), sink.Close()) }, nil
	}}
}

func hping3() contender {
	return contender{"hping3 --flood", 1, func(ctx context.Context) (func() error, error) {
		return launch(ctx, "hping3", "--flood", "--udp", "--interface", "g0", "--spoof", "16.0.0.1", "--data", "18", "--destport", "12", "48.0.0.1")
	}}
}

// launch starts a tool in the lab: it inherits the calling thread's network namespace, and dies with that thread.
func launch(ctx context.Context, tool string, arguments ...string) (func() error, error) {
	c := exec.CommandContext(ctx, tool, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	return func() error {
		select {
		case err := <-ended:
			return fmt.Errorf("%s ended by itself: %w", tool, err)
		default:
		}
		if err := c.Process.Signal(os.Interrupt); err != nil { // to the first process: it ends its own threads
			return fmt.Errorf("end %s: %w", tool, err)
		}
		select {
		case err := <-ended:
			if c.ProcessState == nil {
				return fmt.Errorf("wait for %s: %w", tool, err)
			}
			return nil // however it ends when interrupted
		case <-time.After(time.Second):
		}
		err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		if waited := <-ended; waited != nil && c.ProcessState == nil {
			return fmt.Errorf("wait for %s: %w", tool, waited)
		}
		return err
	}, nil
}
