package qualify

import (
	"bytes"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/host/ethtool"
)

var update = flag.Bool("update", false, "write the golden page")

// surroundings is a laptop's /sys and /proc, as far as they are read: on battery, with irqbalance, and a mouse that has a
// battery of its own.
func surroundings() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, content := range map[string]string{
		"sys/class/power_supply/AC/type":                                  "Mains",
		"sys/class/power_supply/AC/online":                                "0",
		"sys/class/power_supply/BAT0/type":                                "Battery",
		"sys/class/power_supply/BAT0/status":                              "Discharging",
		"sys/class/power_supply/BAT0/scope":                               "System",
		"sys/class/power_supply/hidpp_battery_0/type":                     "Battery",
		"sys/class/power_supply/hidpp_battery_0/scope":                    "Device",
		"sys/class/power_supply/hidpp_battery_0/status":                   "Discharging",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "powersave",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet",
		"proc/1/comm":   "systemd",
		"proc/812/comm": "irqbalance",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	return tree
}

func TestTheSurroundingsAreRead(t *testing.T) {
	m := inspectMachine(surroundings())
	if !m.OnBattery || !m.BalancesInterrupts || !slices.Equal(m.Governors, []string{"powersave"}) || m.Clock.Source != "hpet" ||
		m.Clock.ReadNanoseconds <= 0 {
		t.Errorf("machine %+v", m)
	}
	calm := surroundings()
	calm["sys/class/power_supply/BAT0/status"] = &fstest.MapFile{Data: []byte("Charging\n")}
	delete(calm, "proc/812/comm")
	if m := inspectMachine(calm); m.OnBattery || m.BalancesInterrupts {
		t.Errorf("on mains, with a mouse's battery, and without irqbalance: %+v", m)
	}
}

// sound is a qualification without a weakness.
func sound() *Document {
	port := func(name string) Port {
		return Port{Name: name, Driver: "ice", Card: "8086:1593", Firmware: "4.20", MTU: 9000, SpeedMbps: 1000, Medium: "fibre",
			ReceiveQueues: 8, SendQueues: 8, ReceiveRing: 4096, MostReceiveRing: 8160, SendRing: 4096, Stamps: "all frames",
			ReceiveDrops: "counted", Coalescing: "rx-usecs 50", Offloads: []string{"rx-gro", "rx-checksum"},
			Module: &ethtool.Module{Kind: "SFP", Vendor: "Intel Corp", Part: "FTLX8574D3BNL-IT", Revision: "A",
				Diagnostics: &ethtool.Diagnostics{Celsius: 35.3, Volts: 3.43, Lanes: []ethtool.Lane{{SentMilliwatts: 0.578,
					ReceivedMilliwatts: 0.5, BiasMilliamperes: 8.7}}}}}
	}
	way := func(from, to string) Direction {
		d := Direction{From: from, To: to, Clean: &Clean{Path: "af_xdp", PacketsPerSecond: 1_450_000, Frames: 2_900_000},
			Overload: &Overload{Sent: 32_768, Received: 8_100, Lost: 24_668, CountedByReceiver: 24_668},
			Answer: &Answer{LimitPacketsPerSecond: 312_500, OfferedPacketsPerSecond: 1_450_000, ReadPacketsPerSecond: 312_480, ErrorPercent: -0.01, SentBelow: 773_388,
				SentAbove: 789_012, LostAbove: 7_700}}
		for _, p := range paths {
			d.Paths = append(d.Paths, Path{Name: string(p), SentPacketsPerSecond: 1_488_095, ReceivedPacketsPerSecond: 1_488_095})
		}
		return d
	}
	return &Document{Version: Version, Producer: "linerate test", Machine: Machine{CPUModel: "A processor", Processors: 16,
		Kernel: "6.12.95", Hypervisor: "none", Governors: []string{"performance"}, Clock: Clock{"tsc", 25}},
		Ports: []Port{port("eth1"), port("eth2")}, Directions: []Direction{way("eth1", "eth2"), way("eth2", "eth1")}}
}

