package caches

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

var megabyte = strings.Repeat("x", 1<<20)

// swelling fills objects with texts of this length, and lists and maps with this many entries, also within each
// other. Most of the result is more than an API server accepts.
type swelling struct{ text, entries int }

// fill fills everything in v, with keys of linerate's own. Texts that have a type of their own are short, as
// the API server bounds them. An owner's name isn't bounded.
func (s swelling) fill(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // numbers stay as they are, and objects have nothing else
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		long := s.text
		if v.Type() != reflect.TypeFor[string]() && v.Type() != reflect.TypeFor[types.UID]() {
			long = min(long, 300)
		}
		v.SetString(megabyte[:long])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		s.fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.TypeMeta]() || v.Type() == reflect.TypeFor[metav1.Time]() ||
			v.Type() == reflect.TypeFor[resource.Quantity]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				s.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		element := reflect.New(v.Type().Elem()).Elem()
		s.fill(element)
		v.Set(reflect.MakeSlice(v.Type(), s.entries, s.entries))
		for i := range s.entries {
			v.Index(i).Set(element)
		}
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		s.fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		for i := range s.entries {
			v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("linerate.dev/%05d", i)).Convert(v.Type().Key()), element)
		}
	}
}

// named gives a swollen object what the API server gives it, and a controller among its owners.
func named(m *metav1.ObjectMeta) {
	m.Namespace, m.Name, m.UID, m.ResourceVersion = "lab", "swollen", "1", "7"
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].Controller = new(i == len(m.OwnerReferences)-1)
	}
	if len(m.Annotations) > 0 {
		m.Annotations["k8s.v1.cni.cncf.io/network-status"] = megabyte[:min(60<<10, len(megabyte))]
	}
}

// weigh is how many bytes of memory v takes beside itself. Shared memory counts each time, and a map has groups
// of eight entries that are at most half empty.
func weigh(v reflect.Value) (bytes int) {
	switch v.Kind() { //nolint:exhaustive // all else takes what it takes where it is
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Type() == reflect.TypeFor[*time.Location]() {
			return 0
		}
		return int(v.Elem().Type().Size()) + weigh(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += weigh(v.Field(i))
		}
	case reflect.Slice:
		bytes = v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			bytes += weigh(v.Index(i))
		}
	case reflect.Map:
		if v.Len() > 0 {
			bytes = 48 + (max(8, 2*v.Len()))*int(v.Type().Key().Size()+v.Type().Elem().Size())
		}
		for entries := v.MapRange(); entries.Next(); {
			bytes += weigh(entries.Key()) + weigh(entries.Value())
		}
	}
	return bytes
}

