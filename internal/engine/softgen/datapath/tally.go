package datapath

import (
	"sync/atomic"

	"github.com/linerate-dev/linerate/internal/units"
)

// count is packets and bytes that several threads add to.
type count struct{ packets, bytes atomic.Int64 }

func (c *count) add(packets, bytes int64) {
	c.packets.Add(packets)
	c.bytes.Add(bytes)
}

func (c *count) traffic() units.Traffic {
	return units.Traffic{Packets: c.packets.Load(), Bytes: c.bytes.Load()}
}

// sent counts what a port's threads have sent.
type sent struct {
	all      count
	flows    [maxFlowID + 1]count
	errors   atomic.Int64
	dropped  atomic.Int64 // the part of errors that the driver dropped, and counts as dropped
	retries  atomic.Int64
	peerFull atomic.Int64
}

// wireLength is a frame's length as Ethernet counts it, with FCS and padding.
func wireLength(length int) int64 { return int64(max(length, 60) + units.FCSBytes) }

// tally counts a batch by what became of its frames. On a veth a dropped frame has left the port: the device's receive queue had
// no room, and that is the device's loss. Anywhere else, and on a link that is down, the frame hasn't left.
func (p *port) tally(batch []piece, owners []*track, results []outcome, retries int) {
	var packets, bytes, full, failed, thrown int64
	left := p.nic.Driver == "veth" && p.link.up.Load()
	for i, piece := range batch {
		switch {
		case results[i] == accepted:
		case results[i] == dropped && left:
			full++
		default:
			failed++
			if results[i] == dropped {
				thrown++
			}
			continue
		}
		length := wireLength(int(piece.length))
		packets, bytes = packets+1, bytes+length
		if flow := owners[i].flow; flow != nil {
			p.sent.flows[flow.id].add(1, length)
		}
	}
	p.sent.all.add(packets, bytes)
	if retries|int(full)|int(failed) != 0 {
		p.sent.retries.Add(int64(retries))
		p.sent.peerFull.Add(full)
		p.sent.errors.Add(failed)
		p.sent.dropped.Add(thrown)
	}
}
