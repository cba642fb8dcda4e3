package findings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/findings"
	"github.com/linerate-dev/linerate/internal/units"
)

const second = plan.Duration(time.Second)

// recorded is a router with four processors and a card of four queues that lost frames: all came by queue 0 on
// processor 0. change makes it another machine.
func recorded(t *testing.T, flows int64, change func(*report.Report)) *report.Report {
	t.Helper()
	built, err := profile.Build(profile.Spec{Kind: profile.IMIX, Flows: profile.Flows{Count: flows,
		Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}}})
	if err != nil {
		t.Fatal(err)
	}
	p := &report.Placement{Window: 3, Over: second + second/10, Judged: second}
	for n := range 4 {
		p.Processors = append(p.Processors, report.PlacedProcessor{Number: n, Frames: 10_000, Busy: second / 50,
			Idle: second + second/10 - second/50, NUMANode: -1})
	}
	p.Processors[0] = report.PlacedProcessor{Frames: 900_000, Busy: second, SoftIRQ: second * 98 / 100, Idle: second / 10,
		NUMANode: -1}
	west := report.PlacedLink{Link: "west", Interface: "eth0", Driver: "igb", Received: 930_000, ReceivedBytes: 60_000_000,
		Ring: 4096, MostRing: 4096, SpeedMbps: 1000, NUMANode: -1, MostQueues: 4}
	for n := range 4 {
		q := report.PlacedQueue{Number: n, Frames: new(int64), Polling: report.ByInterrupt, Processor: new(n)}
		*q.Frames = map[bool]int64{true: 900_000, false: 10_000}[n == 0]
		west.Queues = append(west.Queues, q)
	}
	p.Links = []report.PlacedLink{west, {Link: "east", Interface: "eth1", NUMANode: -1,
		Queues: []report.PlacedQueue{{Polling: report.ByInterrupt, Processor: new(3)}}}}
	r := &report.Report{Plan: &plan.Plan{Generators: []plan.Generator{{Ports: []plan.GeneratorPort{{Link: "west",
		Streams: built.Streams}}}}}, Placement: p, Windows: []report.Window{{Number: 3, Quality: report.Lossy,
		Directions: []report.Direction{{From: "west", To: "east", LossRatioMin: units.One / 10}}}}}
	if change != nil {
		change(r)
	}
	return r
}

// oneQueue has all frames of the recorded machine come by one queue that is taken from like this.
func oneQueue(q report.PlacedQueue, most int) func(*report.Report) {
	return func(r *report.Report) {
		r.Placement.Links[0].Queues, r.Placement.Links[0].MostQueues = []report.PlacedQueue{q}, most
	}
}

