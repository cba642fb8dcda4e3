package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/compile"
)

func environment(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

func TestFlagsWinOverTheEnvironmentAndThatOverDefaults(t *testing.T) {
	env := environment(map[string]string{
		"LINERATE_IMAGE": "from/environment", "LINERATE_NAMESPACES": "lab-a, lab-b", "LINERATE_LEADER_ELECT": "false",
		"LINERATE_METRICS_ADDRESS": "",
		// which is no option: a Deployment may well say which version it is
		"LINERATE_KEEP_REPORTS_IN": "lab-a=1000", "LINERATE_VERSION": "true",
	})
	got, err := parse([]string{"--image", "from/flag", "--pull-secrets=one,two", "--log-level", "debug",
		"--runner-priority=lab-runners", "--runner-queue=runners"}, env, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{
		Image: "from/flag", PullSecrets: []string{"one", "two"}, Namespaces: []string{"lab-a", "lab-b"},
		NetworkNamespaces: []string{"default"}, TrafficPrefixes: strings.Split(compile.DefaultPrefixes, ","),
		NetworkPolicies: true, DisruptionBudgets: true, RunnerAccount: "linerate-runner", RunnerPriority: "lab-runners",
		RunnerQueue: "runners", MetricsAddress: ":8443", HealthAddress: ":8081", MetricsSecure: true,
		ProfileAddress: "0",
		MetricsTests:   500, MaxConcurrent: 16, LogLevel: -4, KeepReports: retention.Limits{Count: 200,
			Age: 8760 * time.Hour},
		KeepReportsIn: map[string]retention.Limits{"lab-a": {Count: 1000}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Options{})); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestWrongOptionsAreRefusedWithTheWayOut(t *testing.T) {
	cases := map[string]struct {
		args     []string
		env      map[string]string
		messages []string
	}{
		"no image": {messages: []string{"--image is needed"}},
		"a policy that isn't": {args: []string{"--image=i", "--pull-policy=Sometimes"},
			messages: []string{`"Sometimes"`, "Always, IfNotPresent or Never"}},
		"no namespace": {args: []string{"--image=i", "--namespaces=Lab_A"}, messages: []string{`"Lab_A"`}},
		"no other namespace": {args: []string{"--image=i", "--network-namespaces=lab,Lab_A"},
			messages: []string{"--network-namespaces", `"Lab_A"`}},
		"no namespace of Leases": {args: []string{"--image=i", "--port-leases-namespace=Lab_A"},
			messages: []string{"--port-leases-namespace", `"Lab_A"`}},
		"no servers": {args: []string{"--image=i", "--allowed-servers=192.0.2.0/28,trex.lab"},
			messages: []string{"--allowed-servers", `"trex.lab"`, "192.0.2.7:4511"}},
		"no network of traffic": {args: []string{"--image=i", "--traffic-prefixes=10.1.0.1/16"},
			messages: []string{"--traffic-prefixes", `"10.1.0.1/16"`, "10.1.0.0/16"}},
		"no priority class": {args: []string{"--image=i", "--runner-priority=Lab_A"},
			messages: []string{"--runner-priority", `"Lab_A"`}},
		"no queue": {args: []string{"--image=i", "--runner-queue=Runners"},
			messages: []string{"--runner-queue", `"Runners"`, "a LocalQueue"}},
		"no address": {args: []string{"--image=i", "--health-address=8081"},
			messages: []string{"--health-address", ":8080"}},
		"no concurrency": {args: []string{"--image=i", "--max-concurrent=0"}, messages: []string{"1 to 64"}},
		"too many metrics": {args: []string{"--image=i", "--metrics-tests=10001"},
			messages: []string{"--metrics-tests 10001", "0 to 10000"}},
		"no bound": {args: []string{"--image=i", "--keep-reports=some"},
			messages: []string{"keep-reports", "200/8760h"}},
		"no bound of its own": {args: []string{"--image=i", "--keep-reports-in=lab=x"},
			messages: []string{"namespace lab", "200/8760h"}},
		"a bound of nowhere": {args: []string{"--image=i", "--keep-reports-in=Lab_A=5"},
			messages: []string{"--keep-reports-in", `"Lab_A"`}},
		"all at once": {args: []string{"--pull-policy=x", "--max-concurrent=99"},
			messages: []string{"--image", "--pull-policy", "--max-concurrent"}},
		"a certificate for HTTP": {args: []string{"--image=i", "--metrics-secure=false",
			"--metrics-certificates=/certs"}, messages: []string{"--metrics-certificates", `"/certs"`,
			"--metrics-secure=false"}},
		"labels that aren't JSON": {args: []string{"--image=i", "--pod-labels=team=a"}, messages: []string{"pod-labels",
			`such as {"team":"datapath"}`}},
		"a label of linerate's": {args: []string{"--image=i", `--pod-labels={"linerate.dev/role":"dut"}`},
			messages: []string{"--pod-labels", "linerate.dev/role", "leave it out"}},
		"an argument": {args: []string{"--image=i", "run"}, messages: []string{`"run"`}},
		"a variable": {args: []string{"--image=i"},
			env:      map[string]string{"LINERATE_MAX_CONCURRENT": "many"},
			messages: []string{`LINERATE_MAX_CONCURRENT="many"`}},
		"a flag that isn't one": {args: []string{"--imgae=i"}, messages: []string{"imgae"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.args, environment(c.env), io.Discard)
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, messages := range c.messages {
				if !strings.Contains(err.Error(), messages) {
					t.Errorf("%q doesn't say %q", err, messages)
				}
			}
		})
	}
}

func TestHelpAndVersionNeedNothingElse(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if _, err := parse([]string{"--help"}, environment(nil), &stderr); !errors.Is(err, flag.ErrHelp) ||
		!strings.Contains(stderr.String(), "manager --image ghcr.io") {
		t.Errorf("--help: %v, says\n%s", err, stderr.String())
	}
	if code := run(t.Context(), []string{"--version"}, environment(nil), &stdout, &stderr); code != 0 ||
		!strings.HasPrefix(stdout.String(), "linerate manager dev go1.") {
		t.Errorf("--version ends with %d, and says %q", code, stdout.String())
	}
}

func TestOptionsCanBePrinted(t *testing.T) {
	options, err := parse([]string{"--image=i"}, environment(nil), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(options)
	if want := `{"image":"i","networkNamespaces":["default"],"trafficPrefixes":["` +
		strings.ReplaceAll(compile.DefaultPrefixes, ",", `","`) +
		`"],"networkPolicies":true,"disruptionBudgets":true,"leaderElect":true,"runnerAccount":"linerate-runner","metricsAddress":":8443","healthAddress":":8081","metricsSecure":true,"profileAddress":"0","metricsTests":500,"keepReports":"200/8760h","maxConcurrent":16,"logLevel":"INFO"}`; err != nil || string(text) != want {
		t.Errorf("%s (%v), want %s", text, err, want)
	}
}
