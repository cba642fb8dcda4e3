package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// admit takes one decoded document through what an API server does on create, in its order, which is to prune, to set
// defaults and to validate.
func (s *Server) admit(src source, content map[string]any) (Object, Faults) {
	if faults := kindFaults(src, content); len(faults) > 0 {
		return Object{}, faults
	}
	r, err := s.resourceOf(content["kind"])
	if err != nil {
		return Object{}, Faults{src.fault("", err.Error())}
	}
	unquoted := r.quote(src, content)
	meta, faults := r.metadata(src, content)
	faults = append(faults, r.prune(src, content)...)
	defaulting.Default(content, r.structural)
	faults = append(faults, r.faults(src, content, r.validate(content, meta))...)
	faults = append(faults, unquoted.excluding(faults)...)
	if len(faults) > 0 {
		return Object{}, faults
	}
	object := Object{File: src.file, Document: src.document, resource: r, source: src, content: content}
	if err := object.convert(); err != nil {
		return Object{}, Faults{src.fault("", err.Error())}
	}
	return object, nil
}

// convert makes the Go object of the content.
func (o *Object) convert() error {
	if o.resource.kind == v1alpha1.LoadTestSuiteKind {
		o.Suite = &v1alpha1.LoadTestSuite{}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, o.Suite)
	}
	o.LoadTest = &v1alpha1.LoadTest{}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, o.LoadTest)
}

// limits are what a document may take once it is decoded. An API server takes no object of more than 3 MiB of text.
var limits = intake.Limits{Bytes: 64 << 20, Memory: 256 << 20}

// decode reads YAML as kubectl does (YAML 1.1 into JSON), and refuses keys that appear twice. A key that is merged in
// (<<) and written as well isn't one.
func decode(src source, text []byte) (map[string]any, Faults) {
	if _, large := errors.AsType[intake.Exceeded](src.unread); large {
		return nil, Faults{src.fault("", src.unread.Error())}
	}
	if src.unread != nil {
		return nil, yamlFaults(src, text, src.unread)
	}
	if faults := repeatedKeys(src, src.root); len(faults) > 0 {
		return nil, faults
	}
	json, err := src.tree.JSON(false) // which takes merged keys
	if err != nil {
		return nil, yamlFaults(src, text, err)
	}
	var content any
	if err := intake.DecodeBy(utiljson.Unmarshal, json, &content, limits); err != nil {
		return nil, Faults{src.fault("", err.Error())}
	}
	object, ok := content.(map[string]any)
	if !ok {
		return nil, Faults{src.fault("", "a LoadTest is a mapping of apiVersion, kind, metadata and spec, not "+
			quoted(content))}
	}
	return object, nil
}

func kindFaults(src source, content map[string]any) Faults {
	var faults Faults
	for _, member := range []struct {
		name string
		want []string
	}{
		{"apiVersion", []string{v1alpha1.GroupVersion.String()}},
		{"kind", []string{v1alpha1.LoadTestKind, v1alpha1.LoadTestSuiteKind}},
	} {
		switch value, ok := content[member.name]; {
		case !ok:
			faults = append(faults, src.fault(member.name, fmt.Sprintf("%s is missing: write %s: %s", member.name,
				member.name, member.want[0])))
		case !slices.ContainsFunc(member.want, func(want string) bool { return value == want }):
			faults = append(faults, src.fault(member.name, fmt.Sprintf("%s is %s: only %s is understood here",
				member.name, quoted(value), strings.Join(member.want, " or "))))
		}
	}
	return faults
}

// GeneratedSuffix stands for the five characters that an API server appends to metadata.generateName.
const GeneratedSuffix = "local"

// metadata reads the object's metadata strictly, and gives a name to an object that asks for one.
func (s *resource) metadata(src source, content map[string]any) (*metav1.ObjectMeta, Faults) {
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(content,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, Faults{misreadMetadata(src, err)}
	}
	var faults Faults
	for _, name := range unknown {
		faults = append(faults, src.fault(name, s.unknownField(name)))
	}
	if !found {
		meta = &metav1.ObjectMeta{}
	}
	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = meta.GenerateName + GeneratedSuffix
	}
	if err := objectmeta.SetObjectMeta(content, meta); err != nil {
		return nil, append(faults, src.fault("metadata", "metadata is not understood: "+err.Error()))
	}
	return meta, faults
}

// prune removes what a create doesn't store, and reports the fields that the schema doesn't know.
func (s *resource) prune(src source, content map[string]any) Faults {
	delete(content, "status") // a create can't set it
	unknown := pruning.PruneWithOptions(content, s.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	var faults Faults
	for _, name := range unknown {
		faults = append(faults, src.fault(name, s.unknownField(name)))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(content, s.structural)
	return faults
}

// validate checks metadata, schema and list types, and the rules unless the schema's errors, or metadata that
// can't be read (nil), make them pointless.
func (s *resource) validate(content map[string]any, meta *metav1.ObjectMeta) field.ErrorList {
	var errs field.ErrorList
	if meta != nil {
		errs = append(errs, validateMetadata(meta.DeepCopy())...)
	}
	errs = append(errs, apiservervalidation.ValidateCustomResource(nil, content, s.openAPI)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, content)...)
	if meta == nil || blocksRules(errs) {
		return errs
	}
	broken, _ := s.rules.Validate(context.Background(), nil, s.structural, content, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// blocksRules says that an object is too far from its schema for rules to be evaluated. An API server decides
// the same way.
func blocksRules(errs field.ErrorList) bool {
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return true
		default:
		}
	}
	return false
}
