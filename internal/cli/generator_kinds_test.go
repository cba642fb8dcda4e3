package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// TestOnlyWhatCompilesIsStartedHere: a kind that no Plan has would never be started.
func TestOnlyWhatCompilesIsStartedHere(t *testing.T) {
	for s := range localKinds {
		if !slices.Contains(compile.Senders(), s) {
			t.Errorf("%v doesn't compile", s)
		}
	}
}

// TestATestIsComparedByItsReportsThroughput: what a gate demands of tests that name no metric must be a figure
// of their Reports.
func TestATestIsComparedByItsReportsThroughput(t *testing.T) {
	for kind, p := range map[string]*plan.Plan{plan.TrafficFrames: {},
		plan.TrafficSessions: {Sessions: &plan.Sessions{}}} {
		if p.Sender().Traffic != kind {
			t.Fatalf("a plan of %s sends %v", kind, p.Sender())
		}
		if asked, reported := compile.ThroughputOf(kind),
			figures.ThroughputOf(&report.Report{Plan: p}); string(asked) != string(reported) {
			t.Errorf("tests of %s are compared by %s, and their Reports by %s", kind, asked, reported)
		}
	}
}

// TestALabOpensTheGeneratorOfItsKind: the child process gets a Sender by name, and must not open another engine
// in its place.
func TestALabOpensTheGeneratorOfItsKind(t *testing.T) {
	for _, s := range compile.Senders() {
		if engine, err := openInLab(t.Output())(t.Context(), s, lab.Bench{}); localKinds[s].inLab == nil &&
			(engine != nil || err == nil) {
			t.Errorf("%v has no lab, and it opened %v, %v", s, engine, err)
		}
	}
	ends := plan.Sender{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}
	if engine, err := openInLab(t.Output())(t.Context(), ends,
		lab.Bench{Ports: []lab.Port{{Link: "west", Interface: "west"}}}); err != nil {
		t.Error(err)
	} else if got, ok := engine.(sessions.Ends); !ok || len(got) != 1 || got[0].Link != "west" {
		t.Errorf("%v opened %#v, want the end of link west", ends, engine)
	}
	const want = `engine "Pigeons" has no lab on this machine for traffic of type Frames`
	if engine, err := openInLab(t.Output())(t.Context(), plan.Sender{Traffic: plan.TrafficFrames, Engine: "Pigeons"},
		lab.Bench{}); engine != nil || err == nil || err.Error() != want {
		t.Errorf("opened %v, %v\nwant %s", engine, err, want)
	}
}

// TestOnlyInALabGeneratorAndDeviceShareAMachine: where all are on one machine, what a generator tells of its
// own is told as the device's, too.
func TestOnlyInALabGeneratorAndDeviceShareAMachine(t *testing.T) {
	framesHere, newSessionsSite := (&labSite{plan: &plan.Plan{}}).options(true, nil, machine.Watch{}),
		(&sessionsSite{plan: &plan.Plan{}}).options(true, nil, machine.Watch{})
	if !framesHere.OneMachine || framesHere.Limited == nil || framesHere.Machine == nil || !framesHere.Force {
		t.Errorf("frames in a lab: %+v", framesHere)
	}
	if !newSessionsSite.OneMachine || newSessionsSite.Limited == nil || newSessionsSite.Machine == nil ||
		!newSessionsSite.Force {
		t.Errorf("sessions in a lab: %+v", newSessionsSite)
	}
	if o := (serversSite{plan: &plan.Plan{}}).options(true); o.OneMachine || o.Nodes != nil || o.DeviceNode != "" ||
		o.Device != nil || !o.Force {
		t.Errorf("servers that run elsewhere: %+v, want no node that is known", o)
	}
}

