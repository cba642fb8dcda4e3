//go:build full

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

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// mostResident is how much memory the manager may ever have had in TestAHostileTenantTakesNoMemory: it has 158 MB, of these 70 MB without hostile objects. When caches kept 64 KiB of labels and as
// much of annotations of each object, whatever its kind, and all of its owners, it was 313 MB.
const mostResident = 220 << 20

// hostile is how many objects of each kind a tenant fills.
const hostile = 60

// A tenant who may make objects puts linerate's labels on them and all into them that an API server takes, and has a runner write a Report that is 66 kB packed
// and 22 million windows unpacked: the manager takes no more memory for it, and another tenant's test goes on.
// The 360 objects take an API server two minutes of processor time. That each of them, and each document, takes no memory is proven in controllers/caches (TestNoObjectTakesMuchMemory,
// TestNoLoadTestTakesMuchMemory, TestListsComeInPages) and internal/document/delivery (TestADocumentThatWasMadeToFillMemoryTakesNone and its like), for each change.
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

// fill makes so many objects of each kind that the caches keep, with linerate's labels, and as much in each as an API server takes: labels and annotations of linerate's own, owners,
// containers that request devices, Jobs' selectors, networks' configurations, and LoadTests that are refused for what they have, or have a little less.
func (l *lab) fill(count int) {
	l.t.Helper()
	var made sync.WaitGroup
	kinds := []func(i int) client.Object{l.hostileProgress, l.hostileConfigMap, l.hostilePod, l.hostileJob, l.hostileNetwork, l.hostileTest}
	failed := make([]error, len(kinds)*count)
	for i := range count {
		for j, kind := range kinds {
			object := kind(i)
			made.Go(func() { failed[len(kinds)*i+j] = admin.Create(context.Background(), object) })
		}
		if i%4 == 3 {
			made.Wait()
		}
	}
	made.Wait()
	for _, err := range failed {
		l.must(err)
	}
	l.t.Cleanup(func() {
		for _, kind := range []client.Object{&corev1.ConfigMap{}, &batchv1.Job{}} {
			l.must(admin.DeleteAllOf(context.Background(), kind, client.InNamespace(l.namespace), client.HasLabels{v1alpha1.LabelUID}, client.PropagationPolicy("Background")))
		}
	})
}

// hostileMeta has what an API server takes in the metadata of any object: 256 KiB of annotations, and some 700 KiB of labels and owners.
func (l *lab) hostileMeta(kind, role string, i int) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Namespace: l.namespace, Name: fmt.Sprintf("%s-%03d", kind, i), Annotations: map[string]string{},
		Labels: map[string]string{v1alpha1.LabelUID: "of-nobody", v1alpha1.LabelTest: "nobodys", v1alpha1.LabelRole: role},
	}
	for n := range 200 {
		meta.Annotations[fmt.Sprintf("linerate.dev/large-%03d", n)] = strings.Repeat("x", 1000)
		meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestKind, Name: strings.Repeat("x", 1000), UID: types.UID(strings.Repeat("x", 1000)), Controller: new(n == 0),
		})
	}
	for n := range 3000 {
		meta.Labels[fmt.Sprintf("linerate.dev/%04d", n)] = strings.Repeat("x", 60)
	}
	return meta
}

func (l *lab) hostileProgress(i int) client.Object {
	return &corev1.ConfigMap{ObjectMeta: l.hostileMeta("progress", "progress", i), Data: map[string]string{delivery.KeyProgress: strings.Repeat("x", 300<<10)}}
}

func (l *lab) hostileConfigMap(i int) client.Object {
	return &corev1.ConfigMap{ObjectMeta: l.hostileMeta("report", "report", i)}
}

func (l *lab) hostilePod(i int) client.Object {
	pod := &corev1.Pod{ObjectMeta: l.hostileMeta("pod", "generator", i)}
	pod.OwnerReferences = pod.OwnerReferences[:20]
	clear(pod.Annotations)
	for n := range 60 {
		pod.Annotations[fmt.Sprintf("k8s.v1.cni.cncf.io/%03d", n)] = strings.Repeat("x", 4000)
	}
	devices := corev1.ResourceList{}
	for n := range 8 {
		devices[corev1.ResourceName(fmt.Sprintf("lab.example/%d", n))] = resource.MustParse("1")
	}
	for c := range 300 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: fmt.Sprint("c", c), Image: strings.Repeat("i", 1000), Resources: corev1.ResourceRequirements{Requests: devices, Limits: devices},
		})
	}
	for n := range 200 {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: fmt.Sprintf("lab.example/never-%03d", n)})
	}
	return pod
}

func (l *lab) hostileJob(i int) client.Object {
	job := &batchv1.Job{ObjectMeta: l.hostileMeta("job", "runner", i)}
	of := map[string]string{}
	for n := range 2000 {
		of[fmt.Sprintf("lab.example/%04d", n)] = strings.Repeat("x", 60)
	}
	job.Spec = batchv1.JobSpec{
		Suspend: new(true), ManualSelector: new(true), Selector: &metav1.LabelSelector{MatchLabels: of}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: of}},
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	return job
}

func (l *lab) hostileNetwork(i int) client.Object {
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"})
	meta := l.hostileMeta("network", "network", i)
	network.SetNamespace(meta.Namespace)
	network.SetName(meta.Name)
	network.SetAnnotations(meta.Annotations)
	network.Object["spec"] = map[string]any{"config": `{"type": "` + strings.Repeat("x", 900<<10) + `"}`}
	return network
}

// hostileTest is one of four: a template that is kept, as it is no larger than may be; one that isn't; an annotation for generators' pods; and metadata alone.
func (l *lab) hostileTest(i int) client.Object {
	return minimal(fmt.Sprintf("test-%03d", i), func(test *v1alpha1.LoadTest) {
		test.Namespace, test.Spec.Suspend = l.namespace, true
		template := func(bytes int) v1alpha1.DUTSpec {
			form := v1alpha1.Freeform{"x": apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", bytes) + `"`)}}
			return v1alpha1.DUTSpec{Type: v1alpha1.DUTPod, Pod: &v1alpha1.DUTPodSpec{Template: form}}
		}
		switch i % 4 {
		case 0:
			test.Spec.DUT = template(v1alpha1.MostFreeform - 100)
		case 1:
			test.Spec.DUT = template(1000 << 10)
		case 2:
			test.Spec.Generator.Engine = v1alpha1.EngineSoftware
			test.Spec.Generator.Pod = &v1alpha1.GeneratorPodSpec{Annotations: map[string]string{"x": strings.Repeat("x", 1000<<10)}}
		default:
			meta := l.hostileMeta("", "", i)
			test.Labels, test.Annotations, test.OwnerReferences = meta.Labels, meta.Annotations, meta.OwnerReferences
		}
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