// An object in a cache takes no more than its kind's bound, whatever a tenant writes. Quotas need to multiply
// by nothing else.
func TestNoObjectTakesMuchMemory(t *testing.T) {
	kinds := map[string]struct {
		make     func(swelling) any
		maxBytes int // bytes
	}{
		"a pod": {func(s swelling) any {
			o := &corev1.Pod{}
			s.fill(reflect.ValueOf(o).Elem())
			named(&o.ObjectMeta)
			o.Spec.NodeName, o.Status.PodIP = "node", "192.0.2.1" // an API server takes no others
			return o
		}, 288 << 10},
		"a Job": {func(s swelling) any {
			o := &batchv1.Job{}
			s.fill(reflect.ValueOf(o).Elem())
			named(&o.ObjectMeta)
			return o
		}, 20 << 10},
		"a ConfigMap's metadata": {func(s swelling) any {
			o := &metav1.PartialObjectMetadata{}
			s.fill(reflect.ValueOf(&o.ObjectMeta).Elem())
			named(&o.ObjectMeta)
			return o
		}, 20 << 10},
		"a Progress": {func(s swelling) any {
			o := &corev1.ConfigMap{}
			s.fill(reflect.ValueOf(o).Elem())
			named(&o.ObjectMeta)
			o.Data[delivery.KeyProgress] = megabyte[:min(64<<10, 100*s.text)]
			return o
		}, 84 << 10},
		// its schema bounds the rest, but for what is in forms of others: see below
		"a LoadTest's metadata": {func(s swelling) any {
			o := &v1alpha1.LoadTest{}
			s.fill(reflect.ValueOf(&o.ObjectMeta).Elem())
			named(&o.ObjectMeta)
			return o
		}, 20 << 10},
		"a suite's metadata": {func(s swelling) any {
			o := &v1alpha1.LoadTestSuite{}
			s.fill(reflect.ValueOf(&o.ObjectMeta).Elem())
			named(&o.ObjectMeta)
			return o
		}, 20 << 10},
		"a network": {func(s swelling) any {
			var annotations map[string]string
			s.fill(reflect.ValueOf(&annotations).Elem())
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "k8s.cni.cncf.io/v1",
				"kind": "NetworkAttachmentDefinition", "metadata": map[string]any{"namespace": "lab", "name": "n"},
				"spec": map[string]any{"config": megabyte[:s.text], "more": megabyte}, "more": megabyte}}
			o.SetAnnotations(annotations)
			return o
		}, 80 << 10},
	}
	for name, kind := range kinds {
		for _, s := range []swelling{{1 << 20, 300}, {60 << 10, 1}, {4 << 10, 70}, {800, 8}, {300, 60}, {100, 1000},
			{20, 5}, {10, 3000}, {0, 100}} {
			t.Run(fmt.Sprintf("%s with texts of %d bytes, %d of each", name, s.text, s.entries), func(t *testing.T) {
				brief, err := inBrief(kind.make(s))
				if err != nil {
					t.Fatal(err)
				}
				if bytes := weigh(reflect.ValueOf(brief)); bytes > kind.maxBytes {
					t.Errorf("it takes %d bytes of memory, and %d is the bound", bytes, kind.maxBytes)
				}
				text, err := json.Marshal(brief)
				if err != nil {
					t.Fatal(err)
				}
				twice, err := inBrief(brief)
				if err != nil {
					t.Fatal(err)
				}
				if repeated, err := json.Marshal(twice); err != nil || string(repeated) != string(text) {
					t.Errorf("the second time something else is kept (%v): %d bytes, and %d", err, len(repeated),
						len(text))
				}
			})
		}
	}
}

// The parts of a LoadTest that no schema bounds are bounded here.
func TestNoLoadTestTakesMuchMemory(t *testing.T) {
	large := v1alpha1.Freeform{"spec": apiextensionsv1.JSON{Raw: []byte(`"` + megabyte + `"`)}}
	for name, object := range map[string]any{
		"a template":    &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{DUT: v1alpha1.DUTSpec{Pod: &v1alpha1.DUTPodSpec{Template: large}}}},
		"an annotation": &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{Generator: v1alpha1.GeneratorSpec{Pod: &v1alpha1.GeneratorPodSpec{Annotations: map[string]string{"x": megabyte}}}}},
		"a suite":       &v1alpha1.LoadTestSuite{Spec: v1alpha1.LoadTestSuiteSpec{Template: v1alpha1.LoadTestTemplate{Spec: large}}},
		"a node's images": &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
			Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{megabyte}}}}},
	} {
		brief, err := inBrief(object)
		if err != nil {
			t.Fatal(err)
		}
		if bytes := weigh(reflect.ValueOf(brief)); bytes > 10<<10 {
			t.Errorf("%s: %d bytes are kept", name, bytes)
		}
	}
}

