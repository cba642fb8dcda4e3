package loadtest

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// roleRunner is the value of the label linerate.dev/role of the runner's pod.
const roleRunner = "runner"

var (
	podKind       = corev1.SchemeGroupVersion.WithKind("Pod")
	jobKind       = batchv1.SchemeGroupVersion.WithKind("Job")
	configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// metadataKinds are the children of which it matters only that they are there.
func metadataKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
		rbacv1.SchemeGroupVersion.WithKind("Role"),
		rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		configMapKind,
	}
}

// childRef names a child. Two are the same child if their uid is.
type childRef struct {
	gvk   schema.GroupVersionKind
	name  string
	uid   types.UID
	going bool // it is being deleted
}

// String is "Kind/name", as lifecycle has it.
func (c childRef) String() string { return c.gvk.Kind + "/" + c.name }

// family collects a test's children while they are listed.
type family struct {
	test     *v1alpha1.LoadTest
	children lifecycle.Children
	refs     map[types.UID]childRef
}

func newFamily(test *v1alpha1.LoadTest) *family {
	return &family{test: test, children: lifecycle.Children{Present: map[string]bool{}}, refs: map[types.UID]childRef{}}
}

// children lists what belongs to the test: what bears its label and is owned by it.
func (r *Reconciler) children(ctx context.Context, test *v1alpha1.LoadTest) (*family, error) {
	f := newFamily(test)
	steps := []func(context.Context, *family, ...client.ListOption) error{r.listJobs, r.listPods, r.listMetadata, r.listProgress}
	for _, step := range steps {
		if err := step(ctx, f, client.InNamespace(test.Namespace), r.ofTest(test.UID)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (r *Reconciler) listPods(ctx context.Context, f *family, options ...client.ListOption) error {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, options...); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for _, pod := range pods.Items {
		if f.meet(podKind, &pod) {
			f.children.Pods = append(f.children.Pods, pod)
		}
	}
	return nil
}

func (r *Reconciler) listJobs(ctx context.Context, f *family, options ...client.ListOption) error {
	var jobs batchv1.JobList
	if err := r.client.List(ctx, &jobs, options...); err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, job := range jobs.Items {
		if f.meet(jobKind, &job) {
			f.children.Jobs = append(f.children.Jobs, job)
		}
	}
	return nil
}

func (r *Reconciler) listMetadata(ctx context.Context, f *family, options ...client.ListOption) error {
	for _, gvk := range metadataKinds() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := r.client.List(ctx, list, options...); err != nil {
			return fmt.Errorf("list %ss: %w", gvk.Kind, err)
		}
		for _, object := range list.Items {
			// By its name: a runner may change what its own test's ConfigMaps say of whose they are, and so may others.
			if f.meet(gvk, &object) && gvk == configMapKind && object.Name == manifests.ReportName(f.test.Name) {
				f.readEnvelope(object.Annotations)
			}
		}
	}
	return nil
}

func (r *Reconciler) listProgress(ctx context.Context, f *family, options ...client.ListOption) error {
	var maps corev1.ConfigMapList
	if err := r.progress.List(ctx, &maps, options...); err != nil {
		return fmt.Errorf("list progress: %w", err)
	}
	for _, object := range maps.Items {
		if object.Name != manifests.ProgressName(f.test.Name) || !f.meet(configMapKind, &object) {
			continue
		}
		progress, err := delivery.DecodeProgress(object.Data)
		if err != nil { // The runner writes it anew within seconds; whoever spoilt it takes nothing but the view of the run.
			log.FromContext(ctx).Info("progress can't be read", "configMap", object.Name, "why", err.Error())
		}
		f.children.Progress = progress
	}
	return nil
}

// meet takes a child in, if the test owns it: directly, or through its Job, which may be gone before its pod is.
func (f *family) meet(gvk schema.GroupVersionKind, object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	runners := owner != nil && owner.Kind == jobKind.Kind && object.GetLabels()[v1alpha1.LabelRole] == roleRunner
	if owner == nil || owner.UID != f.test.UID && !runners {
		return false
	}
	f.refs[object.GetUID()] = childRef{gvk: gvk, name: object.GetName(), uid: object.GetUID(), going: object.GetDeletionTimestamp() != nil}
	if gvk != podKind && gvk != jobKind {
		f.children.Present[gvk.Kind+"/"+object.GetName()] = true
	}
	return true
}

func (f *family) readEnvelope(annotations map[string]string) {
	if envelope, sealed := delivery.ReadEnvelope(annotations); sealed {
		f.children.Envelope = &envelope
	}
}

// find returns the child of this name.
func (f *family) find(kind, name string) (childRef, bool) {
	for _, ref := range f.refs {
		if ref.gvk.Kind == kind && ref.name == name {
			return ref, true
		}
	}
	return childRef{}, false
}

// Objects of other people bear no label of ours, so the caches don't have them. That such an object has a child's name shows when the API server refuses
// to create the child: from then on each pass asks the API server whose the name is, until it is free.

// checkTakenNames asks which of the names that were found taken still are.
func (r *Reconciler) checkTakenNames(ctx context.Context, test *v1alpha1.LoadTest, children *lifecycle.Children) error {
	for _, child := range r.memory.takenNames(test) {
		if err := client.IgnoreNotFound(r.checkName(ctx, test, children, child)); err != nil {
			return err
		}
	}
	return nil
}

// checkName finds out whether an object with a child's name is somebody else's, and keeps that in children. Where it is the test's own,
// it is in no cache yet. Where there is none, the error is the API server's.
func (r *Reconciler) checkName(ctx context.Context, test *v1alpha1.LoadTest, children *lifecycle.Children, child childRef) error {
	object := caches.MetadataOf(child.gvk)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: test.Namespace, Name: child.name}, object)
	if err == nil && !metav1.IsControlledBy(object, test) {
		r.memory.nameTaken(test, child)
		children.Foreign = append(children.Foreign, child.String())
		return nil
	}
	r.memory.nameFree(test, child)
	if err != nil {
		return fmt.Errorf("look whose %s is: %w", child, err)
	}
	child.uid = object.UID
	r.memory.childCreated(test, child, r.options.Clock())
	return nil
}
