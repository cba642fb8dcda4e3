package loadtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

var (
	podKind       = corev1.SchemeGroupVersion.WithKind("Pod")
	jobKind       = batchv1.SchemeGroupVersion.WithKind("Job")
	configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// childRef names a child. Two childRefs name the same child if their uid is the same.
type childRef struct {
	gvk       schema.GroupVersionKind
	namespace string
	name      string
	uid       types.UID
	going     bool // the object is being deleted
	owned     bool // the object is deleted with the Plan's ConfigMap
}

// String is "Kind/name", as in lifecycle.
func (c childRef) String() string { return c.gvk.Kind + "/" + c.name }

// childList collects a test's children while they are listed.
//
//	in the test's namespace     pods and ConfigMaps with the test's label that the test owns, since anyone who may
//	                            edit the namespace may make objects with the label
//	in the operator's own       objects with the labels of a test of this name, which only the operator makes.
//	                            Those of an earlier test of the same name are orphans
type childList struct {
	test *v1alpha1.LoadTest
	// operators is the operator's own namespace.
	operators string
	children  lifecycle.Children
	refs      map[types.UID]childRef
	// runAnnotations are the annotations of the runs' ConfigMaps, by their names. published are those of the
	// Report's copy.
	runAnnotations map[string]map[string]string
	published      map[string]string
	// plans are the ConfigMaps that own all other objects of a run.
	plans   []childRef
	orphans []childRef
}

func newChildList(test *v1alpha1.LoadTest, operators string) *childList {
	return &childList{
		test: test, operators: operators, children: lifecycle.Children{Present: map[string]bool{}},
		refs: map[types.UID]childRef{}, runAnnotations: map[string]map[string]string{},
	}
}

// childObserver observes tests' children, and deletes those in the operator's own namespace that belong to no test.
type childObserver struct {
	*clients
	memory *memory
	// namespace is the operator's own.
	namespace string
	clock     func() time.Time
}

// children lists the test's children, and deletes the remains of an earlier test of its name.
func (r *childObserver) children(ctx context.Context, test *v1alpha1.LoadTest) (*childList, error) {
	f := newChildList(test, r.namespace)
	ofRuns := []client.ListOption{client.InNamespace(f.operators), r.ofRuns(client.ObjectKeyFromObject(test))}
	if err := r.listJobs(ctx, f, ofRuns...); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *childList, ...client.ListOption) error{r.listPods, r.listDocuments} {
		if err := step(ctx, f, client.InNamespace(test.Namespace), r.ofTest(test.UID)); err != nil {
			return nil, err
		}
		if err := step(ctx, f, ofRuns...); err != nil {
			return nil, err
		}
	}
	f.readDocuments()
	if err := r.listProgress(ctx, f); err != nil {
		return nil, err
	}
	return f, r.clear(ctx, f.orphans, "the test that it was of is gone, and another one has its name")
}

func (r *childObserver) listPods(ctx context.Context, f *childList, options ...client.ListOption) error {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, options...); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for _, pod := range pods.Items {
		if f.add(podKind, &pod) {
			f.children.Pods = append(f.children.Pods, pod)
		}
	}
	return nil
}

func (r *childObserver) listJobs(ctx context.Context, f *childList, options ...client.ListOption) error {
	var jobs batchv1.JobList
	if err := r.client.List(ctx, &jobs, options...); err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, job := range jobs.Items {
		if f.add(jobKind, &job) {
			f.children.Jobs = append(f.children.Jobs, job)
		}
	}
	return nil
}

// listDocuments lists ConfigMaps, as metadata. These are those of runs, and in the test's namespace those of
// pods and the copy of the Report.
func (r *childObserver) listDocuments(ctx context.Context, f *childList, options ...client.ListOption) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(configMapKind.GroupVersion().WithKind("ConfigMapList"))
	if err := r.client.List(ctx, list, options...); err != nil {
		return fmt.Errorf("list ConfigMaps: %w", err)
	}
	for _, object := range list.Items {
		f.addDocument(&object)
	}
	return nil
}

func (f *childList) addDocument(object client.Object) {
	switch {
	case !f.add(configMapKind, object):
	case f.isRun(object):
		if manifests.IsPlan(object) {
			f.children.Plans = append(f.children.Plans, attemptOf(object))
		}
		f.children.Documents = append(f.children.Documents, object.GetName())
		f.runAnnotations[object.GetName()] = object.GetAnnotations()
	case object.GetName() == manifests.ReportName(f.test.Name):
		f.published = object.GetAnnotations()
	}
}