// A user who may change labels and annotations adds as many as there is room for, with names that sort before
// linerate's.
func TestNobodyCrowdsOutWhatIsLinerates(t *testing.T) {
	m := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	ours := map[string]string{
		v1alpha1.LabelUID: "1", v1alpha1.LabelKueueQueue: "q", "linerate.dev/links": "west,east",
		"k8s.v1.cni.cncf.io/network-status": "[]", "app.kubernetes.io/managed-by": "linerate",
		"argocd.argoproj.io/tracking-id": "x", "objectset.rio.cattle.io/hash": "x",
		"config.k8s.io/owning-inventory": "x",
	}
	maps.Copy(m.Labels, ours)
	maps.Copy(m.Annotations, ours)
	for i := range 3000 {
		for _, domain := range []string{"argocd.argoproj.io", "a", "app.kubernetes.io", "kustomize.toolkit.fluxcd.io"} {
			key := fmt.Sprintf("%s/0%04d", domain, i)
			m.Labels[key], m.Annotations[key] = "x", "x"
		}
		m.Annotations["k8s.v1.cni.cncf.io/"+fmt.Sprint(i)] = megabyte
	}
	for name, object := range map[string]metav1.Object{"pod": &corev1.Pod{ObjectMeta: *m.DeepCopy()},
		"LoadTest":  &v1alpha1.LoadTest{ObjectMeta: *m.DeepCopy()},
		"ConfigMap": &metav1.PartialObjectMetadata{ObjectMeta: *m.DeepCopy()}} {
		if _, err := inBrief(object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ours, object.GetLabels()) + cmp.Diff(ours, object.GetAnnotations()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	for i := range 3000 { // nor by more of others' that are read
		m.Labels[fmt.Sprintf("kueue.x-k8s.io/0%04d", i)], m.Annotations[fmt.Sprintf("kueue.x-k8s.io/0%04d", i)] = "x",
			"x"
	}
	pod := &corev1.Pod{ObjectMeta: m}
	if _, err := inBrief(pod); err != nil || pod.Labels[v1alpha1.LabelUID] == "" ||
		pod.Annotations["linerate.dev/links"] == "" || pod.Annotations["k8s.v1.cni.cncf.io/network-status"] == "" {
		t.Errorf("%v, %q, %q", err, pod.Labels, pod.Annotations)
	}
}

// The cache keeps what the operator reads of a pod.
func TestWhatIsReadOfAPodIsKept(t *testing.T) {
	limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{"lab.example/west": resource.MustParse("1")}}
	status := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "linerate-ports"}}}
	objectMeta := metav1.ObjectMeta{
		Name: "p", Labels: map[string]string{v1alpha1.LabelUID: "1", v1alpha1.LabelKueueManaged: "true"},
		Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": "[]",
			"linerate.dev/links": "west"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "LoadTest", Name: "t", UID: "1",
			Controller: new(true)}},
		DeletionGracePeriodSeconds: new(int64(30)),
	}
	spec := corev1.PodSpec{
		NodeName: "a", SchedulingGates: []corev1.PodSchedulingGate{{Name: v1alpha1.GateKueue}},
		Containers: []corev1.Container{{Name: "trex", Image: "i", Resources: limits}},
		InitContainers: []corev1.Container{{Name: "beside", Image: "j",
			RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
	}
	want := &corev1.Pod{ObjectMeta: *objectMeta.DeepCopy(), Spec: *spec.DeepCopy(), Status: *status.DeepCopy()}
	objectMeta.Labels["app"] = "x"
	spec.Overhead, spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("250m")},
		corev1.ResourceList{"cpu": resource.MustParse("1")}
	spec.Containers[0].Args, spec.Containers[0].Env, spec.Volumes = []string{"x"}, []corev1.EnvVar{{Name: "x"}},
		[]corev1.Volume{{Name: "x"}}
	got, err := inBrief(&corev1.Pod{ObjectMeta: objectMeta, Spec: spec, Status: status})
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The cache keeps of a node whether it takes pods, and what it has for them.
func TestWhatIsReadOfANodeIsKept(t *testing.T) {
	want := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}, Spec: corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"intel.com/west": resource.MustParse("4")},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	node := want.DeepCopy()
	node.Labels, node.Spec.Taints = map[string]string{"lab": "west"},
		[]corev1.Taint{{Key: "lab/kept", Effect: corev1.TaintEffectNoSchedule}}
	node.Annotations, node.Spec.PodCIDR, node.Status.Capacity = map[string]string{"x": "y"}, "10.0.0.0/24",
		node.Status.Allocatable
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeMemoryPressure,
		Status: corev1.ConditionFalse})
	got, err := inBrief(node)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The cache keeps of a test's finalizers and owners linerate's own, and the suite.
