package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const trafgenName = "trafgen"

// trafgen is netsniff-ng's generator at its fastest: a transmit ring past the queueing discipline, threads
// bound to processors.
func trafgen(directory string) contender {
	return contender{name: trafgenName, refuses: func(path dut, l load) string {
		if path == ownProcessor {
			return "it ends with an error as soon as the forwarder's queue is full"
		}
		return tool("trafgen", "netsniff-ng", oneWayOnly)(path, l)
	}, start: func(ctx context.Context, l *testbed, asked load) (func() error, error) {
		frames, err := asked.prepared(hardware(0, 1), hardware(0, 2))
		if err != nil {
			return nil, err
		}
		config := filepath.Join(directory, "trafgen.cfg")
		if err := os.WriteFile(config, []byte(trafgenConfig(frames, asked.flows)), 0o600); err != nil {
			return nil, err
		}
		return launch(ctx, "trafgen", "--in", config, "--out", l.nearLinks[0].Attrs().Name, "--num", "0", "--cpus",
			strconv.Itoa(asked.threads), "--no-cpu-stats")
	}}
}

func hping3() contender {
	return contender{name: "hping3 --flood", refuses: tool("hping3", "hping3", func(_ dut, l load) string {
		switch {
		case l.threads > 1:
			return "it has one thread"
		case l.size == "IMIX":
			return "it sends frames of one size"
		case l.flows != 1 && l.flows != 65_536:
			return "it sends one flow, or one for each source port"
		}
		return ""
	}), start: func(ctx context.Context, l *testbed, asked load) (func() error, error) {
		size, err := strconv.Atoi(asked.size)
		if err != nil {
			return nil, err
		}
		const headers = 46 // Ethernet, IPv4, UDP and FCS
		arguments := []string{"--flood", "--udp", "--interface", l.nearLinks[0].Attrs().Name, "--spoof", "16.0.0.1",
			"--data", strconv.Itoa(size - headers), "--destport", "12", "--baseport", "1024"}
		if asked.flows == 1 {
			arguments = append(arguments, "--keep")
		}
		return launch(ctx, "hping3", append(arguments, "48.0.0.1")...)
	}}
}

// xdpTrafficgen is xdp-tools' generator, which sends from a program in the kernel as our live frames are: IPv6
// with a hop limit of 1, which no router forwards.
func xdpTrafficgen() contender {
	return contender{name: "xdp-trafficgen", refuses: tool("xdp-trafficgen", "xdp-tools",
		func(path dut, l load) string {
			switch {
			case path != sink:
				return "it sends IPv6 with a hop limit of 1, which no router forwards"
			case l.size != "64":
				return "it sends frames of one size, 64 bytes"
			}
			return oneWayOnly(path, l)
		}), start: func(ctx context.Context, l *testbed, asked load) (func() error, error) {
		arguments := []string{"udp", "--threads", strconv.Itoa(asked.threads), "--src-mac", hardware(0, 1).String(),
			"--dst-mac", hardware(0, 2).String()}
		if asked.flows > 1 {
			arguments = append(arguments, "--dyn-ports", strconv.FormatInt(min(asked.flows, 65_535), 10))
		}
		return launch(ctx, "xdp-trafficgen", append(arguments, l.nearLinks[0].Attrs().Name)...)
	}}
}

func oneWayOnly(_ dut, l load) string {
	if l.bothWays {
		return "it sends on one interface"
	}
	return ""
}

// tool refuses what can't be sent, or where it isn't installed.
func tool(program, debian string, refuses func(dut, load) string) func(dut, load) string {
	return func(path dut, l load) string {
		if refusal := refuses(path, l); refusal != "" {
			return refusal
		}
		if l.bothWays {
			return oneWayOnly(path, l)
		}
		if _, err := exec.LookPath(program); err != nil {
			return "not installed: apt-get install " + debian
		}
		return ""
	}
}

// toolOutput keeps the beginning of a tool's output, to show why it ended.
type toolOutput struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *toolOutput) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if room := 4096 - s.text.Len(); room > 0 {
		s.text.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// first is its first line.
func (s *toolOutput) first() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(s.text.String()), "\n")
	return line
}

// launch starts a tool in the lab.
func launch(ctx context.Context, tool string, arguments ...string) (stop func() error, err error) {
	return launched(exec.CommandContext(ctx, tool, arguments...))
}

// launched starts a command: it inherits the calling thread's network namespace, and dies with that thread.
func launched(c *exec.Cmd) (stop func() error, err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	stderr := &toolOutput{}
	c.Stdout, c.Stderr = stderr, stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	return func() error { return end(c, ended, stderr) }, nil
}

// end interrupts a tool, and kills it if it doesn't end within a second. One that has ended by itself is an error.
func end(c *exec.Cmd, ended <-chan error, stderr *toolOutput) error {
	name := filepath.Base(c.Path)
	select {
	case err := <-ended:
		return errors.Join(fmt.Errorf("%s ended by itself: %s", name, stderr.first()), err)
	default:
	}
	if err := c.Process.Signal(os.Interrupt); err != nil { // to the first process: it ends its own threads
		return fmt.Errorf("end %s: %w", name, err)
	}
	select {
	case err := <-ended:
		if c.ProcessState == nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
		return nil // however it ends when interrupted
	case <-time.After(time.Second):
	}
	err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	if waited := <-ended; waited != nil && c.ProcessState == nil {
		return fmt.Errorf("wait for %s: %w", name, waited)
	}
	return err
}
