package admission

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/config/crd"
)

// Server judges objects as an API server with our CustomResourceDefinitions would. It is safe for concurrent
// use, and keeps nothing of what it judges.
type Server struct {
	tests  *resource
	suites func() (*resource, error)
}

// resource is what a CustomResourceDefinition says of its objects.
type resource struct {
	kind       string
	structural *structuralschema.Structural
	openAPI    apiservervalidation.SchemaValidator
	rules      *cel.Validator
}

// NewServer is a Server by the embedded CustomResourceDefinitions. A process has one, which is made at the first call,
// since compiling every rule of a LoadTest takes some tenths of a second. The rules of a LoadTestSuite are compiled
// when the first suite is judged.
func NewServer() (*Server, error) { return sharedServer() }

var sharedServer = sync.OnceValues(func() (*Server, error) {
	tests, err := newResource(v1alpha1.LoadTestKind, crd.LoadTests())
	if err != nil {
		return nil, err
	}
	return &Server{tests: tests, suites: sync.OnceValues(func() (*resource, error) {
		return newResource(v1alpha1.LoadTestSuiteKind, crd.LoadTestSuites())
	})}, nil
})

// resourceOf is the resource of a kind. Any kind but a suite is judged as a LoadTest.
func (s *Server) resourceOf(kind any) (*resource, error) {
	if kind == v1alpha1.LoadTestSuiteKind {
		return s.suites()
	}
	return s.tests, nil
}

func newResource(kind string, manifest []byte) (*resource, error) {
	props, err := schemaOf(manifest)
	if err != nil {
		return nil, fmt.Errorf("read the embedded CustomResourceDefinition of %s: %w", kind, err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("read the embedded schema of %s: %w", kind, err)
	}
	openAPI, _, err := apiservervalidation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("prepare schema validation of %s: %w", kind, err)
	}
	return &resource{kind: kind, structural: structural, openAPI: openAPI, rules: cel.NewValidator(structural, true,
		celconfig.PerCallLimit)}, nil
}

// schemaOf takes the schema of the one version out of the manifest.
func schemaOf(manifest []byte) (*apiextensions.JSONSchemaProps, error) {
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(manifest, &v1); err != nil {
		return nil, err
	}
	if len(v1.Spec.Versions) != 1 {
		return nil, fmt.Errorf("%d versions in %s, one expected", len(v1.Spec.Versions), v1.Name)
	}
	var internal apiextensions.CustomResourceValidation
	convert := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation
	if err := convert(v1.Spec.Versions[0].Schema, &internal, nil); err != nil {
		return nil, err
	}
	return internal.OpenAPIV3Schema, nil
}
