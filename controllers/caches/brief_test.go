package caches

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
)

var megabyte = strings.Repeat("x", 1<<20)

// swollen is metadata into which somebody put what they could.
func swollen() metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: "lab", Name: "swollen", UID: "1", ResourceVersion: "7", Finalizers: []string{megabyte}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: megabyte}},
		Labels: map[string]string{v1alpha1.LabelUID: "1"}, Annotations: map[string]string{"linerate.dev/digest": "sha256:1", "k8s.v1.cni.cncf.io/network-status": "[]", "x/large": megabyte},
	}
	for i := range 2000 {
		m.Labels[fmt.Sprintf("x/%04d", i)] = "x"
		m.Annotations[fmt.Sprintf("linerate.dev/%04d", i)] = strings.Repeat("x", 500)
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Kind: "LoadTest", Name: fmt.Sprint(i), UID: "1", Controller: new(i == 1000)})
	}
	return m
}

// What a hostile tenant puts into objects isn't kept, whatever the kind.
func TestNoObjectTakesMuchMemory(t *testing.T) {
	var containers []corev1.Container
	for i := range 20_000 {
		containers = append(containers, corev1.Container{Name: fmt.Sprint(i), Image: "i", Env: []corev1.EnvVar{{Name: "x", Value: "x"}}})
	}
	large := v1alpha1.Freeform{"spec": apiextensionsv1.JSON{Raw: []byte(`"` + megabyte + `"`)}}
	child := swollen()
	child.Finalizers = nil // an API server bounds those of tests, and they are kept: a patch replaces them all
	for name, object := range map[string]any{
		"a pod":                         &corev1.Pod{ObjectMeta: swollen(), Spec: corev1.PodSpec{Containers: containers, InitContainers: containers, Volumes: make([]corev1.Volume, 20_000)}},
		"a Job":                         &batchv1.Job{ObjectMeta: swollen(), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}}}},
		"a Progress":                    &corev1.ConfigMap{ObjectMeta: swollen(), Data: map[string]string{delivery.KeyProgress: megabyte, "more": megabyte}, BinaryData: map[string][]byte{"x": []byte(megabyte)}},
		"a ConfigMap's metadata":        &metav1.PartialObjectMetadata{ObjectMeta: swollen()},
		"a LoadTest":                    &v1alpha1.LoadTest{ObjectMeta: child, Spec: v1alpha1.LoadTestSpec{DUT: v1alpha1.DUTSpec{Pod: &v1alpha1.DUTPodSpec{Template: large}}}},
		"a suite":                       &v1alpha1.LoadTestSuite{ObjectMeta: child, Spec: v1alpha1.LoadTestSuiteSpec{Template: v1alpha1.LoadTestTemplate{Spec: large}}},
		"a node":                        &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{megabyte}}}}},
		"a NetworkAttachmentDefinition": &unstructured.Unstructured{Object: map[string]any{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": map[string]any{"namespace": "lab", "name": "n", "annotations": map[string]any{"x/y": megabyte}}, "spec": map[string]any{"config": megabyte, "more": megabyte}}},
	} {
		t.Run(name, func(t *testing.T) {
			brief, err := inBrief(object)
			if err != nil {
				t.Fatal(err)
			}
			once, err := json.Marshal(brief)
			if err != nil || len(once) > 256<<10 {
				t.Errorf("%d bytes are kept (%v)", len(once), err)
			}
			if brief, err = inBrief(brief); err != nil {
				t.Fatal(err)
			}
			if twice, err := json.Marshal(brief); err != nil || string(twice) != string(once) {
				t.Errorf("the second time something else is kept (%v): %d bytes, and %d", err, len(twice), len(once))
			}
		})
	}
}

// What the operator reads stays.
func TestWhatIsReadOfAPodIsKept(t *testing.T) {
	limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{"lab.example/west": resource.MustParse("1")}}
	status := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", InitContainerStatuses: []corev1.ContainerStatus{{Name: "linerate-ports"}}}
	about := metav1.ObjectMeta{
		Name: "p", Labels: map[string]string{v1alpha1.LabelUID: "1", v1alpha1.LabelKueueManaged: "true", "app": "x"}, Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": "[]", "linerate.dev/links": "west"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "LoadTest", Name: "t", UID: "1", Controller: new(true)}}, DeletionGracePeriodSeconds: new(int64(30)),
	}
	spec := corev1.PodSpec{
		NodeName: "a", SchedulingGates: []corev1.PodSchedulingGate{{Name: v1alpha1.GateKueue}},
		Containers:     []corev1.Container{{Name: "trex", Image: "i", Resources: limits}},
		InitContainers: []corev1.Container{{Name: "beside", Image: "j", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
	}
	want := &corev1.Pod{ObjectMeta: *about.DeepCopy(), Spec: *spec.DeepCopy(), Status: *status.DeepCopy()}
	spec.Containers[0].Args, spec.Containers[0].Env, spec.Volumes = []string{"x"}, []corev1.EnvVar{{Name: "x"}}, []corev1.Volume{{Name: "x"}}
	got, err := inBrief(&corev1.Pod{ObjectMeta: about, Spec: spec, Status: status})
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A patch of a test's finalizers or owners replaces them all: those of others must be in it.
func TestFinalizersAndOwnersOfATestStay(t *testing.T) {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"others/one"}, OwnerReferences: []metav1.OwnerReference{{Name: "a"}, {Name: "b", Controller: new(true)}}}}
	want := test.DeepCopy()
	got, err := inBrief(test)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Lists of metadata and of kinds that Go doesn't know come in pages as well.
func TestPagesOfEveryKindOfList(t *testing.T) {
	network := map[string]any{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"config": "{}", "more": "x"}}
	for name, page := range map[string]runtime.Object{
		"metadata":     &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "on"}, Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"x"}}}}},
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

// paged is an API server that has so many ConfigMaps, and counts what it is asked for.
type paged struct {
	toolscache.ListerWatcher
	objects, most, lists int
}

func (p *paged) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	p.lists++
	var from int
	if options.Continue != "" {
		if _, err := fmt.Sscan(options.Continue, &from); err != nil {
			return nil, err
		}
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for i := from; i < p.objects && (options.Limit == 0 || int64(len(list.Items)) < options.Limit); i++ {
		list.Items = append(list.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}, Data: map[string]string{"more": "x", delivery.KeyProgress: "{}"}})
	}
	p.most = max(p.most, len(list.Items))
	if next := from + len(list.Items); next < p.objects {
		list.Continue = fmt.Sprint(next)
	}
	return list, nil
}

func (p *paged) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// An API server that doesn't stream lists is asked for a page at a time.
func TestListsComeInPages(t *testing.T) {
	for _, objects := range []int{0, 1, pageSize, 5*pageSize + 1} {
		server := &paged{objects: objects}
		got, err := toolscache.ToListerWatcherWithContext(inPages(server)).ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		list := got.(*corev1.ConfigMapList)
		if len(list.Items) != objects || server.most > pageSize || server.lists != max(1, (objects+pageSize-1)/pageSize) || list.ResourceVersion != "7" || list.Continue != "" {
			t.Errorf("of %d objects %d are listed, in %d pages of %d at most", objects, len(list.Items), server.lists, server.most)
		}
		for i := range list.Items {
			if m := &list.Items[i]; m.Name != fmt.Sprint(i) || len(m.Data) != 1 {
				t.Fatalf("object %d is %+v", i, m)
			}
		}
	}
}
