package observe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

func TestAPlacementIsTheDifferenceOfTwoReadings(t *testing.T) {
	port := func(frames uint64, queues ...reception.Queue) reception.Port {
		return reception.Port{Interface: reception.Interface{Link: "west", Name: "eth0"}, Driver: "igb", Received: frames, Bytes: 64 * frames,
			NUMANode: 1, Lanes: 4, Transfers: 5, Queues: queues}
	}
	processor := func(n int, frames uint32, busy time.Duration) reception.Processor {
		return reception.Processor{Processor: machine.Processor{Number: n, Busy: busy}, Frames: frames, NUMANode: -1}
	}
	earlier := reception.Reading{Moment: time.Second, Processors: []reception.Processor{processor(0, math.MaxUint32-9, 0), processor(1, 5, 0)},
		Ports: []reception.Port{port(100,
			reception.Queue{Counted: true, Frames: 90, Interrupts: []uint64{10, 10}},
			reception.Queue{Number: 1, Interrupts: []uint64{0, 0}},
			reception.Queue{Number: 2, Thread: 7, Processor: 1},
			reception.Queue{Number: 3, Thread: 8, Processor: 0},
			reception.Queue{Number: 4, Counted: true, Frames: 9, BySender: true})},
		Table: &reception.Table{Dropped: 3}}
	later := reception.Reading{Moment: 3 * time.Second, Processors: []reception.Processor{processor(0, 10, time.Second), processor(1, 5, 0)},
		Ports: []reception.Port{port(1100,
			reception.Queue{Counted: true, Frames: 990, Interrupts: []uint64{10, 1010}, Allowed: "1"},
			reception.Queue{Number: 1, Interrupts: []uint64{50, 50}, Allowed: "0-1"},
			reception.Queue{Number: 2, Thread: 7, Processor: 1, RPS: "0"},
			reception.Queue{Number: 3, Thread: 8, Processor: 1},
			reception.Queue{Number: 4, Counted: true, Frames: 5, BySender: true})},
		Table: &reception.Table{Entries: 4, Most: 9, Dropped: 5}}
	others := []machine.Process{{Name: "cc1", Processor: 0, Ran: 300 * time.Millisecond}, {Name: "sh", Processor: 0, Ran: 100 * time.Millisecond},
		{Name: "linerate", Ran: time.Second, Ours: true},
		{Name: "compile", Ran: time.Second, Threads: 9}, {Name: "ksoftirqd/0", Ran: time.Second, Threads: 1}}
	want := &report.Placement{Over: plan.Duration(2 * time.Second), Processors: []report.PlacedProcessor{
		{Frames: 20, Busy: plan.Duration(time.Second), Others: plan.Duration(400 * time.Millisecond), Process: "cc1", NUMANode: -1},
		{Number: 1, NUMANode: -1}},
		Links: []report.PlacedLink{{Link: "west", Interface: "eth0", Driver: "igb", Received: 1000, ReceivedBytes: 64_000, NUMANode: 1,
			PCIe: &report.PCIeLink{Lanes: 4, GigatransfersPerSecond: 5}, Queues: []report.PlacedQueue{
				{Frames: new(int64(900)), Polling: report.ByInterrupt, Processor: new(1), Allowed: "1"},
				{Number: 1, Polling: report.ByInterrupt, Allowed: "0-1"}, // on both
				{Number: 2, Polling: report.ByThread, Processor: new(1), RPS: "0"},
				{Number: 3, Polling: report.ByThread},                        // it moved
				{Number: 4, Polling: report.BySender, Frames: new(int64(0))}, // its counter began anew
			}}},
		Connections: &report.ConnectionTable{Entries: 4, Most: 9, Dropped: 2}}
	if diff := cmp.Diff(want, Placement(earlier, later, others)); diff != "" {
		t.Error(diff)
	}
}
