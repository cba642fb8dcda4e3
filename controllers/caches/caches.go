package caches

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// roleProgress is the value of the label linerate.dev/role of the ConfigMap in which a runner reports its progress.
const roleProgress = "progress"

// networkCRD is the CRD whose creation and deletion the operator watches.
const networkCRD = "network-attachment-definitions.k8s.cni.cncf.io"

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// MaxBehind is how long a pass waits for the operator's own write to appear in the cache. An object that was
// deleted before the cache saw it never appears.
const MaxBehind = 10 * time.Second

// Namespaces are those whose LoadTests the operator reconciles. An empty list means all.
type Namespaces []string

// Contains says that the operator watches a namespace.
func (n Namespaces) Contains(namespace string) bool {
	return len(n) == 0 || slices.Contains(n, namespace)
}

// NewScheme has the types that the operator reads and writes.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// Options is what the manager keeps in memory, in brief. These are LoadTests, objects with their label, nodes,
// and the metadata of one CRD. Of ConfigMaps it keeps only metadata, since a Report is large. Progress is in a
// cache of its own, because a cache selects by kind. namespaces limits all objects that have a namespace, and
// an empty list means all. The objects of runs are in the operator's own namespace.
func Options(namespaces Namespaces, operatorNamespace string) cache.Options {
	ours := labels.NewSelector().Add(*requirement(v1alpha1.LabelUID, selection.Exists))
	options := baseCache(namespaces)
	withOperatorNamespace := baseCache(append(slices.Clone(namespaces), operatorNamespace)).DefaultNamespaces
	if len(namespaces) == 0 {
		withOperatorNamespace = nil // all
	}
	options.ByObject = map[client.Object]cache.ByObject{
		&v1alpha1.LoadTest{}:      {},
		&v1alpha1.LoadTestSuite{}: {},
		&corev1.Pod{}:             {Label: ours, Namespaces: withOperatorNamespace},
		&batchv1.Job{}:            {Label: ours, Namespaces: map[string]cache.Config{operatorNamespace: {}}},
		&corev1.ConfigMap{}: {Label: ours.Add(*requirement(v1alpha1.LabelRole, selection.NotEquals,
			roleProgress)), Namespaces: withOperatorNamespace},
		&corev1.Node{}:      {},
		NetworkDefinition(): {Field: fields.OneTermEqualSelector("metadata.name", networkCRD)},
	}
	return options
}

// NewProgress makes the cache of runners' progress, up to its bound, in the operator's own namespace. Progress
// elsewhere is ignored.
func NewProgress(mgr ctrl.Manager, namespace string) (cache.Cache, error) {
	options := baseCache(Namespaces{namespace})
	options.DefaultLabelSelector = labels.NewSelector().Add(
		*requirement(v1alpha1.LabelUID, selection.Exists), *requirement(v1alpha1.LabelRole, selection.Equals,
			roleProgress))
	return add(mgr, options)
}

// NewNetworks makes a cache that is empty at first, and watches a kind from the first request for it.
func NewNetworks(mgr ctrl.Manager, namespaces Namespaces) (cache.Cache, error) {
	return add(mgr, baseCache(namespaces))
}

// NewLeases makes the cache of the Leases of physical ports, in a single namespace, since the operator has no rights to
// Leases elsewhere.
func NewLeases(mgr ctrl.Manager, namespace string) (cache.Cache, error) {
	options := baseCache(Namespaces{namespace})
	options.DefaultLabelSelector = labels.NewSelector().Add(*requirement(v1alpha1.LabelWire, selection.Exists))
	return add(mgr, options)
}

// NewSheets makes the cache of the sheets of suites' runs, as metadata, in the operator's own namespace.
func NewSheets(mgr ctrl.Manager, namespace string) (cache.Cache, error) {
	options := baseCache(Namespaces{namespace})
	options.DefaultLabelSelector = labels.NewSelector().Add(*requirement(v1alpha1.LabelNamespace, selection.Exists),
		*requirement(v1alpha1.LabelSuite, selection.Exists))
	return add(mgr, options)
}

// add makes a cache that runs as long as the manager.
func add(mgr ctrl.Manager, options cache.Options) (cache.Cache, error) {
	options.Scheme, options.Mapper, options.HTTPClient = mgr.GetScheme(), mgr.GetRESTMapper(), mgr.GetHTTPClient()
	created, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return created, mgr.Add(created)
}

// baseCache reads only what is watched already, so that no read starts a watch unnoticed, and keeps objects in
// brief.
func baseCache(namespaces Namespaces) cache.Options {
	options := cache.Options{ReaderFailOnMissingInformer: true, DefaultTransform: inBrief, NewInformer: newInformer}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// requirement is one term of a selector, of constants that are valid.
func requirement(label string, operator selection.Operator, values ...string) *labels.Requirement {
	r, err := labels.NewRequirement(label, operator, values)
	if err != nil {
		panic(err)
	}
	return r
}

// MetadataOf is an empty object for reading the metadata of a kind.
func MetadataOf(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	return object
}

// NetworkDefinition is Multus' CRD of networks, as metadata.
func NetworkDefinition() *metav1.PartialObjectMetadata {
	definition := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: networkCRD}}
	definition.SetGroupVersionKind(crdKind)
	return definition
}