func TestWhatIsReadOfATestIsKept(t *testing.T) {
	suite := metav1.OwnerReference{Kind: "LoadTestSuite", Name: "b", UID: "2", Controller: new(true)}
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Name: "t", Generation: 3, DeletionTimestamp: new(metav1.Unix(1, 0)), Finalizers: []string{"others/one",
			v1alpha1.FinalizerTeardown},
		Labels:          map[string]string{v1alpha1.LabelProduct: "VPP", "team": "x"},
		OwnerReferences: []metav1.OwnerReference{{Name: "a"}, suite},
	}}
	want := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Name: "t", Generation: 3, DeletionTimestamp: new(metav1.Unix(1, 0)),
		Finalizers: []string{v1alpha1.FinalizerTeardown},
		Labels:     map[string]string{v1alpha1.LabelProduct: "VPP"}, OwnerReferences: []metav1.OwnerReference{suite},
	}}
	got, err := inBrief(test)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The cache keeps how a pod's containers ended, and why.
func TestWhatIsReadOfAPodsEndIsKept(t *testing.T) {
	device := []corev1.ResourceStatus{{Name: "intel.com/west",
		Resources: []corev1.ResourceHealth{{ResourceID: "0000:3b:02.0"}}}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error",
		Message: strings.Repeat("y", 4<<10)}}
	pod := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource", PodIP: "192.0.2.1",
		QOSClass: corev1.PodQOSGuaranteed, StartTime: new(metav1.Unix(1, 0)),
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
			LastTransitionTime: metav1.Unix(2, 0)}},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "linerate-ports", State: ended,
			AllocatedResourcesStatus: device}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "trex", Image: "i", ImageID: "i@sha256:1",
			RestartCount: 1, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off"}}}},
	}}
	want := pod.DeepCopy()
	pod.Status.HostIP, pod.Status.ContainerStatuses[0].ContainerID,
		pod.Status.InitContainerStatuses[0].State.Terminated.ContainerID = "192.0.2.2", "containerd://1",
		"containerd://2"
	got, err := inBrief(pod)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The cache keeps a Job's conditions.
func TestWhatIsReadOfAJobIsKept(t *testing.T) {
	conditions := []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue,
		Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit"}}
	want := &batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(true)}, Status: batchv1.JobStatus{Conditions: conditions}}
	got, err := inBrief(&batchv1.Job{
		Spec: batchv1.JobSpec{Suspend: new(true),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"x": megabyte}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "x"}}},
		Status: batchv1.JobStatus{Conditions: slices.Clone(conditions), CompletedIndexes: megabyte},
	})
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A pass is due if something changed that the cache keeps, and not for what others write beside it.
func TestWhichChangesOfATestAreLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.LoadTest)
		looked bool
	}{
		"nothing, listed anew":            {func(test *v1alpha1.LoadTest) { test.ResourceVersion = "7" }, true},
		"an annotation that nobody reads": {func(test *v1alpha1.LoadTest) { test.Annotations = map[string]string{"others/counter": "2"} }, false},
		"a label that nobody reads":       {func(test *v1alpha1.LoadTest) { test.Labels = map[string]string{"team": "x"} }, false},
		"another's finalizer": {func(test *v1alpha1.LoadTest) { test.Finalizers = []string{"others/one"} },
			false},
		"who wrote what": {func(test *v1alpha1.LoadTest) { test.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}} }, false},
		"who tracks it": {func(test *v1alpha1.LoadTest) {
			test.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "x"}
		}, true},
		"its queue":  {func(test *v1alpha1.LoadTest) { test.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team-a"} }, true},
		"its spec":   {func(test *v1alpha1.LoadTest) { test.Spec.Stop = true }, true},
		"its status": {func(test *v1alpha1.LoadTest) { test.Status.Attempt = 2 }, true},
		"that it is to go": {func(test *v1alpha1.LoadTest) { test.DeletionTimestamp = new(metav1.Unix(1, 0)) },
			true},
		"linerate's own finalizer":                 {func(test *v1alpha1.LoadTest) { test.Finalizers = []string{v1alpha1.FinalizerTeardown} }, true},
		"another one of its name, made just after": {func(test *v1alpha1.LoadTest) { test.UID = "2" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			old := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "t", UID: "1", ResourceVersion: "7"}}
			updated := old.DeepCopy()
			updated.ResourceVersion = "8"
			c.change(updated)
			for _, o := range []any{old, updated} {
				if _, err := inBrief(o); err != nil {
					t.Fatal(err)
				}
			}
			if looked := Changes().Update(event.UpdateEvent{ObjectOld: old, ObjectNew: updated}); looked != c.looked {
				t.Errorf("it is looked at: %v", looked)
			}
			if old.ResourceVersion != "7" {
				t.Error("and what is in the cache was changed")
			}
		})
	}
}

