//go:build full

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// Releases of a box (test/cluster/e2e/box): the one in use, one that holds each frame against many rules, and one that draws more. None of them loses a frame of the load that is held.
const (
	boxInUse     = "example.com/linerate/box:1.4"
	boxOfRules   = "example.com/linerate/box:1.5"
	boxThatDraws = "example.com/linerate/box:1.6"

	// In softirqs, each of the 2000 frames a second takes 20 µs, and 300 µs and more with the rules: some hundredths of a processor, and half of one and more; much is in between. Softirqs run in the
	// thread that sends the frame, which is a real-time one, so work that takes processors changes neither. Frames of others do: they are softirqs of the same kernel.
	manyRules = 20_000
	much      = 0.25

	fewWatts, moreWatts = 40, 90

	held = "procedure: {type: ConstantLoad, constantLoad: {rate: 1kpps, warmupDuration: 1s, duration: 12s, window: 12s}}"
)

// watching are observers of the device's node, of the generator's ports, and of what is asked at ADDRESS with Secrets of the namespace, of which the last is another's.
const watching = `
observers:
- {name: softirqs, observed: DUT, type: SoftIRQs}
- {name: memory, observed: DUT, type: Memory}
- {name: load, observed: DUT, type: Load}
- {name: ports, observed: Generator, type: Interfaces}
- {name: bmc, observed: DUT, type: Redfish, interval: 1s, redfish: {url: "https://ADDRESS", secretName: bmc}}
- {name: outlet, observed: Lab, type: SNMP, interval: 1s, snmp: {address: ADDRESS, oid: 1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4, unit: W, scale: "0.1", secretName: pdu}}
- {name: scraped, observed: DUT, type: Prometheus, interval: 1s, prometheus: {url: "http://ADDRESS:9090", query: 'box_power_watts{instance="box"}', unit: W, secretName: prometheus}}
- {name: refused, observed: DUT, type: Prometheus, interval: 1s, prometheus: {url: "http://ADDRESS:9090", query: 'box_power_watts{instance="box"}', unit: W, secretName: stranger}}
`

// TestReleasesByTheirVitalSigns: what observers saw of a device in pods is in its Report, and a release that costs more of it fails the gate, which says how much it costs.
func TestReleasesByTheirVitalSigns(t *testing.T) {
	s := begin(t)
	address := s.box()
	s.must(rig.Build(s.Context(), "./test/cluster/e2e/box", filepath.Join(lab.Programs, "box")))
	s.loadBox(boxInUse, 0, fewWatts)
	s.loadBox(boxOfRules, manyRules, fewWatts)
	s.loadBox(boxThatDraws, 0, moreWatts)
	observers := strings.ReplaceAll(watching, "ADDRESS", address)

	s.apply("box", links, separately, "dut: "+boxOf(boxInUse), held, observers, fmt.Sprintf(`criteria: [{name: draws, metric: Observed, observed: {observer: bmc, series: power}, min: "%d"}]`, fewWatts))
	s.running("box")
	if pods := s.get("box").Status.Pods; !slices.ContainsFunc(pods, func(p lineratev1alpha1.PodStatus) bool { return p.Role == lineratev1alpha1.RoleCollector }) {
		t.Errorf("pods are %+v, want a collector among them", pods)
	}
	s.keepsSecrets("box-1-collector")
	test := s.complete("box", patience)
	s.want(test, "Complete=True Measured", "Passed=True CriteriaMet")
	if words, want := message(test, "Passed"), fmt.Sprintf("bmc: mean power of System Input Power: %d W", fewWatts); !strings.Contains(words, want) {
		t.Errorf("the status says %q, want %q", words, want)
	}
	r := s.report(test)
	s.watched(r)
	s.released("box")

	s.gatesReleases(observers, much+seenIn(r.Answer.Observed, "softirqs", "time", report.AllProcessors))
}

// separately has generator and device on nodes of their own.
const separately = "generator: {engine: Software, placement: {separateNodes: true}}"

