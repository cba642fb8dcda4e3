package main

import (
	"fmt"
	"slices"
)

// dut is what frames are sent through.
type dut string

const (
	forwarder dut = "through the forwarder" // the Linux kernel as a router
	// the same, its receiving ends served by threads of the kernel
	ownProcessor dut = "through a forwarder with its own processor"
	sink         dut = "into a sink" // nothing: frames are counted at the cable's far end
)

// marks are what the engine adds to frames.
type marks string

const (
	unmarked marks = ""
	// each frame says which flow id it is counted under, as a TRex stream with flow_stats does
	counted marks = "stats"
	stamped marks = "latency" // each frame has a sequence number and the time at which it was sent
)

// load is what a sender is asked to send.
type load struct {
	size     string // of the frames, FCS included: "64", "1518" or "IMIX"
	flows    int64
	threads  int // in all
	bothWays bool
	marks    marks
	// withoutNAPI turns aggregation off at the forwarder's ends for this turn, so that frames are received as on a
	// veth with default settings.
	withoutNAPI bool
}

// entry is a contender with its load. Its name in the table is the contender's unless it has one of its own.
type entry struct {
	contender
	load load
	mode string
}

func (e entry) String() string {
	if e.mode != "" {
		return e.mode
	}
	return e.name
}

// scene is a table: entries that take turns in one lab.
type scene struct {
	title, note string
	dut         dut
	entries     []entry
	// yardstick is the entry with which others of as many threads are compared; empty: they are compared with the
	// first entry of the same contender.
	yardstick string
}

// against is the entry that the nth is compared with; -1: there is none.
func (s scene) against(n int) int {
	for i, e := range s.entries {
		if s.yardstick == "" && e.name == s.entries[n].name || s.yardstick != "" && e.String() == s.yardstick &&
			e.load.threads == s.entries[n].load.threads {
			return i
		}
	}
	return -1
}

// base is what every axis is varied from: 64-byte frames of 254 flows, by one thread in one direction.
func base() load { return load{size: "64", flows: 254, threads: 1} }

// scenes are the main ones, or those of all axes.
func scenes(c contenders, allScenes bool) []scene {
	main := []scene{throughForwarder(c), intoSink(c), mixed(c), saturated(c)}
	if !allScenes {
		return main
	}
	for _, path := range []dut{forwarder, sink} {
		for _, change := range []func(*load){
			func(l *load) { l.size = "1518" },
			func(l *load) { l.flows = 1 },
			func(l *load) { l.flows = 65_536 },
			func(l *load) { l.bothWays, l.threads = true, 2 },
		} {
			l := base()
			change(&l)
			main = append(main, varied(c, path, l))
		}
	}
	imix := base()
	imix.size = "IMIX"
	return append(main, varied(c, sink, imix), cost(c))
}

// throughForwarder is the first table: all contenders, with one thread and with two.
func throughForwarder(c contenders) scene {
	s := scene{title: words(forwarder, base()), dut: forwarder, yardstick: trafgenName,
		note: "The forwarder's ends have aggregation on, as frames that come from a program in the kernel need it; in the rows that say so it is off, as on a veth with default settings. " +
			"On plain veths the sender's processor forwards, too. *Forwarding alone* is the cheapest source there is: a program that clones one packet into the cable."}
	for threads := 1; threads <= 2; threads++ {
		l := base()
		l.threads = threads
		for _, engine := range c.list() {
			s.entries = append(s.entries, entry{contender: engine, load: l})
		}
		s.entries = append(s.entries, entry{contender: c.forwarding, load: l})
		l.withoutNAPI = true
		for _, engine := range append(slices.Clone(c.engines), c.trafgen) {
			if engine.refuses(forwarder, l) == "" {
				s.entries = append(s.entries, entry{contender: engine, load: l, mode: engine.name +
					", aggregation off"})
			}
		}
	}
	return s
}

func intoSink(c contenders) scene {
	s := varied(c, sink, base())
	s.note = "Frames are counted and dropped at the far end of the cable. A veth copies the frames of those who send by sockets into memory that such a program may read; those that come from a program in the kernel are in it already."
	return s
}

// mixed compares IMIX with trafgen's 64-byte frames.
func mixed(c contenders) scene {
	l := base()
	l.size = "IMIX"
	s := varied(c, forwarder, l)
	s.yardstick = trafgenName + ", 64-byte frames"
	s.note = "28 frames of 64 bytes, 16 of 594 and 4 of 1518, in this proportion. They are compared with 64-byte frames of trafgen's."
	s.entries = append(s.entries, entry{contender: c.trafgen, load: base(), mode: s.yardstick})
	return s
}

// varied has every contender send the same.
func varied(c contenders, path dut, l load) scene {
	s := scene{title: words(path, l), dut: path, yardstick: trafgenName}
	for _, engine := range c.list() {
		s.entries = append(s.entries, entry{contender: engine, load: l})
	}
	return s
}

// cost varies what the engine does to each frame.
func cost(c contenders) scene {
	s := scene{title: "What flows, counters and stamps cost: 64-byte frames, through the forwarder", dut: forwarder,
		note: "Each row is compared with the first one of the same sender."}
	for _, engine := range c.engines {
		for _, flows := range []int64{1, 254, 65_536} {
			l := base()
			l.flows = flows
			s.entries = append(s.entries, entry{contender: engine, load: l, mode: fmt.Sprintf("%s, %s", engine.name,
				flowWords(flows))})
		}
		for _, m := range []marks{counted, stamped} {
			l := base()
			l.marks = m
			s.entries = append(s.entries, entry{contender: engine, load: l, mode: fmt.Sprintf("%s, %s, %s", engine.name,
				flowWords(l.flows), map[marks]string{counted: "counted by flow id", stamped: "stamped"}[m])})
		}
	}
	return s
}

// saturated floods a forwarder that has a processor and a queue of its own: what comes back is its rate.
func saturated(c contenders) scene {
	s := scene{title: words(ownProcessor, base()), dut: ownProcessor, yardstick: c.forwarding.name,
		note: "Flooded beyond saturation, what is returned is the forwarder's rate. trafgen isn't here: it ends with an error as soon as the forwarder's queue is full."}
	for _, engine := range append(slices.Clone(c.engines), c.forwarding) {
		s.entries = append(s.entries, entry{contender: engine, load: base()})
	}
	return s
}

// words are a load's in a title.
func words(path dut, l load) string {
	size := l.size + "-byte frames"
	if l.size == "IMIX" {
		size = l.size
	}
	direction := "one way"
	if l.bothWays {
		direction = "both ways at once"
	}
	return fmt.Sprintf("%s, %s, %s, %s", size, flowWords(l.flows), direction, path)
}

func flowWords(n int64) string {
	switch {
	case n == 1:
		return "1 flow"
	case n >= 10_000:
		return fmt.Sprintf("%d %03d flows", n/1000, n%1000)
	}
	return fmt.Sprintf("%d flows", n)
}