func TestEachFindingIsNamedAndNoOther(t *testing.T) {
	full := func(n int) func(*report.Report) {
		return func(r *report.Report) {
			r.Placement.Processors[n].Busy, r.Placement.Processors[n].Idle = second, second/10
		}
	}
	for name, c := range map[string]struct {
		flows  int64
		change func(*report.Report)
		kind   report.FindingKind // none is silence
		says   string
		wayOut string
	}{
		"flows hash to one queue": {254, nil, report.FullProcessors,
			"97 % of frames were received on processor 0 (queue 0 of west), which was full; 3 were idle: 254 flows hash to one queue",
			"rx-flow-hash"},
		"a single flow": {1, nil, report.SingleFlow, "the test has a single flow", "traffic.flows.count"},
		"one queue of several possible": {254, oneQueue(report.PlacedQueue{Polling: report.ByInterrupt, Processor: new(0)}, 4),
			report.FullProcessors, "eth0 has one receive queue in use, and its rps_cpus is 0", "ethtool -L eth0 combined 4"},
		"one queue, one flow: more queues would not help": {1, oneQueue(report.PlacedQueue{Polling: report.BySender}, 0),
			report.FullProcessors, "eth0 has one receive queue", "echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus"},
		"rps_cpus names one processor": {254, oneQueue(report.PlacedQueue{Polling: report.BySender, RPS: "0"}, 0),
			report.FullProcessors, "rps_cpus of queue 0 names processor 0 alone", "echo f >"},
		"flows hash to one of RPS' processors": {254, oneQueue(report.PlacedQueue{Polling: report.BySender, RPS: "0-3"}, 0),
			report.FullProcessors, "254 flows hash to few of rps_cpus' processors 0-3", "more flows"},
		"a single flow behind RPS": {1, oneQueue(report.PlacedQueue{Polling: report.BySender, RPS: "0-3"}, 0),
			report.SingleFlow, "a single flow", "flows.count"},
		"all interrupts on one processor": {254, func(r *report.Report) {
			for i := range r.Placement.Links[0].Queues {
				r.Placement.Links[0].Queues[i].Processor, *r.Placement.Links[0].Queues[i].Frames = new(0), 232_500
			}
		}, report.FullProcessors, "(all 4 queues of west), which was full; 3 were idle: the interrupts of eth0's 4 queues go there",
			"smp_affinity_list"},
		"no processor was idle": {254, func(r *report.Report) {
			for n := 1; n < 4; n++ {
				full(n)(r)
			}
		}, report.FullProcessors, "no other processor was idle", "that the generator doesn't use"},
		"two full of four": {254, func(r *report.Report) {
			full(1)(r)
			r.Placement.Processors[0].Frames, r.Placement.Processors[1].Frames = 450_000, 450_000
		}, report.FullProcessors, "processors 0 and 1", "rx-flow-hash"},

		"below the limit nothing is said": {254, func(r *report.Report) { r.Windows[0].Directions[0].LossRatioMin = 0 }, "", "", ""},
		"a processor with a tenth left":   {254, func(r *report.Report) { r.Placement.Processors[0].Idle = second / 5 }, "", "", ""},
		"time was stolen":                 {254, func(r *report.Report) { r.Placement.Processors[0].Stolen = second / 10 }, "", "", ""},
		"most frames were elsewhere":      {254, func(r *report.Report) { r.Placement.Processors[1].Frames = 900_000 }, "", "", ""},
		"too few frames": {254, func(r *report.Report) {
			r.Placement.Processors[0].Frames = 900 - 30*10
			r.Placement.Processors[1].Frames = 0
			r.Placement.Processors[2].Frames = 0
			r.Placement.Processors[3].Frames = 0
		}, "", "", ""},
		"readings far from the window": {254, func(r *report.Report) { r.Placement.Over = 2 * second }, "", "", ""},
		"another program has it": {254, func(r *report.Report) {
			r.Placement.Processors[0].Others, r.Placement.Processors[0].Process, r.Placement.Processors[0].SoftIRQ = second*6/10, "cc1", second*4/10
		}, report.BusyNeighbour, "cc1 had 55 % of processor 0", "stop it"},
		"a thread receives beside it": {254, func(r *report.Report) {
			r.Placement.Processors[0].Others, r.Placement.Processors[0].Process, r.Placement.Processors[0].SoftIRQ = second*6/10, "cc1", second*4/10
			r.Placement.Links[0].Queues[0].Polling = report.ByThread
		}, "", "", ""},
		"the answer names the program already": {254, func(r *report.Report) {
			r.Placement.Processors[0].Others, r.Placement.Processors[0].Process, r.Placement.Processors[0].SoftIRQ = second*6/10, "cc1", second*4/10
			r.Answer.Cause.Detail = report.OtherPrograms
		}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			list := findings.Of(recorded(t, c.flows, c.change))
			if c.kind == "" {
				if len(list) > 0 {
					t.Fatalf("%+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Kind != c.kind || !strings.Contains(list[0].Sentence, c.says) ||
				!strings.Contains(list[0].WayOut, c.wayOut) {
				t.Errorf("%+v\nwant %s: %s; %s", list, c.kind, c.says, c.wayOut)
			}
		})
	}
}

// These machines have room for their frames on processor 0, so nothing but the case itself is found.
func TestWhatElseAMachineShows(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *report.Placement)
		kind   report.FindingKind
		says   string
	}{
		"a small ring":                         {func(p *report.Placement) { p.Links[0].Missed, p.Links[0].Ring = 500, 256 }, report.SmallRing, "the ring of west, 256 frames, had no room for 500"},
		"a ring that is as large as it can be": {func(p *report.Placement) { p.Links[0].Missed = 500 }, "", ""},
		"a small ring that lost nothing":       {func(p *report.Placement) { p.Links[0].Ring = 256 }, "", ""},
		"a backlog":                            {func(p *report.Placement) { p.Processors[0].Dropped = 20 }, report.SmallBacklog, "the backlog of processor 0 had no room for 20"},
		"a full connection table": {func(p *report.Placement) {
			p.Connections = &report.ConnectionTable{Entries: 65536, Most: 65536, Dropped: 9}
		}, report.ConnectionsFull, "dropped 9 because it was full"},
		"a nearly full connection table":    {func(p *report.Placement) { p.Connections = &report.ConnectionTable{Entries: 60000, Most: 65536} }, report.ConnectionsFull, "60,000 of 65,536"},
		"a connection table with room":      {func(p *report.Placement) { p.Connections = &report.ConnectionTable{Entries: 50000, Most: 65536} }, "", ""},
		"merged frames":                     {func(p *report.Placement) { p.Links[0].Merges, p.Processors[0].Frames = []string{"rx-gro"}, 100_000 }, report.FramesMerged, "of 930,000 that came, the device handled 130,000"},
		"merging is on, and merges nothing": {func(p *report.Placement) { p.Links[0].Merges = []string{"rx-gro"} }, "", ""},
		"a program takes frames before": {func(p *report.Placement) {
			p.Links[0].Merges, p.Processors[0].Frames, p.Links[0].XDP = []string{"rx-gro"}, 100_000, true
		}, "", ""},
		"a narrow PCIe link": {func(p *report.Placement) {
			p.Links[0].PCIe, p.Links[0].SpeedMbps, p.Links[0].ReceivedBytes = &report.PCIeLink{Lanes: 1, MostLanes: 8, GigatransfersPerSecond: 8}, 10_000, 900_000_000
		}, report.NarrowPCIe, "1 PCIe lanes of 8 GT/s, 7.9 Gb/s, less than its port's 10 Gb/s"},
		"a narrow PCIe link that is hardly used": {func(p *report.Placement) {
			p.Links[0].PCIe, p.Links[0].SpeedMbps = &report.PCIeLink{Lanes: 1, GigatransfersPerSecond: 8}, 10_000
		}, "", ""},
		"a wide PCIe link": {func(p *report.Placement) {
			p.Links[0].PCIe, p.Links[0].SpeedMbps, p.Links[0].ReceivedBytes = &report.PCIeLink{Lanes: 8, GigatransfersPerSecond: 8}, 10_000, 900_000_000
		}, "", ""},
		"a slow governor where there is room": {func(p *report.Placement) { p.Processors[0].Governor = "powersave" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			list := findings.Of(recorded(t, 254, func(r *report.Report) {
				r.Placement.Processors[0].Busy, r.Placement.Processors[0].Idle = second/2, second*6/10
				c.change(r.Placement)
			}))
			if c.kind == "" && len(list) > 0 || c.kind != "" && (len(list) != 1 || list[0].Kind != c.kind || !strings.Contains(list[0].Sentence, c.says) || list[0].WayOut == "") {
				t.Errorf("%+v\nwant %s: %s", list, c.kind, c.says)
			}
		})
	}
}