// boxOf is a device of a release of the box: its router, and what it brings beside.
func boxOf(image string) string {
	return strings.ReplaceAll(`{type: Pod, pod: {container: router, template: {spec: {containers: [`+
		`{name: router, image: "IMAGE", imagePullPolicy: Never, command: [/router], securityContext: {capabilities: {add: [NET_ADMIN]}}, readinessProbe: {exec: {command: [/router, -ready]}, periodSeconds: 1}, resources: {requests: {cpu: 100m}}},`+
		`{name: box, image: "IMAGE", imagePullPolicy: Never, command: [/box], securityContext: {capabilities: {add: [NET_ADMIN]}}, readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}, resources: {requests: {cpu: 50m}}, volumeMounts: [{name: box, mountPath: /etc/box}]}],`+
		`volumes: [{name: box, secret: {secretName: box}}]}}}}`, "IMAGE", image)
}

// loadBox gives the nodes a release of the box.
func (s *scene) loadBox(image string, rules, watts int) {
	s.Helper()
	s.must(lab.Load(s.Context(), image, map[string]string{"/router": filepath.Join(lab.Programs, "router"), "/box": filepath.Join(lab.Programs, "box")},
		pack.Config{Environment: []string{fmt.Sprintf("RULES=%d", rules), fmt.Sprintf("WATTS=%d", watts)}}))
}

// credentials are what the box wants to be shown; none may stand anywhere but in Secrets.
var credentials = map[string]string{"username": "engineer", "password": "calvin-and-hobbes", "community": "strip-of-rack-7", "token": "scrapes-all-boxes"}

// box is the address at which the box in the namespace is asked, whichever release it is. The Secrets are the box's own, and those with which a collector asks it.
func (s *scene) box() (address string) {
	s.Helper()
	own := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: s.namespace, Name: name} }
	service := &corev1.Service{ObjectMeta: own("box"), Spec: corev1.ServiceSpec{Selector: map[string]string{lineratev1alpha1.LabelRole: "dut"}, Ports: []corev1.ServicePort{
		{Name: "redfish", Port: 443, TargetPort: intstr.FromInt32(8443)},
		{Name: "snmp", Port: 161, TargetPort: intstr.FromInt32(1161), Protocol: corev1.ProtocolUDP},
		{Name: "prometheus", Port: 9090, TargetPort: intstr.FromInt32(9090)},
	}}}
	s.must(lab.Client.Create(s.Context(), service))
	address = service.Spec.ClusterIP
	certificate, key, err := cert.GenerateSelfSignedCertKey(address, nil, nil)
	s.must(err)
	for name, keys := range map[string]map[string]string{
		"box": {"username": credentials["username"], "password": credentials["password"], "community": credentials["community"], "token": credentials["token"], "tls.crt": string(certificate), "tls.key": string(key)},
		"bmc": {"username": credentials["username"], "password": credentials["password"], "ca.crt": string(certificate)}, "pdu": {"community": credentials["community"]},
		"prometheus": {"token": credentials["token"]}, "stranger": {"token": "of-another-lab"},
	} {
		s.must(lab.Client.Create(s.Context(), &corev1.Secret{ObjectMeta: own(name), StringData: keys}))
	}
	return address
}

// keepsSecrets: neither what a pod was made from nor its log has a credential.
func (s *scene) keepsSecrets(pod string) {
	s.Helper()
	for _, what := range s.told(pod) {
		for name, credential := range credentials {
			if strings.Contains(what, credential) {
				s.Errorf("pod %s shows the %s of a Secret:\n%s", pod, name, what)
			}
		}
	}
}

