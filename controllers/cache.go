package controllers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// NewScheme has the types that the operator reads and writes.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// CacheOptions is what the manager keeps in memory: LoadTests, what bears their label, nodes in brief, and one definition's metadata. Of
// ConfigMaps it keeps metadata only, as a Report is large; progress is in a cache of its own, because a cache selects by kind. Namespaces
// limits all but what belongs to no namespace; none means all.
func CacheOptions(namespaces []string) cache.Options {
	ours := labels.NewSelector().Add(*requirement(v1alpha1.LabelUID, selection.Exists))
	options := baseCache(namespaces)
	options.ByObject = map[client.Object]cache.ByObject{
		&v1alpha1.LoadTest{}:      {},
		&v1alpha1.LoadTestSuite{}: {},
		&corev1.Pod{}:             {Label: ours},
		&batchv1.Job{}:            {Label: ours},
		&corev1.ServiceAccount{}:  {Label: ours},
		&rbacv1.Role{}:            {Label: ours},
		&rbacv1.RoleBinding{}:     {Label: ours},
		&corev1.ConfigMap{}:       {Label: ours.Add(*requirement(v1alpha1.LabelRole, selection.NotEquals, roleProgress))},
		&corev1.Node{}:            {Transform: inBrief},
		newDefinition():           {Field: fields.OneTermEqualSelector("metadata.name", networkCRD)},
	}
	return options
}

func progressCache(namespaces []string) cache.Options {
	options := baseCache(namespaces)
	options.DefaultLabelSelector = labels.NewSelector().Add(
		*requirement(v1alpha1.LabelUID, selection.Exists), *requirement(v1alpha1.LabelRole, selection.Equals, roleProgress))
	return options
}

// baseCache reads only what is watched already, so that no line of code starts a watch unnoticed.
func baseCache(namespaces []string) cache.Options {
	options := cache.Options{ReaderFailOnMissingInformer: true, DefaultTransform: cache.TransformStripManagedFields()}
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

func metadataOf(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	return object
}

// inBrief keeps of a node what nodeOf reads: the rest is large, and changes all the time.
func inBrief(object any) (any, error) {
	node, isNode := object.(*corev1.Node)
	if !isNode {
		return object, nil
	}
	brief := &corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, DeletionTimestamp: node.DeletionTimestamp, Labels: node.Labels,
	}}
	brief.Spec.Unschedulable, brief.Spec.Taints, brief.Status.Allocatable = node.Spec.Unschedulable, node.Spec.Taints, node.Status.Allocatable
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			brief.Status.Conditions = []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status}}
		}
	}
	return brief, nil
}