func TestWhatSlowsAFullProcessor(t *testing.T) {
	for name, c := range map[string]struct {
		governor, driver string
		hertz, most      int64
		found            bool
	}{
		"powersave keeps the lowest":             {"powersave", "acpi-cpufreq", 0, 0, true},
		"powersave at the lowest":                {"powersave", "acpi-cpufreq", 800e6, 3e9, true},
		"powersave of a driver that chooses":     {"powersave", "intel_pstate", 0, 0, false},
		"powersave that has reached its highest": {"powersave", "intel_pstate", 2900e6, 3e9, false},
		"powersave that hasn't":                  {"powersave", "intel_pstate", 1200e6, 3e9, true},
		"performance":                            {"performance", "acpi-cpufreq", 1200e6, 3e9, false},
	} {
		t.Run(name, func(t *testing.T) {
			list := findings.Of(recorded(t, 254, func(r *report.Report) {
				p := &r.Placement.Processors[0]
				p.Governor, p.FrequencyDriver, p.FrequencyHz, p.MostFrequencyHz = c.governor, c.driver, c.hertz, c.most
			}))
			if found := len(list) == 2 && list[1].Kind == report.SlowFrequency; found != c.found {
				t.Errorf("%+v", list)
			}
		})
	}
}

func TestFindingsAreFewAndTheGravestFirst(t *testing.T) {
	r := recorded(t, 254, func(r *report.Report) {
		p := r.Placement
		for i := range p.Processors {
			p.Processors[i].NUMANode = 1
		}
		p.Processors[0].Others, p.Processors[0].Process, p.Processors[0].Governor, p.Processors[0].SoftIRQ = second/5, "cc1", "powersave", second*7/10
		p.Connections = &report.ConnectionTable{Entries: 9, Most: 9, Dropped: 9}
		p.Links[0].NUMANode, p.Links[0].Merges, p.Processors[1].Frames, p.Links[0].Received = 0, []string{"rx-gro"}, 0, 2_000_000
		p.Links[0].PCIe, p.Links[0].ReceivedBytes = &report.PCIeLink{Lanes: 1, GigatransfersPerSecond: 1}, 90_000_000
	})
	list := findings.Of(r)
	if len(list) != report.MostFindingsShown || list[0].Severity != report.FindingFault {
		t.Errorf("%d: %+v", len(list), list)
	}
	for i, f := range list[1:] {
		if list[i].Severity == report.FindingNote && f.Severity != report.FindingNote {
			t.Errorf("%s stands before %s", list[i].Kind, f.Kind)
		}
	}
	for _, f := range list {
		if len(f.Sentence) > 200 || strings.HasSuffix(f.Sentence, ".") {
			t.Errorf("%q", f.Sentence)
		}
	}
}

func TestTheWindowThatDecided(t *testing.T) {
	limit := func(lossy int, all bool) report.Direction {
		return report.Direction{Limit: &report.DirectionLimit{Lossy: lossy, LimitsAll: all}}
	}
	for name, c := range map[string]struct {
		answer report.Answer
		want   int
	}{
		"the lowest load that lost frames":         {report.Answer{Window: 2, Directions: []report.Direction{limit(7, true), limit(9, false)}}, 7},
		"of the direction alone":                   {report.Answer{Window: 2, Directions: []report.Direction{limit(5, false)}}, 5},
		"no load lost frames":                      {report.Answer{Window: 2, Directions: []report.Direction{limit(0, false)}}, 2},
		"each load lost frames, there's no figure": {report.Answer{Lossy: 1}, 1},
		"nothing was measured":                     {report.Answer{}, 0},
	} {
		if got := findings.DecidingWindow(&report.Report{Answer: c.answer}); got != c.want {
			t.Errorf("%s: window %d, want %d", name, got, c.want)
		}
	}
}