// Each rule has a case: what is changed of a sound qualification, and the one finding that follows.
func TestEachWeaknessIsNamed(t *testing.T) {
	if findings := weaknesses(sound()); len(findings) > 0 {
		t.Fatalf("a sound qualification has %+v", findings)
	}
	first := func(change func(*Port)) func(*Document) { return func(d *Document) { change(&d.Ports[0]) } }
	both := func(change func(*Port)) func(*Document) {
		return func(d *Document) { change(&d.Ports[0]); change(&d.Ports[1]) }
	}
	ahead := func(change func(*Direction)) func(*Document) { return func(d *Document) { change(&d.Directions[0]) } }
	machine := func(change func(*Machine)) func(*Document) { return func(d *Document) { change(&d.Machine) } }
	for name, c := range map[string]struct {
		change func(*Document)
		level  doctor.Level
		says   string
	}{
		"battery":        {machine(func(m *Machine) { m.OnBattery = true }), doctor.Warn, "runs on battery"},
		"powersave":      {machine(func(m *Machine) { m.Governors = []string{"performance", "powersave"} }), doctor.Warn, "governor of its processors is powersave"},
		"irqbalance":     {machine(func(m *Machine) { m.BalancesInterrupts = true }), doctor.Warn, "irqbalance runs"},
		"a guest":        {machine(func(m *Machine) { m.Hypervisor = "KVM" }), doctor.Warn, "virtual machine (KVM)"},
		"two processors": {machine(func(m *Machine) { m.Processors = 2 }), doctor.Warn, "it has 2 processors"},
		"hpet":           {machine(func(m *Machine) { m.Clock.Source = "hpet" }), doctor.Warn, "clock is hpet"},
		"a slow clock":   {machine(func(m *Machine) { m.Clock.ReadNanoseconds = 900 }), doctor.Warn, "takes 900 ns"},
		"half duplex":    {first(func(p *Port) { p.HalfDuplex = true }), doctor.Fail, "half duplex"},
		"no speed":       {both(func(p *Port) { p.SpeedMbps = 0 }), doctor.Warn, "reports no link speed"},
		"one queue":      {first(func(p *Port) { p.ReceiveQueues = 1 }), doctor.Warn, "one receive queue"},
		"no ring":        {first(func(p *Port) { p.ReceiveRing = 0 }), doctor.Warn, "no ring that can be set"},
		"a short ring":   {first(func(p *Port) { p.ReceiveRing = 256 }), doctor.Warn, "holds 256 frames of 8160"},
		"pause frames":   {first(func(p *Port) { p.PauseFrames = true }), doctor.Warn, "pause frames are on"},
		"LRO":            {first(func(p *Port) { p.Offloads = []string{"rx-lro"} }), doctor.Warn, "merges received frames (rx-lro)"},
		"a small MTU":    {both(func(p *Port) { p.MTU = 1400 }), doctor.Warn, "MTU of 1400 is too small"},
		"two MTUs":       {first(func(p *Port) { p.MTU = 1500 }), doctor.Warn, "eth1 has an MTU of 1500, and eth2 of 9000"},
		"two speeds":     {func(d *Document) { d.Ports[1].SpeedMbps = 2500; d.Directions = d.Directions[:1] }, doctor.Warn, "eth1 has a link of 1000 Mb/s, and eth2 of 2500"},
		"two nodes":      {first(func(p *Port) { p.NUMANode = 1 }), doctor.Warn, "eth1 is on NUMA node 1"},
		"far interrupts": {first(func(p *Port) { p.FarInterrupts = true }), doctor.Warn, "another NUMA node handle"},
		"a function":     {first(func(p *Port) { p.VirtualFunction = true }), doctor.Warn, "virtual function"},
		"no clock":       {first(func(p *Port) { p.Stamps = "" }), doctor.Warn, "stamps no frames"},
		"PTP alone":      {first(func(p *Port) { p.Stamps = "PTP frames" }), doctor.Warn, "stamps PTP frames alone"},
		"a leftover":     {first(func(p *Port) { p.Leftovers = []Leftover{{"filters of tc", "tc qdisc del"}} }), doctor.Warn, "others left on it: filters"},
		"an alarm": {first(func(p *Port) { p.Module.Diagnostics.Alarms = []string{"received power low"} }), doctor.Fail,
			"alarm: received power low"},
		"a warning": {first(func(p *Port) { p.Module.Diagnostics.Warnings = []string{"temperature high"} }), doctor.Warn, "warns: temperature high"},
		"a module that can't be read": {first(func(p *Port) { p.Module = &ethtool.Module{Kind: "unreadable: permission denied"} }), doctor.Unknown,
			"permission denied"},
		"no zero copy": {ahead(func(d *Direction) { d.Paths[2].Refused = "operation not supported" }), doctor.Warn,
			"no AF_XDP in zero copy: operation not supported"},
		"live frames by a program": {ahead(func(d *Direction) { d.Paths[0].NeedsProgram = true }), doctor.Warn, "only while an XDP program is on eth1"},
		"a bad cable":              {ahead(func(d *Direction) { d.Clean, d.Overload, d.Answer = nil, nil, nil }), doctor.Fail, "lost frames at each load"},
		"less than line rate":      {ahead(func(d *Direction) { d.Clean.PacketsPerSecond = 744_048 }), doctor.Warn, "50 % of its line rate"},
		"no overload":              {ahead(func(d *Direction) { *d.Overload = Overload{Sent: 9, Received: 9} }), doctor.Unknown, "nobody saw"},
		"a table that is too strict": {func(d *Document) { d.Ports[1].ReceiveDrops = "hidden" }, doctor.Warn,
			"table of drivers says that ice hides it"},
		"a limit that was not reached": {ahead(func(d *Direction) { d.Answer.OfferedPacketsPerSecond = 312_480 }), doctor.Unknown, "did not reach the limit"},
		"a wrong reading":              {ahead(func(d *Direction) { d.Answer.ErrorPercent = -1.2 }), doctor.Fail, "-1.20 %"},
		"loss below the limit":         {ahead(func(d *Direction) { d.Answer.LostBelow = 10 }), doctor.Warn, "1 % below a limit"},
		"no loss above it":             {ahead(func(d *Direction) { d.Answer.LostAbove = 0 }), doctor.Fail, "1 % above a limit no frame was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			d := sound()
			c.change(d)
			findings := weaknesses(d)
			if name == "no speed" || name == "a small MTU" {
				findings = findings[:1] // of both ports
			}
			if len(findings) != 1 || findings[0].Level != c.level || !strings.Contains(findings[0].Message, c.says) ||
				findings[0].Fix == "" {
				t.Errorf("findings %+v, want one of level %s: %s", findings, c.level, c.says)
			}
		})
	}
}

