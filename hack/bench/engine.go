package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// flood is more than any machine sends, in packets/s.
const flood = 100e6

// engine is the software engine, sending on one of its paths. What its port receives it would count, too, but
// the sink is before it.
func engine(path string, options datapath.Options, refuses func(dut, load) string) contender {
	return contender{name: ours + path, options: &options, refuses: refuses,
		start: func(_ context.Context, l *testbed, asked load) (func() error, error) {
			var ports []datapath.Port
			stop := func() error {
				var errs []error
				for _, p := range ports {
					errs = append(errs, p.Stop())
				}
				return errors.Join(append(errs, closeAll(ports))...)
			}
			ways := 1
			if asked.bothWays {
				ways = 2
			}
			for direction := range ways {
				p, err := openPort(l, options, direction, asked.threads/ways)
				if err == nil {
					ports = append(ports, p)
					err = startPort(p, path, direction, asked, flood)
				}
				if err != nil {
					return nil, errors.Join(err, stop())
				}
			}
			return stop, nil
		}}
}

// path is what the engine's contender sends on.
func (c contender) path() string { return strings.TrimPrefix(c.name, ours) }

// ours comes before the path in the engine's name.
const ours = "linerate, "

// openPort opens an end of the generator's for so many sending threads, each bound to a processor as trafgen's are.
func openPort(l *testbed, options datapath.Options, end, threads int) (datapath.Port, error) {
	options.Interface, options.Cores = l.nearLinks[end].Attrs().Name, threads
	for k := range threads {
		options.CPUs = append(options.CPUs, (end+k)%runtime.NumCPU())
	}
	return datapath.Open(options)
}

// startPort has a port send, and makes sure that it does so on the path that was asked for: what that can't
// carry goes another way.
func startPort(p datapath.Port, path string, end int, asked load, packetsPerSecond float64) error {
	streams, err := asked.streams(end == 1, packetsPerSecond)
	if err != nil {
		return err
	}
	if err := p.Start(datapath.Run{Streams: streams, Factor: 1, NextHop: [6]byte(hardware(end, 2))}); err != nil {
		return err
	}
	if by := p.Info().Path; !strings.HasPrefix(by, "sends by "+path) {
		return fmt.Errorf("asked to send by %s it %s", path, by)
	}
	return nil
}

func closeAll(ports []datapath.Port) error {
	var errs []error
	for _, p := range ports {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
