package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	launcher "github.com/linerate-dev/linerate/internal/pod/launch"
)

// trexIn is the TRex in a folder, as in a pod without SR-IOV: it drives kernel interfaces through AF_PACKET,
// with one thread. It sends the streams that the engine is given.
func trexIn(folder, directory string) contender {
	return contender{name: "TRex, AF_PACKET", refuses: func(_ dut, l load) string {
		switch {
		case folder == "":
			return "name its folder: -trex DIR"
		case l.bothWays:
			return "the bench has it send one way only"
		case l.threads > 1:
			return "it drives kernel interfaces with one thread"
		}
		if _, err := installed(folder); err != nil {
			return err.Error()
		}
		return ""
	}, start: func(ctx context.Context, l *testbed, asked load) (func() error, error) {
		kill, err := startTRex(ctx, l, folder, directory)
		if err != nil {
			return nil, err
		}
		c, err := driveTRex(ctx, asked)
		if err != nil {
			return nil, errors.Join(err, kill())
		}
		return func() error { return errors.Join(c.StopTraffic(ctx, 0), c.Close(), kill()) }, nil
	}}
}

func installed(folder string) (launcher.Installation, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return launcher.Installation{}, err
	}
	return launcher.Find(os.DirFS("/"), absolute, runtime.GOARCH)
}

// startTRex starts it on both of the generator's ends. It answers on the namespace's loopback.
func startTRex(ctx context.Context, l *testbed, folder, directory string) (kill func() error, err error) {
	found, err := installed(folder)
	if err != nil {
		return nil, err
	}
	lo, err := netlink.LinkByName("lo")
	if err := errors.Join(err, netlink.LinkSetUp(lo)); err != nil {
		return nil, err
	}
	config := launcher.Config{Kind: launcher.Kernel, Cores: 1, MemoryMiB: 1024, RPCPort: 4501, PublisherPort: 4500,
		Arguments: []string{"--iom", "0", "--no-key", "--no-termio", "--software"}}
	for i, end := range l.nearLinks {
		name := end.Attrs().Name
		config.Devices = append(config.Devices, launcher.LinkDevice{Link: name, Interface: name, Kind: launcher.Kernel})
		config.Interfaces = append(config.Interfaces, name)
		config.PortInfo = append(config.PortInfo, launcher.PortInfo{Source: hardware(i, 1).String(),
			Destination: hardware(i, 2).String()})
	}
	text, err := launcher.Render(config)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(directory, "trex_cfg.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	home := found.Directory
	c := exec.CommandContext(ctx, found.Binary, config.CommandLine(file)...)
	c.Dir = home
	c.Env = append(os.Environ(), fmt.Sprintf("LD_LIBRARY_PATH=%s:%s/so:%s/so/x86_64", home, home, home))
	return launched(c)
}

const (
	// bootTime is how long TRex may take to answer.
	bootTime = time.Minute
	// longestTraffic is how long TRex sends if it isn't stopped.
	longestTraffic = time.Minute
)

// driveTRex has port 0 send.
func driveTRex(ctx context.Context, asked load) (*trex.Client, error) {
	c, err := dialTRex(ctx)
	if err != nil {
		return nil, err
	}
	run, err := asked.streams(false, flood)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	var streams []stream.Stream
	for _, stream := range run {
		streams = append(streams, stream.Stream)
	}
	err = errors.Join(c.Acquire(ctx, 0, true), c.Reset(ctx, 0), c.AddStreams(ctx, 0, streams))
	if err == nil {
		_, err = c.StartTraffic(ctx, trex.Start{Port: 0, Multiplier: trex.Raw(1), Duration: longestTraffic,
			Force: true})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// dialTRex waits until it answers. The socket is made in the calling thread's namespace.
func dialTRex(ctx context.Context) (*trex.Client, error) {
	for end := time.Now().Add(bootTime); ; {
		c, err := trex.Dial(ctx, "127.0.0.1:4501", trex.Options{User: "bench", Timeout: 10 * time.Second})
		if err == nil || time.Now().After(end) {
			return c, err
		}
		if err := bounded.Pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
