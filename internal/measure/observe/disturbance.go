package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// A Report names so many of the threads that waited, of each kind, and of the processes that ran in the meantime.
const (
	namedWaits  = 2
	namedOthers = 3
)

// Disturbance is what kept a machine's threads from running between two readings of the machine. It says which
// threads that carry or send frames waited for a processor, what the host took, and which other processes ran.
// Where a thread or a process isn't in both readings, only its known times count.
//
//	before ── edge ├──────── window ────────┤ edge ── after
//	       ▁▁▁▁▁▁▁▁█▁▁▁▁▁▁███▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁      waits: all of them may have been within the window
func Disturbance(earlier, later machine.Reading) report.Disturbance {
	d := report.Disturbance{Over: plan.Duration(later.At - earlier.At)}
	var waited, ran time.Duration // of those that carry frames
	bound := map[int]boundThreads{}
	used := map[int]bool{} // processors that carried or sent frames
	waits := map[machine.Role][]report.Wait{}
	for _, t := range threads(earlier, later) {
		if t.Ran > 0 || t.Waited > 0 {
			used[t.Processor] = true
		}
		if t.Role == machine.Carries {
			waited, ran = waited+t.Waited, ran+t.Ran
		}
		if t.Role == machine.Carries && t.Bound {
			b := bound[t.Processor]
			bound[t.Processor] = boundThreads{b.waited + t.Waited, b.ran + t.Ran}
		}
		if t.Waited > 0 {
			waits[t.Role] = append(waits[t.Role], report.Wait{Thread: t.Name, ID: t.ID, Sends: t.Role == machine.Sends,
				Processor: t.Processor, Waited: plan.Duration(t.Waited)})
		}
	}
	var busy time.Duration
	for _, p := range spent(earlier, later) {
		busy += p.Busy
		if used[p.Number] {
			d.Stolen += plan.Duration(p.Stolen)
		}
		waited -= bound[p.Number].forEachOther(p)
	}
	// The carrying threads wait for others no longer than these run. In the rest of the time they waited for each
	// other, which is the device's own affair.
	unsure := time.Duration(len(later.Processors)) * machine.Tick
	d.Waited = plan.Duration(max(0, min(waited, busy-ran+unsure)))
	for _, p := range processes(earlier, later) {
		if p.Ours || p.Ran <= 0 {
			continue
		}
		d.Strangers += plan.Duration(p.Ran)
		d.Others = append(d.Others, report.Other{Process: p.Name, PID: p.PID, Processor: p.Processor,
			Ran: plan.Duration(p.Ran)})
	}
	for _, role := range []machine.Role{machine.Carries, machine.Sends} {
		d.Waits = append(d.Waits, longest(waits[role], namedWaits,
			func(w report.Wait) plan.Duration { return w.Waited })...)
	}
	d.Others = longest(d.Others, namedOthers, func(o report.Other) plan.Duration { return o.Ran })
	return d
}

// boundThreads are the times of the carrying threads that are bound to one processor.
type boundThreads struct{ waited, ran time.Duration }

// forEachOther is how long the threads waited for each other, as others ran on their processor for less.
func (b boundThreads) forEachOther(p machine.Processor) time.Duration {
	return max(0, b.waited-max(0, p.Busy-b.ran)-machine.Tick)
}

// longest are the items that lasted longest, at most limit of them, the longest first.
func longest[T any](items []T, limit int, lasted func(T) plan.Duration) []T {
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(lasted(b), lasted(a)) })
	return items[:min(limit, len(items))]
}

// threads are the threads of both readings, with their times between the two.
func threads(earlier, later machine.Reading) []machine.Thread {
	var threads []machine.Thread
	byID := map[int]machine.Thread{}
	for _, t := range earlier.Threads {
		byID[t.ID] = t
	}
	for _, t := range later.Threads {
		if previous, ok := byID[t.ID]; ok {
			t.Ran, t.Waited = max(0, t.Ran-previous.Ran), max(0, t.Waited-previous.Waited)
			if t.Starved { // for how long isn't known, at most since it ran last
				t.Waited = max(t.Waited, later.At-earlier.At-t.Ran)
			}
			threads = append(threads, t)
		}
	}
	return threads
}

// processes are the processes of the second reading, with their time since the first reading, or since they began.
func processes(earlier, later machine.Reading) []machine.Process {
	var processes []machine.Process
	byPID := map[int]time.Duration{}
	for _, p := range earlier.Processes {
		byPID[p.PID] = p.Ran
	}
	for _, p := range later.Processes {
		if previous := byPID[p.PID]; previous <= p.Ran { // otherwise another process has got the number
			p.Ran -= previous
		}
		processes = append(processes, p)
	}
	return processes
}

// spent is how the processors of both readings spent the time between the two.
func spent(earlier, later machine.Reading) []machine.Processor {
	var processors []machine.Processor
	byNumber := map[int]machine.Processor{}
	for _, p := range earlier.Processors {
		byNumber[p.Number] = p
	}
	for _, p := range later.Processors {
		if previous, ok := byNumber[p.Number]; ok {
			p.Busy, p.SoftIRQ, p.Stolen, p.Idle = max(0, p.Busy-previous.Busy), max(0, p.SoftIRQ-previous.SoftIRQ),
				max(0, p.Stolen-previous.Stolen), max(0, p.Idle-previous.Idle)
			processors = append(processors, p)
		}
	}
	return processors
}
