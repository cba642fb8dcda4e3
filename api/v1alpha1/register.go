package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the API as they stand in manifests.
const (
	Group             = "linerate.dev"
	Version           = "v1alpha1"
	LoadTestKind      = "LoadTest"
	LoadTestSuiteKind = "LoadTestSuite"
)

// GroupVersion is the API's group and version. Nothing assigns to it.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// AddToScheme makes the API's types known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &LoadTest{}, &LoadTestList{}, &LoadTestSuite{}, &LoadTestSuiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
