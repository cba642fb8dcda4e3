//go:build full

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// spec finds a limit of 10 000 packets/s in about 25 s, and demands 98 % of it: a figure within 1 % is then a verdict, too. It demands nothing from above, as a search may end with a load that is clean
// for what the device's queue takes up, a little above its limit, and the next one that is known to be lossy a step higher.
var spec = fmt.Sprintf(`
generator: {engine: Software, placement: {separateNodes: true}}
dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 10ms}}}
links:
- {name: west, network: default/west, lineRate: 1gbps}
- {name: east, network: default/east, lineRate: 1gbps}
criteria:
- {name: limit, metric: PacketsPerSecond, min: "%.0f"}
procedure:
  ramp: {warmupDuration: 3s, targetRate: 15kpps, rampDuration: 6s, stepDuration: 1s, confirmDuration: 3s, holdDuration: 0s, stopAtSaturation: true}
`, known*(1-demanded))

// await asks until nothing is wrong. An API server that is away is only one more answer.
func (p *play) await(what string, bound time.Duration, wrong func() (string, error)) {
	p.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(bound)
	defer end.Stop()
	for {
		said, err := wrong()
		if said == "" && err == nil {
			return
		}
		select {
		case <-p.Context().Done():
			p.Fatal(p.Context().Err())
		case <-end.C:
			p.Fatalf("waited %v in vain for %s: %s %v", bound, what, said, err)
		case <-tick.C:
		}
	}
}

func (p *play) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// cluster types a command of the cluster's program.
func (p *play) cluster(verb string, args ...string) {
	p.Helper()
	_, err := lab.Cluster.Run(p.Context(), "", verb, args...)
	p.check(err)
}

// create makes the LoadTest under a name.
func (p *play) create(name string) {
	p.Helper()
	test := &lineratev1alpha1.LoadTest{ObjectMeta: p.object(name)}
	p.check(yaml.UnmarshalStrict([]byte(spec), &test.Spec))
	p.check(lab.Client.Create(p.Context(), test))
	p.made = test
}

// endBound is how long a test may take to be complete: a second run, and the node's five minutes, are in it.
const endBound = 8 * time.Minute

// complete waits until the test is over and its pods are gone.
func (p *play) complete(name string) *lineratev1alpha1.LoadTest {
	p.Helper()
	test := &lineratev1alpha1.LoadTest{}
	p.await(name+" to be complete", endBound, func() (string, error) {
		if err := lab.Client.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, test); err != nil {
			return "", err
		}
		if !meta.IsStatusConditionTrue(test.Status.Conditions, lineratev1alpha1.ConditionComplete) {
			return "it is at " + state(test), nil
		}
		return "", nil
	})
	return test
}

// logged waits until the log of the first run of the test that was made last is as wanted, read where the node keeps it: it is there without an API server, and nothing is late.
// Runners of all rows are in one namespace, and a row before this one may have left its log for a moment.
func (p *play) logged(so func(log string) bool, bound time.Duration) {
	p.Helper()
	pattern := filepath.Join(lab.Cluster.Dir, lab.Cluster.Name, "node-*", "log", "pods", rig.Namespace+"_"+manifests.RunnerJobName(p.made, 1)+"-*", "runner", "*.log")
	p.await("a part of the runner's log", bound, func() (string, error) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return "there is no log", err
		}
		log, err := os.ReadFile(files[len(files)-1])
		if err == nil && so(string(log)) {
			return "", nil
		}
		return "its end is " + last(lines(string(log))), nil
	})
}

// readReport reads the Report that a status names; nil: it names none.
func (p *play) readReport(test *lineratev1alpha1.LoadTest) *report.Report {
	p.Helper()
	if test.Status.Report == nil {
		return nil
	}
	var in corev1.ConfigMap
	p.check(lab.Client.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: test.Status.Report.ConfigMap}, &in))
	r, envelope, err := delivery.DecodeReport(in.BinaryData, in.Annotations)
	p.check(err)
	if envelope.Digest != test.Status.Report.Digest {
		p.Errorf("the status names the Report %s, and there is %s", test.Status.Report.Digest, envelope.Digest)
	}
	return r
}

// state is where a test is, in one line.
func state(t *lineratev1alpha1.LoadTest) string {
	var out []string
	for _, c := range t.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s (%s)", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, "; ")
}

// describe logs the state of the lab, to explain a failure.
func (p *play) describe(ctx context.Context) {
	var tests lineratev1alpha1.LoadTestList
	err := lab.Client.List(ctx, &tests, client.InNamespace(p.namespace))
	for i := range tests.Items {
		text, _ := yaml.Marshal(tests.Items[i].Status)
		p.Logf("%s:\n%s", tests.Items[i].Name, text)
	}
	events, failed := lab.Cluster.Run(ctx, "", "kubectl", "--", "get", "events", "-n", p.namespace, "--sort-by=.lastTimestamp")
	pods, unread := lab.Cluster.Run(ctx, "", "kubectl", "--", "get", "pods", "-A", "-o", "wide")
	p.Logf("%s\n%s%v", events, pods, errors.Join(err, failed, unread))
}

// last is the last of all; nothing where there is none.
func last[T any](all []T) (end T) {
	if len(all) > 0 {
		end = all[len(all)-1]
	}
	return end
}
