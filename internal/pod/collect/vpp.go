package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/adapter/statsclient"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// mostNodes is how many of VPP's nodes are reported, those that took the most time. Each node is three series.
const mostNodes = 20

// mostBusy bounds how often a reading begins anew because VPP changed its directory meanwhile. socketTime is
// short, as the socket is there or isn't.
const (
	mostBusy   = 3
	socketTime = 100 * time.Millisecond
)

// vpp is a VPP whose statistics segment is read. The segment is shared memory, which VPP hands over its socket,
// so that reading it costs VPP nothing.
type vpp struct{ socket string }

// silence keeps the library, which logs to the standard output, from doing so.
var silence = sync.OnceFunc(func() { statsclient.Log.SetOutput(io.Discard) })

func newVPP(s plan.VPPStats) source {
	silence()
	return vpp{s.Socket}
}

// waiting are the readings of each socket that their askers gave up, and that still wait for a segment.
var waiting struct {
	sync.Mutex
	readings map[string]int
}

func countWaiting(socket string, delta int) (readings int) {
	waiting.Lock()
	defer waiting.Unlock()
	if waiting.readings == nil {
		waiting.readings = map[string]int{}
	}
	waiting.readings[socket] += delta
	return waiting.readings[socket]
}

// ask reads in a goroutine of its own, as the library waits for the segment without end, and the socket's owner
// may never hand one over. While such a reading waits there is no other.
func (v vpp) ask(ctx context.Context) (reading, error) {
	if countWaiting(v.socket, 0) > 0 {
		return reading{}, errors.New("an earlier reading still waits for what it hands over: restart VPP, or name " +
			"its socket in vpp.socket")
	}
	type outcome struct {
		numbers []observe.Number
		err     error
	}
	read := make(chan outcome, 1)
	go func() {
		numbers, err := v.read()
		read <- outcome{numbers, err}
	}()
	select {
	case o := <-read:
		return reading{numbers: o.numbers}, o.err
	case <-ctx.Done():
		countWaiting(v.socket, 1)
		go func() {
			<-read
			countWaiting(v.socket, -1)
		}()
		return reading{}, ctx.Err()
	}
}

// read maps the segment and reads it once. The library trusts the lengths that it finds there. A length that
// leads beyond the segment is a memory fault, which read reports as an error.
func (v vpp) read() (numbers []observe.Number, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			numbers, err = nil, errors.New("what it handed over is no statistics segment that can be read")
		}
	}()
	client := statsclient.NewStatsClient(v.socket, statsclient.SetSocketRetryTimeout(socketTime))
	defer func() { _ = client.Disconnect() }() // also where connecting ends by a fault
	if err := client.Connect(); err != nil {
		return nil, plainly(err)
	}
	for range mostBusy {
		entries, err := client.DumpStats("^/sys/node/(names|clocks|vectors|calls)$")
		if errors.Is(err, adapter.ErrStatsDataBusy) || errors.Is(err, adapter.ErrStatsAccessFailed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return nodesOf(entries)
	}
	return nil, fmt.Errorf("it changed its statistics each of the %d times that they were read", mostBusy)
}

// node is what VPP counts of one node, over all of its threads.
type node struct {
	name                   string
	clocks, vectors, calls float64
}

// nodesOf are the nodes that packets passed, those that took the most time first.
func nodesOf(entries []adapter.StatEntry) (numbers []observe.Number, err error) {
	var names adapter.NameStat
	counted := map[string]adapter.SimpleCounterStat{}
	for _, e := range entries {
		switch data := e.Data.(type) {
		case adapter.NameStat:
			names = data
		case adapter.SimpleCounterStat:
			counted[string(e.Name)] = data
		}
	}
	if len(names) == 0 {
		return nil, errors.New("its statistics have no nodes (/sys/node/names): VPP counts them from version 19.08 on")
	}
	var nodes []node
	for i, name := range names {
		n := node{string(name), sum(counted["/sys/node/clocks"], i), sum(counted["/sys/node/vectors"], i),
			sum(counted["/sys/node/calls"], i)}
		if n.vectors > 0 && n.clocks > 0 {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.clocks, a.clocks) })
	for _, n := range nodes[:min(len(nodes), mostNodes)] {
		for _, s := range []struct {
			name, unit string
			value      float64
		}{{plan.VPPClocks, "clocks", n.clocks}, {plan.VPPVectors, "packets", n.vectors},
			{plan.VPPCalls, "calls", n.calls}} {
			numbers = append(numbers, observe.Number{Name: s.name, Part: n.name, Unit: s.unit, Kind: report.Counter,
				Value: s.value})
		}
	}
	if len(numbers) == 0 {
		return nil, errors.New("no packet has passed any of its nodes yet")
	}
	return numbers, nil
}

// sum is a node's counter over all threads.
func sum(threads adapter.SimpleCounterStat, node int) (total float64) {
	for _, t := range threads {
		if node < len(t) {
			total += float64(t[node])
		}
	}
	return total
}
