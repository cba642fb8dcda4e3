package job

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/launch"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// claimed is what the runner of a test's attempt gets of a server's ports. Nothing of an earlier attempt is
// left where the runner runs: only the server knows who has its ports.
func claimed(t *testing.T, server *trextest.Server, uid string, attempt int) error {
	t.Helper()
	j := runnerJob{plan: &plan.Plan{
		Engine: plan.EngineTRex, Test: plan.Test{UID: uid, Attempt: attempt}, Links: []plan.Link{{Name: "west"},
			{Name: "east"}},
		Generators: []plan.Generator{{Name: "generator-0", Server: server.Address()}},
	}, sites: plan.Sites{AllowedServers: []string{server.Address()}}, wanted: observe.Want(nil, false)}
	got, err := reachFrames(dialAllowed)(t.Context(), j, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(got.disconnect)
	return got.(reached)[0].engine.Claim(t.Context(), []int{0, 1}, mayForce(j.plan))
}

// A second attempt is made by whoever suspends and resumes a test. It says nothing about who has a
// server's ports.
func TestAnAttemptTakesNoPortsOfAnotherTest(t *testing.T) {
	g := trextest.NewGenerator(trextest.TwoPorts()...)
	server := trextest.Serve(t, g)
	if err := claimed(t, server, "attacker", 1); err != nil {
		t.Fatalf("free ports: %v", err)
	}
	g.Steal(0, "") // given back as the test is suspended
	g.Steal(1, "")
	if err := claimed(t, server, "victim", 1); err != nil {
		t.Fatal(err)
	}
	owners := g.Owners()
	for attempt := range 3 {
		err := claimed(t, server, "attacker", attempt+1)
		if !errors.Is(err, engine.ErrTakenByLinerate) ||
			!strings.Contains(err.Error(), "the LoadTest whose runner's Job has "+manifests.DigestOfUID("victim")[:8]+
				" in its name") {
			t.Errorf("attempt %d: %v", attempt+1, err)
		}
	}
	if current := g.Owners(); !maps.Equal(current, owners) {
		t.Errorf("the ports were %v's, and are %v's", owners, current)
	}
	for _, attempt := range []int{1, 2} { // a successor of a lost runner, and the next attempt
		if err := claimed(t, server, "victim", attempt); err != nil {
			t.Errorf("attempt %d of the test that had the ports: %v", attempt, err)
		}
	}
	g.Steal(0, "alice")
	if err := claimed(t, server, "victim", 3); !errors.Is(err, engine.ErrTaken) ||
		!strings.Contains(err.Error(), `owned by "alice"`) {
		t.Errorf("somebody else took them meanwhile: %v", err)
	}
}

// The runner's pod is where no author of tests may look around. So it calls no server that the operator's
// administrator doesn't list, whatever a name that the author wrote resolves to.
func TestARunnerCallsNoServerThatItsAdministratorDoesNotAllow(t *testing.T) {
	server := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
	_, port, err := net.SplitHostPort(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server  string
		allowed []string
		refused string
	}{
		"an address of the list": {server.Address(), []string{server.Address()}, ""},
		"a name that resolves to one": {"localhost:" + port, []string{server.Address(),
			"[::1]:" + port}, ""},
		"an address of no list": {server.Address(), nil,
			"this cluster's tests may use no server that runs already"},
		"an address of another list": {server.Address(), []string{"192.0.2.0/24:" + port},
			"127.0.0.1:" + port + " is none of the servers"},
		"another port of the machine": {server.Address(), []string{"127.0.0.1"}, "127.0.0.1:" +
			port + " is none of the servers"},
		"a name that resolves to none of the list": {"localhost:" + port, []string{"192.0.2.0/24:" + port},
			":" + port + " is none of the servers"},
		"the runner's own machine, where all others are": {"localhost:" + port, []string{"0.0.0.0/0:" + port,
			"[::/0]:" + port}, ":" + port + " is none of the servers"},
		"the runner's own machine, in another way of saying": {"[::ffff:127.0.0.1]:" + port,
			[]string{"0.0.0.0/0:" + port, "[::/0]:" + port}, "127.0.0.1:" + port + " is none of the servers"},
	} {
		t.Run(name, func(t *testing.T) {
			j := runnerJob{plan: &plan.Plan{
				Engine: plan.EngineTRex, Links: []plan.Link{{Name: "west"}, {Name: "east"}},
				Generators: []plan.Generator{{Name: "generator-0", Server: c.server}},
			}, sites: plan.Sites{AllowedServers: c.allowed}, wanted: observe.Want(nil, false)}
			got, err := reachFrames(dialAllowed)(t.Context(), j, time.Hour)
			defer got.disconnect()
			switch {
			case c.refused == "" && err != nil:
				t.Error(err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) ||
				errors.Is(err, engine.ErrLost)):
				t.Errorf("it says %v, want %q", err, c.refused)
			}
		})
	}
}

