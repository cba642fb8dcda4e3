//go:build full

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// TestPlainPodsWithoutTheOperator: while no operator runs, a plain pod on each node serves a generator on one network of Multus, and a third one, which has no rights, is linerate run. A router outside
// the cluster has a limit that only the test knows. The generators answer who has the secret.
//
//	runner: linerate run ── pod network, TCP 4501 ──┬─────────────────────┐
//	                             node-1: generator, west     node-2: generator, east
//	                                             └──── bench: router ────┘
func TestPlainPodsWithoutTheOperator(t *testing.T) {
	s, limit := begin(t), unknown()
	s.operators(0)
	t.Cleanup(func() { s.operators(1) })
	s.device(limit)
	secret := []corev1.EnvVar{{Name: "LINERATE_SECRET", Value: newSecret()}}
	var servers []string
	for i, link := range []string{"west", "east"} {
		devices := corev1.ResourceList{corev1.ResourceName(fabric.ResourceOf(link)): resource.MustParse("1")}
		networks := fmt.Sprintf(`[{"name": %[1]q, "namespace": "default", "interface": %[1]q}]`, link)
		s.engine(link, fmt.Sprintf("node-%d", i+1), devices, networks, secret, "generator", "--ports", link, "--listen", ":4501", "--speed", "1gbps")
		servers = append(servers, fmt.Sprintf("{link: %s, address: %q}", link, s.ready(link, patience).Status.PodIP))
	}
	r := s.runs(secret, fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: plain}
spec:
  generator: {engine: Software, placement: {servers: [%s]}}
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
%s`, strings.Join(servers, ", "), strings.ReplaceAll(swift, "\n", "\n  ")))
	t.Logf("the router forwards %d packets/s each way: %s %s", limit, r.Message, r.Answer.EvidenceText())
	device := truth.Device{Limits: map[string]int64{truth.Direction("west", "east"): limit, truth.Direction("east", "west"): limit}, Burst: 20 * time.Millisecond, Stall: 50 * time.Millisecond}
	for _, fault := range device.Faults(r) {
		t.Error(fault)
	}
}

// newSecret is one as openssl makes it.
func newSecret() string {
	var key [32]byte
	for i := range key {
		key[i] = byte(rand.Uint32())
	}
	return base64.RawURLEncoding.EncodeToString(key[:])
}

// runs has a pod run a LoadTest, and returns the Report that it prints.
func (s *scene) runs(secret []corev1.EnvVar, file string) *report.Report {
	s.Helper()
	test := metav1.ObjectMeta{Name: "runner", Namespace: s.namespace}
	if err := lab.Client.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: test, Data: map[string]string{"test.yaml": file}}); err != nil {
		s.Fatal(err)
	}
	s.starts(&corev1.Pod{ObjectMeta: test, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
		Volumes: []corev1.Volume{{Name: "test", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: test.Name}}}}},
		Containers: []corev1.Container{{Name: "runner", Image: rig.Repository + ":" + lab.Images.Tag, ImagePullPolicy: corev1.PullNever, Env: secret,
			Args:            []string{"run", "/test/test.yaml", "--quiet", "-o", "json", "--save", ""},
			VolumeMounts:    []corev1.VolumeMount{{Name: "test", MountPath: "/test"}},
			SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(65532)), AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}}}})
	await(s, &corev1.PodList{}, test.Name, "over", patience, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	}, podState)
	log := s.told(test.Name)[1]
	var r report.Report
	start := max(0, strings.Index(log, "{\n"))
	if err := json.NewDecoder(strings.NewReader(log[start:])).Decode(&r); err != nil {
		s.Fatalf("no Report: %v:\n%s", err, log)
	}
	return &r
}
