package main

import (
	"context"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// contender is something that sends.
type contender struct {
	name string
	// options are those of the engine's ports; nil: it is another tool.
	options *datapath.Options
	// refuses says why it can't send such a load, or "".
	refuses func(dut, load) string
	// start begins to send as fast as it can; stop ends that and returns what went wrong meanwhile.
	start func(context.Context, *testbed, load) (stop func() error, err error)
}

// contenders are all that take part.
type contenders struct {
	engines    []contender // the software engine, one for each path that frames are sent on
	trafgen    contender
	tools      []contender
	forwarding contender
}

// list are those that are compared.
func (c contenders) list() []contender {
	return append(append(append([]contender{}, c.engines...), c.trafgen), c.tools...)
}

// takePart lists the tools that take part. directory is for the tools' files; trexDirectory is where a TRex is
// installed, or empty.
func takePart(directory, trexDirectory string) contenders {
	return contenders{
		engines: []contender{
			engine("live frames", datapath.Options{Path: datapath.PathLive}, needsNAPI),
			engine("AF_XDP", datapath.Options{Path: datapath.PathXDP}, plays),
			engine("AF_PACKET", datapath.Options{Path: datapath.PathPacket}, plays),
		},
		trafgen:    trafgen(directory),
		tools:      []contender{hping3(), xdpTrafficgen(), pktgen(), trexIn(trexDirectory, directory)},
		forwarding: forwarding(),
	}
}

// needsNAPI refuses a forwarder's end that drops what a program in the kernel sends.
func needsNAPI(_ dut, l load) string {
	if l.withoutNAPI {
		return "a veth without aggregation drops frames that come from a program in the kernel"
	}
	return ""
}

// plays is a refusal that never comes.
func plays(dut, load) string { return "" }