// A card whose counters omit drops is named, with the counter of its driver that has them.
func TestADriverWhoseOwnCounterHasTheDrops(t *testing.T) {
	o := judgeOverload(tally{sent: 1000, received: 300, missed: 100, refused: 0}, map[string]uint64{"rx_no_dma": 7, "rx_packets": 0},
		map[string]uint64{"rx_no_dma": 607, "rx_packets": 300})
	if o.Lost != 700 || o.CountedByReceiver != 100 || o.Hidden != 600 || !slices.Equal(o.Counters, []string{"rx_no_dma"}) {
		t.Errorf("overload %+v", o)
	}
	d := sound()
	d.Directions[0].Overload = o
	findings := weaknesses(d)
	if len(findings) != 2 || findings[0].Level != doctor.Fail || !strings.Contains(findings[0].Message, "shows 600 of them (but "+
		"its driver's rx_no_dma)") || !strings.Contains(findings[1].Message, "ice counts what it drops, which isn't so here") {
		t.Errorf("findings %+v", findings)
	}
}

// Drivers that count a frame twice don't count more than there were.
func TestNobodyCountsMoreThanWasLost(t *testing.T) {
	if o := judgeOverload(tally{sent: 1000, received: 900, missed: 200, refused: 50}, nil, nil); o.CountedByReceiver != 100 ||
		o.CountedBySender != 0 || o.Hidden != 0 {
		t.Errorf("overload %+v", o)
	}
}

func TestThePage(t *testing.T) {
	d := sound()
	d.Machine.OnBattery = true
	d.Ports[0].Module.Diagnostics.Alarms = []string{"received power low"}
	d.Directions[0].Paths[2] = Path{Name: "zero_copy", Refused: "operation not supported"}
	d.Findings = weaknesses(d)
	d.Lines = verdict(d)
	for golden, write := range map[string]func(io.Writer) error{
		"testdata/page.txt":           func(w io.Writer) error { return WriteText(w, d) },
		"testdata/qualification.json": func(w io.Writer) error { return sidebyside.WriteJSON(w, d) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(golden, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || text.String() != string(want) {
			t.Errorf("%s: it is\n%s\nwant\n%s\n%v", golden, &text, want, err)
		}
	}
	sentences := sound()
	sentences.Lines = verdict(sentences)
	if !strings.HasPrefix(sentences.Message, "No weakness was found") {
		t.Errorf("a sound one: %q", sentences.Message)
	}
}