// Lists of metadata and of kinds that Go doesn't know come in pages as well.
func TestPagesOfEveryKindOfList(t *testing.T) {
	network := map[string]any{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
		"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"config": "{}", "more": "x"}}
	for name, page := range map[string]runtime.Object{
		"metadata": &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "on"},
			Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a",
				Finalizers: []string{"x"}}}}},
		"unstructured": &unstructured.UnstructuredList{Object: map[string]any{"metadata": map[string]any{"continue": "on"}}, Items: []unstructured.Unstructured{{Object: network}}},
	} {
		items, next, err := pageInBrief(page)
		if err != nil || next != "on" || len(items) != 1 {
			t.Fatalf("%s: %d items, and then %q (%v)", name, len(items), next, err)
		}
		if err := meta.SetList(page, append(items, items...)); err != nil || meta.LenList(page) != 2 {
			t.Errorf("%s: %d items (%v)", name, meta.LenList(page), err)
		}
		text, err := json.Marshal(page)
		if err != nil || !strings.Contains(string(text), `"a"`) || strings.Contains(string(text), `"x"`) {
			t.Errorf("%s: %s (%v)", name, text, err)
		}
	}
}

// paged is an API server that has so many ConfigMaps, and counts its requests.
type paged struct {
	toolscache.ListerWatcher
	objects, largestPage, lists int
}

func (p *paged) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	p.lists++
	var first int
	if options.Continue != "" {
		if _, err := fmt.Sscan(options.Continue, &first); err != nil {
			return nil, err
		}
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for i := first; i < p.objects && (options.Limit == 0 || int64(len(list.Items)) < options.Limit); i++ {
		list.Items = append(list.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)},
			Data: map[string]string{"more": "x", delivery.KeyProgress: "{}"}})
	}
	p.largestPage = max(p.largestPage, len(list.Items))
	if next := first + len(list.Items); next < p.objects {
		list.Continue = fmt.Sprint(next)
	}
	return list, nil
}

func (p *paged) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// An API server that doesn't stream lists answers one page at a time.
func TestListsComeInPages(t *testing.T) {
	for _, objects := range []int{0, 1, pageSize, 5*pageSize + 1} {
		server := &paged{objects: objects}
		got, err := toolscache.ToListerWatcherWithContext(inPages(server)).ListWithContext(t.Context(),
			metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		list := got.(*corev1.ConfigMapList)
		if len(list.Items) != objects || server.largestPage > pageSize ||
			server.lists != max(1, (objects+pageSize-1)/pageSize) || list.ResourceVersion != "7" ||
			list.Continue != "" {
			t.Errorf("of %d objects %d are listed, in %d pages of %d at most", objects, len(list.Items), server.lists,
				server.largestPage)
		}
		for i := range list.Items {
			if m := &list.Items[i]; m.Name != fmt.Sprint(i) || len(m.Data) != 1 {
				t.Fatalf("object %d is %+v", i, m)
			}
		}
	}
}
