package cli

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/launch"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

func TestPortsAreForcedOnlyFromTheSameTest(t *testing.T) {
	for name, c := range map[string]struct {
		server       string // of the Plan's second generator
		attempt, run int
		want         bool
	}{
		"pods are the test's own":                        {"", 1, 1, true},
		"a server that already runs may be in use":       {"trex.lab:4501", 1, 1, false},
		"a run of this test was lost, and had its ports": {"trex.lab:4501", 1, 2, true},
		"an attempt of this test was void":               {"trex.lab:4501", 2, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Generators: []plan.Generator{{Name: "generator-0"}, {Name: "generator-1", Server: c.server}}}
			if got := mayForce(p, c.attempt, c.run); got != c.want {
				t.Errorf("mayForce(server %q, attempt %d, run %d) = %v, want %v", c.server, c.attempt, c.run, got, c.want)
			}
		})
	}
}

func TestAReportIsMarkedWhereEndsSharedAPort(t *testing.T) {
	const said = "port 0000:3b:00.0 of node gen-1 is behind link west of pod a, link east of pod a"
	for name, ports := range map[string][]string{"none": nil, "one": {said}} {
		t.Run(name, func(t *testing.T) {
			var r report.Report
			markShared(&r, ports)
			if !slices.Equal(r.Result.SharedPorts, ports) || len(r.Notes) != len(ports) || len(ports) > 0 && !strings.Contains(r.Notes[0].Message, said) {
				t.Errorf("marked as %v, notes %v", r.Result.SharedPorts, r.Notes)
			}
		})
	}
}

func TestPortsThatTheOperatorDoesNotKnowAreNoted(t *testing.T) {
	device := func(link, port string, virtual bool) launch.LinkDevice {
		return launch.LinkDevice{Link: link, PhysicalPort: port, VirtualFunction: virtual}
	}
	all := reached{{
		site:    plan.Site{Generator: "generator-0", PhysicalPort: map[string]string{"east": "0000:3b:00.1"}},
		devices: launch.Report{Links: []launch.LinkDevice{device("west", "0000:3b:00.0", true), device("east", "0000:3b:00.1", true), device("north", "0000:5e:00.0", false), device("south", "", true)}},
	}, {site: plan.Site{Generator: "generator-1"}}}
	words := all.warnings()
	if len(words) != 1 || !strings.HasPrefix(words[0], "generator generator-0: link west is on a virtual function of port 0000:3b:00.0") {
		t.Errorf("%q", words)
	}
}

func TestHowLongAReportMayStillBeWritten(t *testing.T) {
	for ending, want := range map[report.Ending]time.Duration{report.Completed: 25 * time.Second, report.Interrupted: 25 * time.Second, report.GeneratorLost: brokenGrace} {
		t.Run(string(ending)+" after SIGTERM", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signalled, terminate := context.WithCancel(t.Context())
				late, cancel := graceful(signalled, time.Hour, runnerOptions{grace: 25 * time.Second}.graceFor(&report.Report{Ending: ending}))
				defer cancel()
				terminate()
				since := time.Now()
				<-late.Done()
				if took := time.Since(since); took != want {
					t.Errorf("it is tried for %v, want %v", took, want)
				}
			})
		})
	}
}
