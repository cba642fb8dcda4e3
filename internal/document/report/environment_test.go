package report_test

import (
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestAnEnvironmentIsMadeOfWhatTheReportTells(t *testing.T) {
	for name, c := range map[string]struct {
		r    report.Report
		want *report.Environment
	}{
		"no generator was reached": {report.Report{Producer: "linerate v0.1.0"}, nil},
		"a generator that already ran is on the machine that it names": {
			report.Report{Producer: "linerate v0.1.0", Generators: []report.Generator{{Name: "generator-0", Product: "TRex v3.06", Hostname: "trex-1", CPUModel: "Xeon", Cores: 4,
				Ports: []report.GeneratorPort{{Link: "west", Name: "0000:03:00.0", Driver: "net_ice", MAC: "02:00:00:00:00:01"}}}}},
			&report.Environment{Linerate: "linerate v0.1.0", Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "TRex", Version: "v3.06", Cores: 4,
				Machine: report.Machine{Node: "trex-1", CPUModel: "Xeon"}, Ports: []report.PortEnvironment{{Link: "west", Driver: "net_ice"}}}}},
		},
		"a pod's own name says nothing of where it ran": {
			report.Report{Generators: []report.Generator{{Name: "generator-0", Product: "TRex v3.06", Hostname: "imix-1-generator-0", Pod: "imix-1-generator-0"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "TRex", Version: "v3.06"}}},
		},
		"the software engine's version is linerate's": {
			report.Report{Producer: "linerate v0.2.0", Generators: []report.Generator{{Name: "generator-0", Product: "linerate software engine v0.2.0", Processors: 2, Kernel: "6.1.0", Hypervisor: "none"}}},
			&report.Environment{Linerate: "linerate v0.2.0", Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "linerate software engine",
				Machine: report.Machine{Processors: 2, Kernel: "6.1.0", Hypervisor: "none"}}}},
		},
		"so is the version of the ends of sessions, and their congestion control is told": {
			report.Report{Producer: "linerate v0.2.0", Generators: []report.Generator{{Name: "generator-0", Product: "linerate sessions v0.2.0", Hostname: "lab-1",
				Ports: []report.GeneratorPort{{Link: "west", Name: "west", Driver: "veth", Path: "TCP sockets", CongestionControl: "bbr"}}}}},
			&report.Environment{Linerate: "linerate v0.2.0", Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "linerate sessions", Machine: report.Machine{Node: "lab-1"},
				Ports: []report.PortEnvironment{{Link: "west", Driver: "veth", Path: "TCP sockets", CongestionControl: "bbr"}}}}},
		},
		"a generator on the device's node tells what that is": {
			report.Report{Device: &plan.Device{Pod: "dut", Node: "node-1"}, Generators: []report.Generator{{Name: "generator-0", Pod: "g", Node: "node-1", CPUModel: "Xeon", Kernel: "6.1.0"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Machine: report.Machine{Node: "node-1", CPUModel: "Xeon", Kernel: "6.1.0"}}},
				Device: &report.Machine{Node: "node-1", CPUModel: "Xeon", Kernel: "6.1.0"}},
		},
		"of a device elsewhere only its node is known": {
			report.Report{Device: &plan.Device{Pod: "dut", Node: "node-2"}, Generators: []report.Generator{{Name: "generator-0", Pod: "g", Node: "node-1", CPUModel: "Xeon"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Machine: report.Machine{Node: "node-1", CPUModel: "Xeon"}}}, Device: &report.Machine{Node: "node-2"}},
		},
		"a device's pod tells what its node is": {
			report.Report{Device: &plan.Device{Pod: "dut", Node: "node-2", Machine: &plan.Machine{CPUModel: "EPYC", Processors: 32, Kernel: "6.1.0", Hypervisor: "none"}}, Generators: []report.Generator{{Name: "generator-0"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0"}}, Device: &report.Machine{Node: "node-2", CPUModel: "EPYC", Processors: 32, Kernel: "6.1.0", Hypervisor: "none"}},
		},
		"pods tell which images they ran": {
			report.Report{Device: &plan.Device{Pod: "dut", Containers: []plan.Container{{Name: "vpp", ImageID: "lab/vpp@sha256:aa"}}},
				Generators: []report.Generator{{Name: "generator-0", Pod: "g", Containers: []plan.Container{{Name: "trex", ImageID: "lab/trex@sha256:cc"}}}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Images: []plan.Container{{Name: "trex", ImageID: "lab/trex@sha256:cc"}}}},
				DeviceImages: []plan.Container{{Name: "vpp", ImageID: "lab/vpp@sha256:aa"}}},
		},
		"a real device of the generator's machine is told with its kernel": {
			report.Report{Plan: &plan.Plan{DUT: plan.DUT{Type: "Reference", Reference: &plan.Reference{Mode: &plan.Mode{Router: &plan.RouterMode{Routes: 7}}}}}, Generators: []report.Generator{{Name: "generator-0", Kernel: "6.1.0"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Machine: report.Machine{Kernel: "6.1.0"}}}, DeviceMode: "router, 7 routes; Linux 6.1.0"},
		},
		"a real device elsewhere with that of its own": {
			report.Report{Plan: &plan.Plan{DUT: plan.DUT{Type: "Reference", Reference: &plan.Reference{Mode: &plan.Mode{XDP: &plan.XDPMode{}}}}}, Generators: []report.Generator{{Name: "generator-0", Kernel: "6.1.0"}},
				Device: &plan.Device{Pod: "dut", Node: "node-2", Machine: &plan.Machine{Kernel: "6.9.0"}}},
			&report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Machine: report.Machine{Kernel: "6.1.0"}}}, Device: &report.Machine{Node: "node-2", Kernel: "6.9.0"}, DeviceMode: "XDP; Linux 6.9.0"},
		},
	} {
		if got := report.EnvironmentOf(&c.r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, c.want)
		}
	}
}
