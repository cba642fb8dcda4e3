package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

const ms = time.Millisecond

// observedMachine is a reading a second after the machine's start, or two: processor 1 was busy for so long, and
// napi/dut-1, which ran there, waited.
func observedMachine(at, busy, ran, waited time.Duration) machine.Reading {
	return machine.Reading{
		At:         at,
		Processors: []machine.Processor{{Number: 0}, {Number: 1, Busy: busy}},
		Threads:    []machine.Thread{{ID: 12, Name: "napi/dut-1", Role: machine.Carries, Processor: 1, Ran: ran, Waited: waited}},
	}
}

func TestWhatDisturbed(t *testing.T) {
	wait := func(of time.Duration) []report.Wait {
		return []report.Wait{{Thread: "napi/dut-1", ID: 12, Processor: 1, Waited: plan.Duration(of)}}
	}
	for name, c := range map[string]struct {
		before, after machine.Reading
		change        func(before, after *machine.Reading)
		want          report.Disturbance
	}{
		"a thread waited while another ran": {
			before: observedMachine(time.Second, 5*time.Second, 0, 700*ms), after: observedMachine(2*time.Second, 6*time.Second, 300*ms, 1010*ms),
			change: func(before, after *machine.Reading) {
				before.Processes = []machine.Process{{PID: 4711, Name: "sh", Processor: 1, Ran: time.Minute}}
				after.Processes = []machine.Process{{PID: 4711, Name: "sh", Processor: 1, Ran: time.Minute + 480*ms}, {PID: 5, Name: "linerate", Ran: time.Second, Ours: true}}
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(310 * ms), Strangers: plan.Duration(480 * ms), Waits: wait(310 * ms),
				Others: []report.Other{{Process: "sh", PID: 4711, Processor: 1, Ran: plan.Duration(480 * ms)}}},
		},
		"threads of the device's waited for each other, and nobody else ran": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, time.Second, time.Second),
			want: report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(2 * machine.Tick), Waits: wait(time.Second)},
		},
		"bound threads waited for each other, and another processor was busy": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, time.Second, time.Second),
			change: func(_, after *machine.Reading) {
				after.Threads[0].Bound, after.Processors[0].Busy = true, time.Second
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(machine.Tick), Waits: wait(time.Second)},
		},
		"a bound thread waited while another ran on its processor": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, 900*ms, 600*ms, 350*ms),
			change: func(_, after *machine.Reading) {
				after.Threads[0].Bound, after.Processors[0].Busy = true, time.Second
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(310 * ms), Waits: wait(350 * ms)},
		},
		"nobody waited: a device that polls all the time": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, time.Second, 0),
			want: report.Disturbance{Over: plan.Duration(time.Second)},
		},
		"a thread waits, and has not run since": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, 100*ms, 200*ms),
			change: func(_, after *machine.Reading) { after.Threads[0].Starved = true },
			want:   report.Disturbance{Over: plan.Duration(time.Second), Waited: plan.Duration(900 * ms), Waits: wait(900 * ms)},
		},
		"the host took a processor that carries frames, and another": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, 500*ms, 500*ms, 0),
			change: func(_, after *machine.Reading) {
				after.Processors[0].Stolen, after.Processors[1].Stolen = 300*ms, 40*ms
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Stolen: plan.Duration(40 * ms)},
		},
		"a sending thread waited: it carries nothing": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, 0, 70*ms),
			change: func(before, after *machine.Reading) {
				before.Threads[0].Role, after.Threads[0].Role = machine.Sends, machine.Sends
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Waits: []report.Wait{{Thread: "napi/dut-1", ID: 12, Sends: true, Processor: 1, Waited: plan.Duration(70 * ms)}}},
		},
		"a process that began in between, one that ended, and one with the number of one that ended": {
			before: observedMachine(time.Second, 0, 0, 0), after: observedMachine(2*time.Second, time.Second, 0, 0),
			change: func(before, after *machine.Reading) {
				before.Processes = []machine.Process{{PID: 1, Name: "ended", Ran: time.Hour}, {PID: 2, Name: "old", Ran: time.Hour}}
				after.Processes = []machine.Process{{PID: 2, Name: "new", Ran: 10 * ms}, {PID: 3, Name: "begun", Ran: 50 * ms}}
			},
			want: report.Disturbance{Over: plan.Duration(time.Second), Strangers: plan.Duration(60 * ms), Others: []report.Other{
				{Process: "begun", PID: 3, Ran: plan.Duration(50 * ms)}, {Process: "new", PID: 2, Ran: plan.Duration(10 * ms)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change(&c.before, &c.after)
			}
			if diff := cmp.Diff(c.want, observe.Disturbance(c.before, c.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAReportNamesTheFewWhoMattered(t *testing.T) {
	before, after := observedMachine(time.Second, 0, 0, 0), observedMachine(2*time.Second, 10*time.Second, 0, 0)
	for i := range 9 {
		for _, role := range []machine.Role{machine.Carries, machine.Sends} {
			thread := machine.Thread{ID: 100 + i, Name: "t", Role: role}
			if role == machine.Sends {
				thread.ID += 100
			}
			before.Threads = append(before.Threads, thread)
			thread.Waited = time.Duration(i) * ms
			after.Threads = append(after.Threads, thread)
		}
		after.Processes = append(after.Processes, machine.Process{PID: i + 1, Ran: time.Duration(i) * ms})
	}
	d := observe.Disturbance(before, after)
	var waits, others []int
	for _, w := range d.Waits {
		waits = append(waits, w.ID)
	}
	for _, o := range d.Others {
		others = append(others, o.PID)
	}
	if want := []int{108, 107, 208, 207}; !cmp.Equal(waits, want) {
		t.Errorf("threads %v are named, want %v", waits, want)
	}
	if want := []int{9, 8, 7}; !cmp.Equal(others, want) {
		t.Errorf("processes %v are named, want %v", others, want)
	}
	if d.Waited.Std() != 36*ms || d.Strangers.Std() != 36*ms {
		t.Errorf("all together waited %s, and strangers ran %s; want all of them counted, 36ms each", d.Waited.Std(), d.Strangers.Std())
	}
}
