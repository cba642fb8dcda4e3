package operator

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/report"
)

// mostResident is how much memory the manager may ever have had in TestAHostileTenantTakesNoMemory. When caches kept objects whole it was 489 MB before any Report
// was read; since then it has 115 MB.
const mostResident = 180 << 20

// hostile is how many objects of each kind a tenant fills: 160 MB together.
const hostile = 60

// A tenant who may make objects puts linerate's labels on them and all into them that an API server takes, and has a runner write a Report that is 66 kB packed
// and 22 million windows unpacked: the manager takes no more memory for it, and another tenant's test goes on.
func TestAHostileTenantTakesNoMemory(t *testing.T) {
	l, tenant := newLab(t), newLab(t)
	tenant.fill(hostile)
	t.Setenv("GOMEMLIMIT", "460MiB") // as the chart has it
	p := l.startProgram(writeKubeconfig(t), "--health-address=0", "--metrics-address=0", "--namespaces="+l.namespace+","+tenant.namespace)
	bomb, victim := minimal("bomb"), minimal("victim")
	l.wires(bomb)
	l.create(bomb)
	l.create(victim)
	for _, name := range []string{"bomb", "victim"} {
		l.awaitPods(name)
	}
	l.schedule()
	l.start()
	for _, name := range []string{"bomb", "victim"} {
		l.awaitCondition(name, "Complete=False Running")
	}
	l.await("the runners' Jobs", func() bool { return len(l.jobs()) == 2 })
	l.runJobs()
	l.schedule()
	l.start()
	l.runner("bomb", 1).reportBomb()
	l.await("the end of bomb", func() bool { return strings.Contains(l.describe("bomb"), "100000 elements") })
	r := l.runner("victim", 1)
	r.report(r.measured(), true)
	l.awaitCondition("victim", "Complete=True Measured")
	most := p.mostResident()
	t.Logf("with %d hostile objects of each kind the manager had %d MB of memory at most", hostile, most>>20)
	if most > mostResident {
		t.Errorf("more than %d MB", mostResident>>20)
	}
}

// fill makes so many ConfigMaps that look like Progress, ConfigMaps and pods with long annotations, and LoadTests with long templates.
func (l *lab) fill(count int) {
	l.t.Helper()
	half, whole := strings.Repeat("x", 120<<10), strings.Repeat("x", 1000<<10)
	labels := func(role string) map[string]string {
		return map[string]string{v1alpha1.LabelUID: "of-nobody", v1alpha1.LabelTest: "nobodys", v1alpha1.LabelRole: role}
	}
	annotations := map[string]string{"x/one": half, "x/two": half}
	var made sync.WaitGroup
	failed := make([]error, 4*count)
	for i := range count {
		meta := func(kind, role string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: l.namespace, Name: fmt.Sprintf("%s-%03d", kind, i), Labels: labels(role), Annotations: annotations}
		}
		pod := &corev1.Pod{ObjectMeta: meta("pod", "generator")}
		for c := range 300 {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", c), Image: "i", Env: []corev1.EnvVar{{Name: "X", Value: half[:1000]}}})
		}
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x/never"}}
		test := minimal(fmt.Sprintf("test-%03d", i), func(test *v1alpha1.LoadTest) {
			test.Namespace, test.Spec.Suspend = l.namespace, true
			test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTPod, Pod: &v1alpha1.DUTPodSpec{Template: v1alpha1.Freeform{"x": apiextensionsv1.JSON{Raw: []byte(`"` + whole + `"`)}}}}
		})
		progress := &corev1.ConfigMap{ObjectMeta: meta("progress", "progress"), Data: map[string]string{"x": whole[:700<<10]}}
		for j, object := range []client.Object{progress, &corev1.ConfigMap{ObjectMeta: meta("report", "report")}, pod, test} {
			made.Go(func() { failed[4*i+j] = admin.Create(context.Background(), object) })
		}
		if i%8 == 7 {
			made.Wait()
		}
	}
	made.Wait()
	for _, err := range failed {
		l.must(err)
	}
	l.t.Cleanup(func() {
		l.must(admin.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, client.InNamespace(l.namespace), client.HasLabels{v1alpha1.LabelUID}))
	})
}

// reportBomb writes a Report that is small as long as it is packed.
func (r *runner) reportBomb() {
	r.l.t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := fmt.Fprintf(w, `{"version":%q,"ending":"Completed","plan":{},"windows":[{}`, report.Version)
	r.l.must(err)
	chunk := []byte(strings.Repeat(",{}", 1<<16))
	for range 340 {
		_, err := w.Write(chunk)
		r.l.must(err)
	}
	_, err = w.Write([]byte("]}"))
	r.l.must(err)
	r.l.must(w.Close())
	envelope := delivery.Envelope{Digest: "sha256:0", Ending: string(report.Completed), Attempt: int(r.attempt), Final: true}
	r.writeOriginal(func(c *corev1.ConfigMap) {
		c.BinaryData, c.Annotations, c.Immutable = map[string][]byte{delivery.KeyReport: packed.Bytes()}, envelope.Annotations(), new(true)
	})
}

// mostResident is the most of its memory that ever was resident, in bytes (VmHWM of proc_pid_status(5)).
func (p *program) mostResident() (most int64) {
	p.l.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	p.l.must(err)
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	p.l.t.Fatalf("no VmHWM in\n%s", status)
	return 0
}
