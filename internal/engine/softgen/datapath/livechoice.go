package datapath

import (
	"errors"
	"fmt"
	"runtime"
)

// errNotAsked says that somebody asked for another way than live frames.
var errNotAsked = errors.New("another way was asked for")

// processorsHere are those that this process may use: a container's limit counts as well.
var processorsHere = runtime.GOMAXPROCS(0)

// preferLive says why a run goes another way than by live frames where nobody said how; nil: it goes by them. What a run's streams need is another question (liveCarries).
func preferLive(p *port) error {
	switch p.options.Path {
	case "", PathAuto:
	case PathLive:
		return nil
	default:
		return errNotAsked
	}
	if p.options.Plain {
		return errNotAsked
	}
	if p.nic.Driver != "veth" {
		return fmt.Errorf("%w: what %s has no room for would count as sent, so they have to be asked for", errNotLive, p.name)
	}
	if err := liveRoom(senders(), p.cpus); err != nil {
		return err
	}
	if err := liveTakes(p); err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	return nil
}

// liveRoom says why so many sending threads have no processors of their own; nil: they have. A cable's far end works on this machine, too, and so does all that drives and observes the test: on two
// processors a device's own threads would wait for those that send, and what they lose would be told of the device.
func liveRoom(threads, processors int) error {
	if needed := 2*threads + 1; processors < needed {
		return fmt.Errorf("%w: threads that send (%d), the far ends of their cables and all else would need %d processors, of %d here", errNotLive, threads, needed, processors)
	}
	return nil
}
