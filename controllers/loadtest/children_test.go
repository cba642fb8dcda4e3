package loadtest

import (
	"maps"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

const (
	operatorNamespace = "linerate-system"
	pod               = "t-x-1-runner-x7k2p"
)

// lonely is a test of namespace lab.
func lonely(uid types.UID) *v1alpha1.LoadTest {
	return &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "t", UID: uid}}
}

// document is a ConfigMap with the content of each document of a run, which is a Progress, an envelope, an
// order, and labels.
func document(t *testing.T, namespace, name string, uid types.UID) *corev1.ConfigMap {
	t.Helper()
	progress, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 1, Phase: "Ramping", Runner: pod,
		RunnerUID: "the-pod"})
	if err != nil {
		t.Fatal(err)
	}
	annotations := delivery.Envelope{Digest: "sha256:0", Ending: "Completed", Attempt: 1, Final: true, Runner: pod,
		RunnerUID: "the-pod"}.Annotations()
	maps.Copy(annotations, delivery.Order{Plan: "sha256:1"}.Annotations())
	return &corev1.ConfigMap{Data: progress, ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + name + string(uid)), Annotations: annotations,
		Labels: map[string]string{v1alpha1.LabelUID: string(uid), v1alpha1.LabelTest: "t",
			v1alpha1.LabelNamespace: "lab", v1alpha1.LabelRole: "progress"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "LoadTest", Name: "t", UID: uid, Controller: new(true)}},
	}}
}

// looking is an operator in its own namespace that reads what is stored.
func looking(t *testing.T, stored ...client.Object) *Reconciler {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	return NewReconciler(fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).Build(), nil,
		Options{Namespace: operatorNamespace})
}

// Documents of a run count in the operator's own namespace, by their names there. The same documents in the
// test's namespace, which its editors may make, don't count.
func TestDocumentsCountInTheOperatorsNamespaceOnly(t *testing.T) {
	test := lonely("uid")
	names := []string{manifests.ProgressName(test, 1), manifests.OriginalName(test, 1), manifests.PlanName(test, 1)}
	for where, c := range map[string]struct {
		namespace string
		names     []string
		count     bool
	}{
		"in the operator's own namespace": {operatorNamespace, names, true},
		"in the test's":                   {"lab", names, false},
		"by other names":                  {operatorNamespace, []string{"a-progress", "a-report", "a-plan"}, false},
	} {
		t.Run(where, func(t *testing.T) {
			var stored []client.Object
			for _, name := range c.names {
				stored = append(stored, document(t, c.namespace, name, "uid"))
			}
			found, err := looking(t, stored...).children(t.Context(), test)
			if err != nil {
				t.Fatal(err)
			}
			if got := found.children.Progress != nil; got != c.count {
				t.Errorf("the Progress is taken for the test's: %v", got)
			}
			if got := found.children.Envelope != nil; got != c.count {
				t.Errorf("the Report is taken for the test's: %v", got)
			}
			if got := found.children.Order != nil; got != c.count {
				t.Errorf("the Plan is taken for the test's: %v", got)
			}
		})
	}
}

// Anyone who may create pods in the test's namespace may give them its labels.
func TestAPodThatOnlyBearsTheLabelsIsNoChild(t *testing.T) {
	labels := map[string]string{v1alpha1.LabelUID: "uid", v1alpha1.LabelRole: "generator"}
	forged := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "forged", UID: "forged",
		Labels: labels}}
	owned := forged.DeepCopy()
	owned.Name, owned.UID, owned.OwnerReferences = "made", "made", []metav1.OwnerReference{{Kind: v1alpha1.LoadTestKind,
		Name: "t", UID: "uid", Controller: new(true)}}
	byJob := forged.DeepCopy()
	byJob.Name, byJob.UID, byJob.Labels = "by-a-job", "by-a-job", map[string]string{v1alpha1.LabelUID: "uid",
		v1alpha1.LabelRole: "runner"}
	byJob.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "t-1-runner", UID: "job",
		Controller: new(true)}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "t-1-runner", UID: "job",
		Labels: byJob.Labels, OwnerReferences: owned.OwnerReferences}}
	found, err := looking(t, forged, owned, byJob, job).children(t.Context(), lonely("uid"))
	if err != nil || len(found.children.Pods) != 1 || found.children.Pods[0].Name != "made" ||
		len(found.children.Jobs) > 0 {
		t.Errorf("%v, %+v, %+v", err, found.children.Pods, found.children.Jobs)
	}
}