// readDocuments reads the annotations of the current attempt's documents.
func (f *childList) readDocuments() {
	attempt := f.attempt()
	if envelope, sealed := delivery.ReadEnvelope(f.runAnnotations[manifests.OriginalName(f.test, attempt)]); sealed {
		f.children.Envelope = &envelope
	}
	if order, ok := delivery.ReadOrder(f.runAnnotations[manifests.PlanName(f.test, attempt)]); ok {
		f.children.Order = &order
	}
	f.children.Published = f.published[delivery.AnnotationDigest]
}

// attempt is the attempt that counts, by the test and the children that were added.
func (f *childList) attempt() int32 {
	return lifecycle.Attempt(lifecycle.Observed{Test: f.test, Children: f.children,
		Settings: manifests.Settings{Namespace: f.operators}})
}

// listProgress lists the Progress of the test's runs, and reads that of the attempt that counts.
func (r *childObserver) listProgress(ctx context.Context, f *childList) error {
	var list corev1.ConfigMapList
	if err := r.progress.List(ctx, &list, client.InNamespace(f.operators),
		r.ofRuns(client.ObjectKeyFromObject(f.test))); err != nil {
		return fmt.Errorf("list progress: %w", err)
	}
	current := manifests.ProgressName(f.test, f.attempt())
	for i := range list.Items {
		f.addDocument(&list.Items[i])
		if list.Items[i].Name == current {
			f.readProgress(ctx, &list.Items[i])
		}
	}
	return nil
}

// readProgress reads the Progress that a runner wrote. Runners sign it, and only runners may write there. A
// Progress that another runner signed than the one that it names is ignored.
func (f *childList) readProgress(ctx context.Context, configMap *corev1.ConfigMap) {
	progress, err := delivery.DecodeProgress(configMap.Data)
	if err == nil && progress != nil {
		if _, uid := delivery.SignedBy(configMap.Annotations); uid != progress.RunnerUID {
			progress, err = nil, fmt.Errorf("it says that it is of the pod with UID %s, and is signed by %q",
				progress.RunnerUID, uid)
		}
	}
	if err != nil { // the runner writes it again within seconds
		log.FromContext(ctx).Info("progress can't be read", "configMap", configMap.Name, "why", err.Error())
	}
	f.children.Progress = progress
}

// isRun says that an object belongs to a run, in the operator's own namespace.
func (f *childList) isRun(object client.Object) bool {
	return object.GetNamespace() == f.operators && manifests.IsOfRun(object)
}

// add adds an object if it is a child. In the operator's namespace a child has the label with the test's UID.
// In the test's namespace the test owns it.
func (f *childList) add(gvk schema.GroupVersionKind, object client.Object) bool {
	ref := childRef{gvk: gvk, namespace: object.GetNamespace(), name: object.GetName(), uid: object.GetUID(),
		going: object.GetDeletionTimestamp() != nil}
	owner := metav1.GetControllerOf(object)
	ref.owned = owner != nil && owner.Kind == configMapKind.Kind
	run := f.isRun(object)
	switch {
	case run && object.GetLabels()[v1alpha1.LabelUID] != string(f.test.UID):
		if !slices.Contains(f.orphans, ref) {
			f.orphans = append(f.orphans, ref)
		}
		return false
	case !run && !f.owns(object):
		return false
	}
	if _, listed := f.refs[ref.uid]; listed {
		return false
	}
	f.refs[ref.uid] = ref
	if run && manifests.IsPlan(object) {
		f.plans = append(f.plans, ref)
	}
	if gvk != podKind && gvk != jobKind && !run {
		f.children.Present[gvk.Kind+"/"+object.GetName()] = true
	}
	return true
}

// owns says that the test owns an object of its own namespace.
func (f *childList) owns(object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.UID == f.test.UID && object.GetNamespace() == f.test.Namespace
}

// addOwner adds an object that was just created, if it owns others.
func (f *childList) addOwner(object client.Object, child childRef) {
	if f.isRun(object) && manifests.IsPlan(object) {
		f.plans = append(f.plans, child)
	}
}

