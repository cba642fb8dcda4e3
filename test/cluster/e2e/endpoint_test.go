//go:build full

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// ends are sessions with a device that is an end of them, both ways.
const ends = `
links: [{name: west, network: default/west, lineRate: 1gbps}]
generator: {engine: Software, placement: {separateNodes: true}}
traffic: {type: Sessions, sessions: {application: Iperf3, parallel: 2}}
procedure: {type: ConstantLoad, constantLoad: {rate: 20mbps, warmupDuration: 1s, duration: 6s, window: 2s}}
criteria: [{name: some, metric: GoodputBitsPerSecond, min: "1000000"}]
`

// TestADeviceThatIsAnEnd: what the device received and sent is counted apart, by an end in its pod, which only runners may drive.
func TestADeviceThatIsAnEnd(t *testing.T) {
	for name, device := range map[string]string{
		"reference": "dut: {type: Reference, role: Endpoint}",
		"appliance": `dut: {type: Pod, role: Endpoint, pod: {template: {spec: {containers: [{name: appliance, image: "linerate.dev/pause:1", imagePullPolicy: Never, resources: {limits: {cpu: 100m, memory: 32Mi}}}]}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, begun := begin(t), time.Now()
			s.apply(name, ends, device)
			pod := s.ready(name+"-1-dut", patience)
			s.runnersAlone("linerate-ends", pod)
			if name == "appliance" && pod.Status.QOSClass != corev1.PodQOSGuaranteed {
				t.Errorf("the pod is %s: its author's containers are Guaranteed", pod.Status.QOSClass)
			}
			test := s.complete(name, patience)
			s.want(test, "Accepted=", "Complete=True Measured", "Passed=True CriteriaMet")
			r := s.report(test)
			s.countedApart(r)
			s.wentOverTheWire(r, begun)
			if told := statustest.Each(test.Status.Result, lineratev1alpha1.MetricGoodputBitsPerSecond); len(told) != len(r.Answer.Directions) || statustest.Low(&told[0]) != r.Answer.Directions[0].Sessions.GoodputBitsPerSecond {
				t.Errorf("the status has %+v, the Report %+v", told, r.Answer.Directions)
			}
			t.Log(test.Status.Summary)
			s.released(name)
		})
	}
}

// runnersAlone: the namespace has the NetworkPolicy, which is of this pod, and lets in from the pods' network who is a runner of the operator's, at the port by which an end is driven.
func (s *scene) runnersAlone(name string, pod *corev1.Pod) {
	s.Helper()
	var policy networkingv1.NetworkPolicy
	s.must(lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &policy))
	covered, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	s.must(err)
	if !covered.Matches(labels.Set(pod.Labels)) {
		s.Errorf("NetworkPolicy %s is of %s, and the pod has the labels %v", name, covered, pod.Labels)
	}
	if in := policy.Spec.Ingress; len(in) != 1 || len(in[0].From) != 1 || len(in[0].Ports) != 1 || in[0].Ports[0].Port.IntValue() != 4501 ||
		in[0].From[0].NamespaceSelector.MatchLabels[corev1.LabelMetadataName] != rig.Namespace || in[0].From[0].PodSelector.MatchLabels[lineratev1alpha1.LabelRole] != "runner" {
		s.Errorf("NetworkPolicy %s lets in %+v", name, in)
	}
}

// countedApart: each direction says which end of it the device was, and has the count of each end: what was sent, and what came.
func (s *scene) countedApart(r *report.Report) {
	s.Helper()
	if len(r.Answer.Directions) != 2 || len(r.Path) != 2 {
		s.Fatalf("%d directions, %d paths: %s", len(r.Answer.Directions), len(r.Path), r.Answer.EvidenceText())
	}
	for _, p := range r.Path {
		if !p.Proven {
			s.Errorf("the path isn't proven: %s", p.Message)
		}
	}
	is := map[string]string{"west→" + plan.DeviceEnd: report.Receiver, plan.DeviceEnd + "→west": report.Sender}
	for _, d := range r.Answer.Directions {
		of, n := d.From+"→"+d.To, d.Sessions
		if n == nil || n.Device == nil || n.Device.Role != is[of] || n.ReceivedBytes <= 0 || n.SentBytes <= 0 {
			s.Errorf("%s: %+v, want the device to be its %s, and what was sent and what came", of, n, is[of])
			continue
		}
		s.Logf("%s: the device is the %s; %d bytes were written, %d sent, %d received, %d again", of, n.Device.Role, n.WrittenBytes, n.SentBytes, n.ReceivedBytes, n.RetransmittedBytes)
	}
}

// wentOverTheWire: what the ends say they received since a moment came in frames, of which none has more than 64 KiB.
func (s *scene) wentOverTheWire(r *report.Report, since time.Time) {
	s.Helper()
	const largest = 64 << 10
	var received int64
	for _, d := range r.Answer.Directions {
		if d.Sessions != nil {
			received += d.Sessions.ReceivedBytes
		}
	}
	if frames := s.wires.Between(since, time.Now()); int64(frames)*largest < received {
		s.Errorf("%d frames went over the wire, in which %d bytes can't have come", frames, received)
	}
}