// watched: each series has samples, and a value in the result's windows and idle; what was played of watts is told by all three, and who wasn't let in says whose Secret it was.
func (s *scene) watched(r *report.Report) {
	s.Helper()
	told := map[string]bool{}
	for _, o := range r.Observations {
		told[o.Observer] = len(o.Series) > 0
		if refused := o.Observer == "refused"; refused != (o.Missing != "") || refused && !strings.Contains(o.Missing, "401 Unauthorized: it doesn't take what secret stranger has") {
			s.Errorf("observer %s is missing: %q", o.Observer, o.Missing)
		}
		for _, v := range o.Series {
			if v.Missing != "" || len(v.Samples) < 4 || v.IdleBefore == nil || v.IdleAfter == nil {
				s.Errorf("%s %s of %s: %d samples, idle before %v and after %v, missing: %s", o.Observer, v.Name, v.Subject, len(v.Samples), v.IdleBefore, v.IdleAfter, v.Missing)
			}
		}
	}
	for _, o := range r.Answer.Observed {
		if o.Observer != "refused" && (o.Missing != "" || o.Mean == nil) {
			s.Errorf("in the result's window %s %s of %s is missing: %s", o.Observer, o.Series, o.Subject, o.Missing)
		} else if o.Mean != nil && (o.OfAll() || !strings.Contains(o.Subject, "processor")) {
			s.Logf("%s %s of %s: %.6g %s", o.Observer, o.Series, o.Subject, *o.Mean, o.Unit)
		}
	}
	for _, name := range []string{"softirqs", "memory", "load", "ports", "bmc", "outlet", "scraped"} {
		if !told[name] {
			s.Errorf("observer %s tells of nothing", name)
		}
	}
	perGbps := fewWatts / (float64(r.Answer.Total.Received.Layer1BitsPerSecond) / 1e9)
	for _, want := range []struct {
		observer, series, of string
		value                float64
	}{
		{"bmc", "power", "System Input Power", fewWatts}, {"bmc", "temperature", "CPU", 20 + fewWatts/2}, {"bmc", "wattsPerGbps", "System Input Power", perGbps},
		{"outlet", "value", ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4", fewWatts}, {"scraped", "value", `instance="box"`, fewWatts},
	} {
		if got := seenIn(r.Answer.Observed, want.observer, want.series, want.of); !(math.Abs(got-want.value) < want.value/1000) {
			s.Errorf("%s %s of %s is %g, want %g", want.observer, want.series, want.of, got, want.value)
		}
	}
}

// seenIn is what a series was; NaN: it is missing.
func seenIn(all []report.Observed, observer, series, of string) float64 {
	for _, o := range all {
		if o.Observer == observer && o.Series == series && o.Subject == of && o.Mean != nil {
			return *o.Mean
		}
	}
	return math.NaN()
}

// gatesReleases has a gate judge the three releases: each that costs more fails by what it costs, in the gate and in the cluster, which say how much that is. The one in use fails by
// nothing; that it passes takes a machine on which the generator sends all that it was asked for.
func (s *scene) gatesReleases(observers string, mostSoftIRQ float64) {
	s.Helper()
	file, out := filepath.Join(s.TempDir(), "releases.yaml"), filepath.Join(s.TempDir(), "gate.json")
	s.must(os.WriteFile(file, fmt.Appendf(nil, `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: releases}
spec:
  template:
    spec:
      dut: %s
      %s
      %s
      links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]
      %s
  axes:
  - name: release
    values: [{name: in-use}, {name: rules, patch: {dut: %s}}, {name: draws, patch: {dut: %s}}]
  criteria:
  - {name: forwarding, metric: Observed, observed: {observer: softirqs, series: time, scope: All}, max: "%.3f"}
  - {name: power, metric: Observed, observed: {observer: bmc, series: power}, max: "%d"}
`, boxOf(boxInUse), separately, held, strings.ReplaceAll(strings.TrimSpace(observers), "\n", "\n      "), boxOf(boxOfRules), boxOf(boxThatDraws), mostSoftIRQ, (fewWatts+moreWatts)/2), 0o600))
	said := s.types("gate", "-f", file, "--timeout", "10m", "-o", "text,json="+out)
	s.Logf("the gate says:\n%s", said.out)
	drew := fmt.Sprintf("bmc: mean power of System Input Power: %d W, at most %d W allowed", moreWatts, (fewWatts+moreWatts)/2)
	said.wants(report.ExitFailed, drew, "").wants(report.ExitFailed, "softirqs: mean time of all processors: ", "")
	var gate report.Gate
	text, err := os.ReadFile(out)
	s.must(err)
	s.must(json.Unmarshal(text, &gate))
	failed := map[string]string{}
	for _, row := range gate.Rows {
		failed[row.Cell] = ""
		for _, c := range row.Criteria {
			if c.Outcome == report.DidFail {
				failed[row.Cell] += c.Name
			}
		}
	}
	if want := (map[string]string{"in-use": "", "rules": "forwarding", "draws": "power"}); fmt.Sprint(failed) != fmt.Sprint(want) {
		s.Errorf("failed by %v, want %v", failed, want)
	}
	var suites lineratev1alpha1.LoadTestSuiteList
	s.must(lab.Client.List(s.Context(), &suites, client.InNamespace(s.namespace)))
	passed := meta.FindStatusCondition(suites.Items[0].Status.Conditions, lineratev1alpha1.ConditionPassed)
	if passed == nil || passed.Status != metav1.ConditionFalse || !strings.Contains(passed.Message, "softirqs: mean time of all processors: ") {
		s.Errorf("the suite says %+v, want that it failed, and by how much", passed)
	}
}