func TestAProgressThatAnotherPodSignedIsNone(t *testing.T) {
	test := lonely("uid")
	progress := document(t, operatorNamespace, manifests.ProgressName(test, 1), "uid")
	progress.Annotations[delivery.AnnotationRunner] = delivery.Signature(pod, "another")
	found, err := looking(t, progress).children(t.Context(), test)
	if err != nil || found.children.Progress != nil {
		t.Errorf("%v, %+v", err, found.children.Progress)
	}
}

// The remains of a test in the operator's own namespace are deleted when the test is gone, and when another
// test has its name. Other tests' objects stay.
func TestWhatRunsLeftIsClearedAway(t *testing.T) {
	leftovers := func(uid types.UID) []client.Object {
		test := lonely(uid)
		job := &batchv1.Job{ObjectMeta: document(t, operatorNamespace, manifests.RunnerJobName(test, 1),
			uid).ObjectMeta}
		return []client.Object{job, document(t, operatorNamespace, manifests.ProgressName(test, 1), uid),
			document(t, operatorNamespace, manifests.OriginalName(test, 1), uid)}
	}
	plan := func(uid types.UID) *corev1.ConfigMap {
		configMap := document(t, operatorNamespace, manifests.PlanName(lonely(uid), 1), uid)
		configMap.Labels[v1alpha1.LabelRole] = "plan"
		return configMap
	}
	elsewhere := document(t, "lab", "forged", "former")
	unrelated := document(t, operatorNamespace, "other", "other")
	unrelated.Labels[v1alpha1.LabelTest] = "other"
	name := types.NamespacedName{Namespace: "lab", Name: "t"}
	looked := func(r *Reconciler) error { _, err := r.observe(t.Context(), name); return err }
	for what, c := range map[string]struct {
		extra     []client.Object
		looks     func(*Reconciler) error
		remaining int
	}{
		"the test is gone": {nil, looked, 2},
		"another one has its name": {append(leftovers("uid"), plan("uid")), func(r *Reconciler) error {
			_, err := r.children(t.Context(), lonely("uid"))
			return err
		}, 6},
		"its namespace isn't looked after: another operator's may be": {[]client.Object{lonely("former")},
			func(r *Reconciler) error {
				r.options.Namespaces = caches.Namespaces{"other"}
				return looked(r)
			}, 6},
	} {
		t.Run(what, func(t *testing.T) {
			stored := append(leftovers("former"), plan("former"), elsewhere.DeepCopy(), unrelated.DeepCopy())
			r := looking(t, append(stored, c.extra...)...)
			if err := c.looks(r); err != nil {
				t.Fatal(err)
			}
			var jobs batchv1.JobList
			var documents corev1.ConfigMapList
			if err := r.client.List(t.Context(), &jobs); err != nil {
				t.Fatal(err)
			}
			if err := r.client.List(t.Context(), &documents); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range documents.Items {
				names = append(names, d.Namespace+"/"+d.Name)
			}
			for _, j := range jobs.Items {
				names = append(names, j.Namespace+"/"+j.Name)
			}
			if len(names) != c.remaining || !slices.Contains(names, "lab/forged") ||
				!slices.Contains(names, operatorNamespace+"/other") {
				t.Errorf("there are %v", names)
			}
		})
	}
}
