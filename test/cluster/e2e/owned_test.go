package e2e

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// ownedLists are the kinds that a LoadTest has objects of, and LoadTests themselves.
func ownedLists() []client.ObjectList {
	return []client.ObjectList{
		&lineratev1alpha1.LoadTestSuiteList{}, &lineratev1alpha1.LoadTestList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.ServiceAccountList{}, &batchv1.JobList{},
		&rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
	}
}

// names are those of a list's objects, but of what Kubernetes gives to every namespace.
func names(list client.ObjectList) []string {
	var out []string
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		name := o.(client.Object).GetName()
		if name != "kube-root-ca.crt" && name != "default" {
			out = append(out, fmt.Sprintf("%T %s", o, name))
		}
		return nil
	})
	return out
}
