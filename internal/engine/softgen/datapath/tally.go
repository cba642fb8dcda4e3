package datapath

import (
	"sync/atomic"

	"github.com/linerate-dev/linerate/internal/units"
)

// trafficCounter counts packets and bytes. Several threads may add to it.
type trafficCounter struct{ packets, bytes atomic.Int64 }

func (c *trafficCounter) add(packets, bytes int64) {
	c.packets.Add(packets)
	c.bytes.Add(bytes)
}

func (c *trafficCounter) traffic() units.Traffic {
	return units.Traffic{Packets: c.packets.Load(), Bytes: c.bytes.Load()}
}

// sendCounters count the frames that a port's threads have sent.
type sendCounters struct {
	total    trafficCounter
	flows    [maxFlowID + 1]trafficCounter
	errors   atomic.Int64
	dropped  atomic.Int64 // the part of errors that the driver dropped and counts itself
	retries  atomic.Int64
	peerFull atomic.Int64
}

// wireLength is a frame's length as Ethernet counts it, with FCS and padding.
func wireLength(length int) int64 { return int64(max(length, 60) + units.FCSBytes) }

// tally counts a batch by the outcomes of its frames. On a veth a dropped frame has left the port and found no
// room in the device's receive queue, and is the device's loss. On any other interface, and on a link that is
// down, the frame hasn't left.
func (s *sendCounters) tally(batch []piece, owners []*track, results []outcome, retries int, dropsLeave bool) {
	var packets, bytes, full, failed, drops int64
	for i, piece := range batch {
		switch {
		case results[i] == accepted:
		case results[i] == dropped && dropsLeave:
			full++
		default:
			failed++
			if results[i] == dropped {
				drops++
			}
			continue
		}
		length := wireLength(int(piece.length))
		packets, bytes = packets+1, bytes+length
		if flow := owners[i].flow; flow != nil {
			s.flows[flow.id].add(1, length)
		}
	}
	s.total.add(packets, bytes)
	if retries|int(full)|int(failed) != 0 {
		s.retries.Add(int64(retries))
		s.peerFull.Add(full)
		s.errors.Add(failed)
		s.dropped.Add(drops)
	}
}
