package job

import (
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

func TestTheReportNamesNodesAndPodsOfTheEnds(t *testing.T) {
	ends := reachedEnds{
		{plan.Site{Generator: "generator-0-west", Pod: "tcp-1-west", Node: "node-1",
			PhysicalPort: map[string]string{"west": "0000:3b:00.0"}}, sessions.Place{Link: "west"}},
		{plan.Site{Generator: "generator-0-east", Pod: "tcp-1-east", Node: "node-2"}, sessions.Place{Link: "east"}},
	}
	port := func(link string) []report.GeneratorPort {
		return []report.GeneratorPort{{Link: link, Driver: "iavf", Path: "TCP sockets"}}
	}
	r := &report.Report{Producer: "linerate v0.1.0", Generators: []report.Generator{
		{Name: "generator-0-west", Product: "linerate sessions v0.1.0", Hostname: "tcp-1-west", Kernel: "6.1.0",
			Ports: port("west")},
		{Name: "generator-0-east", Product: "linerate sessions v0.1.0", Hostname: "tcp-1-east", Kernel: "6.1.0",
			Ports: port("east")}}}
	ends.describe(r)
	if g := r.Generators[0]; g.Pod != "tcp-1-west" || g.Ports[0].PhysicalPort != "0000:3b:00.0" {
		t.Errorf("%+v", g)
	}
	environment := func(name, node, link string) report.GeneratorEnvironment {
		return report.GeneratorEnvironment{Name: name, Product: "linerate sessions", Machine: report.Machine{Node: node,
			Kernel: "6.1.0"}, Ports: []report.PortEnvironment{{Link: link, Driver: "iavf", Path: "TCP sockets"}}}
	}
	want := &report.Environment{Linerate: "linerate v0.1.0",
		Generators: []report.GeneratorEnvironment{environment("generator-0-west", "node-1", "west"),
			environment("generator-0-east", "node-2", "east")}}
	if got := report.EnvironmentOf(r); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}
