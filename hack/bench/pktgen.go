package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// pktgenFolder is where the kernel's module pktgen is configured, in the thread's own network namespace (the
// kernel's Documentation/networking/pktgen.rst).
const pktgenFolder = "/proc/thread-self/net/pktgen"

// pktgen is the kernel's own module, which isn't loaded from here: a module is the whole machine's.
func pktgen() contender {
	return contender{name: "pktgen", refuses: func(path dut, l load) string {
		if _, err := os.Stat(pktgenFolder); err != nil {
			return "the kernel has no pktgen, or hasn't loaded it (modprobe pktgen)"
		}
		return oneWayOnly(path, l)
	}, start: func(_ context.Context, l *testbed, asked load) (func() error, error) {
		for k := range asked.threads {
			if err := pktgenThread(l, asked, k); err != nil {
				return nil, err
			}
		}
		// opened here: another thread may be elsewhere
		control, err := os.OpenFile(pktgenFolder+"/pgctrl", os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() {
			_, err := control.WriteString("start\n") // returns when it is stopped
			ended <- err
		}()
		return func() error {
			err := command("pgctrl", "stop")
			return errors.Join(err, <-ended, control.Close(), command("pgctrl", "reset"))
		}, nil
	}}
}

// pktgenThread gives one of the module's threads, and so a processor, the interface with a queue of its own.
func pktgenThread(l *testbed, asked load, k int) error {
	device := fmt.Sprintf("%s@%d", l.nearLinks[0].Attrs().Name, k)
	if err := command(fmt.Sprintf("kpktgend_%d", k), "rem_device_all", "add_device "+device); err != nil {
		return err
	}
	lastFlow := asked.flows
	commands := []string{"count 0", "delay 0", "clone_skb 0", "dst_mac " + hardware(0, 2).String(), "dst 48.0.0.1",
		"src_min 16.0.0.1",
		fmt.Sprintf("src_max 16.%d.%d.%d", lastFlow>>16, lastFlow>>8&255, lastFlow&255), fmt.Sprintf("queue_map_min %d",
			k), fmt.Sprintf("queue_map_max %d", k)}
	if asked.size == "IMIX" {
		commands = append(commands, "imix_weights 60,28 590,16 1514,4")
	} else {
		size, err := strconv.Atoi(asked.size)
		if err != nil {
			return err
		}
		commands = append(commands, fmt.Sprintf("pkt_size %d", size-4))
	}
	return command(device, commands...)
}

// command writes commands to one of the module's files, each by itself.
func command(file string, texts ...string) error {
	for _, c := range texts {
		if err := os.WriteFile(filepath.Join(pktgenFolder, file), []byte(c+"\n"), 0o600); err != nil {
			return fmt.Errorf("pktgen: %q to %s: %w", c, file, err)
		}
	}
	return nil
}