func TestPortsOfATestsOwnPodsAreForced(t *testing.T) {
	for name, c := range map[string]struct {
		server string // of the Plan's second generator
		want   bool
	}{
		"pods are the test's own":                  {"", true},
		"a server that already runs may be in use": {"trex.lab:4501", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Generators: []plan.Generator{{Name: "generator-0"},
				{Name: "generator-1", Server: c.server}}}
			if got := mayForce(p); got != c.want {
				t.Errorf("mayForce is %v, want %v", got, c.want)
			}
		})
	}
}

func TestAReportIsMarkedWhereEndsSharedAPort(t *testing.T) {
	const sentence = "port 0000:3b:00.0 of node gen-1 is behind link west of pod a, link east of pod a"
	for name, ports := range map[string][]string{"none": nil, "one": {sentence}} {
		t.Run(name, func(t *testing.T) {
			var r report.Report
			MarkShared(&r, ports)
			if !slices.Equal(r.Answer.SharedPorts, ports) || len(r.Notes) != len(ports) || len(ports) > 0 &&
				!strings.Contains(r.Notes[0].Message, sentence) {
				t.Errorf("marked as %v, notes %v", r.Answer.SharedPorts, r.Notes)
			}
		})
	}
}

func TestPortsThatTheOperatorDoesNotKnowAreNoted(t *testing.T) {
	device := func(link, port string, virtual bool) launch.LinkDevice {
		return launch.LinkDevice{Link: link, PhysicalPort: port, VirtualFunction: virtual}
	}
	generators := reached{{
		site: plan.Site{Generator: "generator-0", PhysicalPort: map[string]string{"east": "0000:3b:00.1"}},
		devices: launch.Report{Links: []launch.LinkDevice{device("west", "0000:3b:00.0", true),
			device("east", "0000:3b:00.1", true), device("north", "0000:5e:00.0", false), device("south", "", true)}},
	}, {site: plan.Site{Generator: "generator-1"}}}
	words := generators.warnings()
	if len(words) != 1 || !strings.HasPrefix(words[0],
		"generator generator-0: link west is on a virtual function of port 0000:3b:00.0") {
		t.Errorf("%q", words)
	}
}

func TestHowLongAReportMayStillBeWritten(t *testing.T) {
	for ending, want := range map[report.Ending]time.Duration{report.Completed: 25 * time.Second,
		report.Interrupted: 25 * time.Second, report.GeneratorLost: brokenGrace} {
		t.Run(string(ending)+" after SIGTERM", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signalled, terminate := context.WithCancel(t.Context())
				late, cancel := graceful(signalled, time.Hour,
					Options{Grace: 25 * time.Second}.graceFor(&report.Report{Ending: ending}))
				defer cancel()
				terminate()
				begin := time.Now()
				<-late.Done()
				if took := time.Since(begin); took != want {
					t.Errorf("it is tried for %v, want %v", took, want)
				}
			})
		})
	}
}
