package datapath

import (
	"errors"
	"fmt"
	"runtime"
)

// errOtherPath says that the options ask for another path than live frames.
var errOtherPath = errors.New("another way was asked for")

// allowedProcessors is how many processors this process may use, within a container's limit.
var allowedProcessors = runtime.GOMAXPROCS(0)

// refuseLive says why the port's runs don't go by live frames, or returns nil if they do. checkLiveRun judges a run's streams.
func refuseLive(p *port) error {
	switch p.options.Path {
	case "", PathAuto:
	case PathLive:
		return nil
	default:
		return errOtherPath
	}
	if p.options.Plain {
		return errOtherPath
	}
	if p.nic.Driver != "veth" {
		return fmt.Errorf("%w: what %s has no room for would count as sent, so they have to be asked for", errNotLive, p.name)
	}
	if err := checkLiveProcessors(senders(), p.cpus); err != nil {
		return err
	}
	if err := checkLiveInterface(p); err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	return nil
}

// checkLiveProcessors says why the sending threads have no processors of their own, or returns nil if they have. A cable's far end works on this machine too, and so do the
// programs that drive and observe the test. On two processors a device's own threads would wait for the sending threads, and their losses would count as the device's.
func checkLiveProcessors(threads, processors int) error {
	if needed := 2*threads + 1; processors < needed {
		return fmt.Errorf("%w: threads that send (%d), the far ends of their cables and all else would need %d processors, of %d here", errNotLive, threads, needed, processors)
	}
	return nil
}
