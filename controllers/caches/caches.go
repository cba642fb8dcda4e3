// Package caches is what of the cluster the operator keeps in memory: which objects, how much of each, and in which of its caches.
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

// roleProgress is the value of the label linerate.dev/role of the ConfigMap that a runner tells its progress in.
const roleProgress = "progress"

// networkCRD is the definition whose coming and going is watched.
const networkCRD = "network-attachment-definitions.k8s.cni.cncf.io"

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// MostBehind is how long a write of our own is waited for in the cache. What was deleted before the cache saw it never comes.
const MostBehind = 10 * time.Second

// Namespaces are those whose LoadTests are looked after; none means all.
type Namespaces []string

// Has says whether what is in a namespace can be seen.
func (n Namespaces) Has(namespace string) bool { return len(n) == 0 || slices.Contains(n, namespace) }

// NewScheme has the types that the operator reads and writes.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// Options is what the manager keeps in memory, all of it in brief: LoadTests, what bears their label, nodes, and one definition's metadata. Of
// ConfigMaps it keeps metadata only, as a Report is large; progress is in a cache of its own, because a cache selects by kind. Namespaces
// limits all but what belongs to no namespace; none means all. What runs are made of is in the operator's own namespace besides.
func Options(namespaces Namespaces, own string) cache.Options {
	ours := labels.NewSelector().Add(*requirement(v1alpha1.LabelUID, selection.Exists))
	options := baseCache(namespaces)
	alsoOwn := baseCache(append(slices.Clone(namespaces), own)).DefaultNamespaces
	if len(namespaces) == 0 {
		alsoOwn = nil // all
	}
	options.ByObject = map[client.Object]cache.ByObject{
		&v1alpha1.LoadTest{}:      {},
		&v1alpha1.LoadTestSuite{}: {},
		&corev1.Pod{}:             {Label: ours, Namespaces: alsoOwn},
		&batchv1.Job{}:            {Label: ours, Namespaces: alsoOwn},
		&corev1.ConfigMap{}:       {Label: ours.Add(*requirement(v1alpha1.LabelRole, selection.NotEquals, roleProgress)), Namespaces: alsoOwn},
		&corev1.Node{}:            {},
		NetworkDefinition():       {Field: fields.OneTermEqualSelector("metadata.name", networkCRD)},
	}
	return options
}

// NewProgress has what runners tell of their progress, up to its bound, in the operator's own namespace: what is elsewhere nobody believes.
func NewProgress(mgr ctrl.Manager, own string) (cache.Cache, error) {
	options := baseCache(Namespaces{own})
	options.DefaultLabelSelector = labels.NewSelector().Add(
		*requirement(v1alpha1.LabelUID, selection.Exists), *requirement(v1alpha1.LabelRole, selection.Equals, roleProgress))
	return add(mgr, options)
}

// NewNetworks has nothing yet: what is asked of it is watched from then on.
func NewNetworks(mgr ctrl.Manager, namespaces Namespaces) (cache.Cache, error) {
	return add(mgr, baseCache(namespaces))
}

// NewLeases has the Leases of wires, in the operator's own namespace: it has no rights to others.
func NewLeases(mgr ctrl.Manager, namespace string) (cache.Cache, error) {
	options := baseCache(Namespaces{namespace})
	options.DefaultLabelSelector = labels.NewSelector().Add(*requirement(v1alpha1.LabelWire, selection.Exists))
	return add(mgr, options)
}

// add makes a cache that lives as long as the manager.
func add(mgr ctrl.Manager, options cache.Options) (cache.Cache, error) {
	options.Scheme, options.Mapper, options.HTTPClient = mgr.GetScheme(), mgr.GetRESTMapper(), mgr.GetHTTPClient()
	made, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return made, mgr.Add(made)
}

// baseCache reads only what is watched already, so that no line of code starts a watch unnoticed, and keeps objects in brief.
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

// MetadataOf is an object of a kind, of which the metadata is to be read only.
func MetadataOf(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	return object
}

// NetworkDefinition is the definition whose coming and going is watched: that of Multus' networks, as metadata.
func NetworkDefinition() *metav1.PartialObjectMetadata {
	definition := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: networkCRD}}
	definition.SetGroupVersionKind(crdKind)
	return definition
}