// setOwner makes the Plan's ConfigMap the owner of a run's objects, so that they are deleted with it. It is
// false if an object belongs to a run whose Plan isn't in the cache yet.
func (f *childList) setOwner(objects []manifests.Object) bool {
	for _, o := range objects {
		if !f.isRun(o) || manifests.IsPlan(o) {
			continue
		}
		name := manifests.PlanName(f.test, attemptOf(o))
		i := slices.IndexFunc(f.plans, func(plan childRef) bool { return plan.name == name })
		if i < 0 {
			return false
		}
		manifests.OwnedByPlan(o, name, f.plans[i].uid)
	}
	return true
}

// attemptOf is the attempt in the label of a run's object. In the operator's own namespace only the operator
// makes such objects, so the label is trusted.
func attemptOf(object client.Object) int32 {
	attempt, _ := strconv.ParseInt(object.GetLabels()[v1alpha1.LabelAttempt], 10, 32)
	return int32(attempt)
}

// find returns the child of this name. If each namespace has one, it returns the run's, since an editor of the
// test's namespace may have made the other.
func (f *childList) find(kind, name string) (found childRef, ok bool) {
	for _, ref := range f.refs {
		if ref.gvk.Kind == kind && ref.name == name && (!ok || ref.namespace == f.operators) {
			found, ok = ref, true
		}
	}
	return found, ok
}

// clearRuns deletes the remains of the runs of a deleted test. Garbage collection can't, since an object can't
// be owned by one in another namespace. When the operator starts, each such object has this test's name
// reconciled, so that nothing stays of a test that was deleted while no operator ran.
func (r *childObserver) clearRuns(ctx context.Context, name types.NamespacedName) error {
	f := newChildList(&v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}},
		r.namespace)
	ofRuns := []client.ListOption{client.InNamespace(f.operators), r.ofRuns(name)}
	if err := errors.Join(r.listJobs(ctx, f, ofRuns...), r.listDocuments(ctx, f, ofRuns...),
		r.listProgress(ctx, f)); err != nil {
		return err
	}
	return r.clear(ctx, f.orphans, "its LoadTest is gone")
}

// clear deletes objects in the operator's own namespace that belong to no test any more. Objects that a Plan's
// ConfigMap owns are deleted with it, and pods with their Jobs, within their grace period.
func (r *childObserver) clear(ctx context.Context, orphans []childRef, reason string) error {
	failed := make([]error, len(orphans))
	pass.SideBySide(len(orphans), func(i int) {
		if child := orphans[i]; child.gvk != podKind && !child.going && !child.owned {
			ctrl.LoggerFrom(ctx).Info("deleting", "child", child.String(), "why", reason)
			failed[i] = r.deleteObject(ctx, child)
		}
	})
	return errors.Join(failed...)
}

// deleteObject deletes an object. It is no error if the object is gone. A Job's pods are deleted with it. They
// get SIGTERM, and their grace period. The UID spares another object of the same name.
func (r *childObserver) deleteObject(ctx context.Context, child childRef) error {
	object := caches.MetadataOf(child.gvk)
	object.Namespace, object.Name = child.namespace, child.name
	err := r.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &child.uid})
	if err := pass.IgnoreGone(err); err != nil {
		return fmt.Errorf("delete %s: %w", child, err)
	}
	return nil
}

// Other people's objects lack linerate's labels, so the caches don't have them. When the API server refuses to
// create a child because its name is taken, each following pass reads from the API server whose object has the
// name, until the name is free.

// checkTakenNames checks which of the taken names still are taken.
func (r *childObserver) checkTakenNames(ctx context.Context, test *v1alpha1.LoadTest,
	children *lifecycle.Children) error {
	for _, child := range r.memory.takenNames(test) {
		if err := client.IgnoreNotFound(r.checkName(ctx, test, children, child)); err != nil {
			return err
		}
	}
	return nil
}

// checkName records in children whether the object with a child's name is another person's. If it is the test's
// own, the caches don't have it yet. If there is none, the error is the API server's NotFound.
func (r *childObserver) checkName(ctx context.Context, test *v1alpha1.LoadTest, children *lifecycle.Children,
	child childRef) error {
	object := caches.MetadataOf(child.gvk)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: child.namespace, Name: child.name}, object)
	if err == nil && !newChildList(test, r.namespace).add(child.gvk, object) {
		r.memory.nameTaken(test, child)
		children.Foreign = append(children.Foreign, child.String())
		return nil
	}
	r.memory.nameFree(test, child)
	if err != nil {
		return fmt.Errorf("look whose %s is: %w", child, err)
	}
	child.uid = object.UID
	r.memory.childCreated(test, child, r.clock())
	return nil
}