func TestAPlanOfAnUnknownEngineIsRefused(t *testing.T) {
	p := &plan.Plan{Engine: "Pigeons"}
	const want = `engine "Pigeons" is not known here for traffic of type Frames; this linerate knows Software, TRex: use one of these, or the linerate that wrote the plan`
	if s, err := siteOf(p, runOptions{}); s != nil || err == nil || err.Error() != want {
		t.Errorf("%v, %v\nwant %s", s, err, want)
	}
}

// What of credentials is wrong is known before anything is sent.
func TestCredentialsThatCannotBeUsedAreRefused(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Engine: plan.EngineTRex, Generators: []plan.Generator{{Server: "a:4501"}}, Observers: []plan.Observer{
		{Name: "cpu", Type: plan.ObserveProcessors},
		{Name: "port", Type: plan.ObserveSNMP, SNMP: &plan.SNMPObject{Address: "192.0.2.2:161",
			OID: ".1.3.6.1.2.1.1.3.0", Scale: "1", Secret: "agent"}},
		{Name: "box", Type: plan.ObserveRedfish, Redfish: &plan.RedfishChassis{URL: "https://192.0.2.3",
			Secret: "empty"}},
	}}
	for credentials, want := range map[string]string{
		"": "observer port: secret agent: nobody said where it is: give --credentials a folder that has " +
			"agent/community\nobserver box: secret empty: nobody said where it is: give --credentials a folder that " +
			"has empty/username",
		folder: "observer port: secret agent isn't there\n" +
			"observer box: secret empty has none of the keys username and password, token, ca.crt, fingerprint",
	} {
		if s, err := siteOf(p, runOptions{credentials: credentials}); s != nil || err == nil || err.Error() != want {
			t.Errorf("%v, %v\nwant %s", s, err, want)
		}
	}
}

// Who watches learns it at once, and once.
func TestProgressSaysWhatObserversCannotRead(t *testing.T) {
	var stdout strings.Builder
	v := newProgressView(&stdout, "my-test", false)
	const cause = "observer box reads nothing: https://bmc.lab: 401 Unauthorized: it doesn't take what secret bmc has"
	for i, unread := range []string{"", cause, cause, "", ""} {
		v.show(runner.Progress{Phase: report.Ramping, Elapsed: time.Duration(i) * time.Second, Unread: unread})
	}
	if n := strings.Count(stdout.String(), "my-test: "+cause+"\n"); n != 1 {
		t.Errorf("it is there %d times:\n%s", n, stdout.String())
	}
}

func TestAnEngineInPodsIsRefusedOnThisMachine(t *testing.T) {
	s, err := siteOf(&plan.Plan{Engine: plan.EngineTRex}, runOptions{})
	if s != nil || err == nil || !strings.HasPrefix(err.Error(), "engine TRex runs in pods, which need a cluster") {
		t.Errorf("%v, %v", s, err)
	}
	for engine, want := range map[v1alpha1.Engine]int{v1alpha1.EngineTRex: 1, v1alpha1.EngineSoftware: 0,
		"Pigeons": 0} {
		spec := v1alpha1.LoadTestSpec{Generator: v1alpha1.GeneratorSpec{Engine: engine}}
		if wrong := needsCluster(&spec); len(wrong) != want {
			t.Errorf("%s: %v", engine, wrong)
		}
		spec.Generator.Placement = &v1alpha1.PlacementSpec{Servers: []v1alpha1.GeneratorServer{{Address: "a"}}}
		if wrong := needsCluster(&spec); len(wrong) > 0 {
			t.Errorf("%s that runs already: %v", engine, wrong)
		}
	}
}

func TestAnEngineIsAddedByOneEntry(t *testing.T) {
	key := plan.Sender{Traffic: plan.TrafficFrames, Engine: "Pigeons"}
	localKinds[key] = localKind{site: func(p *plan.Plan, _ runOptions) (site, error) { return simulated{p}, nil }}
	t.Cleanup(func() { delete(localKinds, key) })
	p := &plan.Plan{Engine: "Pigeons"}
	if s, err := siteOf(p, runOptions{}); s != (simulated{p}) || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}
