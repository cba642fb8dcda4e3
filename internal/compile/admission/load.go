package admission

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
)

// Object is a LoadTest or a LoadTestSuite that an API server would accept, with all defaults, and the place where it
// was found. Exactly one of the two is set. A suite's template isn't judged here, since internal/cluster/suite (Read)
// judges its cells.
type Object struct {
	LoadTest *v1alpha1.LoadTest
	Suite    *v1alpha1.LoadTestSuite
	File     string
	Document int // from 1; 0 where the file has one document
	// OtherObjects are the objects of other kinds in the same file, which aren't read here, such as "ConfigMap routes".
	OtherObjects []string

	resource *resource
	source   source
	content  map[string]any
}

// Meta is the object's metadata, whatever its kind.
func (o Object) Meta() *metav1.ObjectMeta {
	if o.Suite != nil {
		return &o.Suite.ObjectMeta
	}
	return &o.LoadTest.ObjectMeta
}

// source finds the lines of a document's fields.
type source struct {
	file     string
	document int
	line     int        // of the file, on which the document begins
	root     *yaml.Node // nil where the document can't be read
	tree     yamltree.Tree
	unread   error // why it can't
}

// LoadFile is Load of the file of this name, or of stdin where that is "-".
func (s *Server) LoadFile(stdin io.Reader, name string) ([]Object, error) {
	if name == "-" {
		return s.Load("stdin", stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return s.Load(name, f)
}

// Load reads a file's documents and judges each. It returns the objects that would be accepted and, as error
// (Faults), everything that is wrong with the others.
func (s *Server) Load(file string, r io.Reader) ([]Object, error) {
	documents, err := split(r)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory: name the files in it, such as %s", file,
			strings.TrimRight(file, "/")+"/*.yaml")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(documents) == 0 {
		return nil, Faults{{File: file, Message: "there is nothing in it: write a LoadTest (apiVersion: " +
			"linerate.dev/v1alpha1, kind: LoadTest)"}}
	}
	var objects []Object
	var faults Faults
	var foreign []unread
	for _, d := range documents {
		src := newSource(file, d, len(documents))
		content, wrong := decode(src, d.text)
		faults = append(faults, wrong...)
		if len(wrong) > 0 {
			continue
		}
		unpacked, wrong := unpack(src, content)
		faults = append(faults, wrong...)
		for _, item := range unpacked {
			if skipped, ok := item.foreign(); ok {
				foreign = append(foreign, skipped)
				continue
			}
			object, wrong := s.admit(item.source, item.content)
			faults = append(faults, wrong...)
			if len(wrong) == 0 {
				objects = append(objects, object)
			}
		}
	}
	if len(objects) == 0 && len(faults) == 0 { // the file has no object of linerate
		for _, skipped := range foreign {
			faults = append(faults, skipped.faults...)
		}
	}
	for i := range objects {
		objects[i].OtherObjects = namesOf(foreign)
	}
	faults = append(faults, repeated(objects)...)
	return objects, faults.OrNil()
}

func newSource(file string, d document, documents int) source {
	src := source{file: file, line: d.line}
	if documents > 1 {
		src.document = d.number
	}
	src.tree, src.unread = yamltree.Parse(d.text)
	src.root = src.tree.Root
	return src
}

// fault places a message.
func (s source) fault(fieldPath, message string) Fault {
	line := s.line
	if s.root != nil {
		line += parsePath(fieldPath).line(s.root) - 1
	}
	return Fault{File: s.file, Document: s.document, Line: line, Field: fieldPath, Message: message}
}

// Faults converts further errors of the object, such as the compiler's, to Faults with lines and in the same style. Nil
// means that there are none.
func (o Object) Faults(errs field.ErrorList) error {
	return o.resource.faults(o.source, o.content, errs).OrNil()
}

// Fault is a fault of a field of the object, at its line. The message is a whole sentence.
func (o Object) Fault(field, message string) Fault { return o.source.fault(field, message) }

func (s *resource) faults(src source, object any, errs field.ErrorList) Faults {
	var faults Faults
	for _, e := range errs {
		e = s.narrowed(e, object)
		faults = append(faults, src.fault(e.Field, s.sentence(e, object)))
	}
	return faults
}

// repeated are the faults of objects with the name of an earlier one, which a cluster would refuse.
func repeated(objects []Object) Faults {
	var faults Faults
	first := map[string]int{}
	for _, o := range objects {
		meta := o.Meta()
		key := o.resource.kind + "/" + meta.Namespace + "/" + meta.Name
		if n, ok := first[key]; ok && meta.GenerateName == "" {
			faults = append(faults, o.source.fault("metadata.name",
				fmt.Sprintf("metadata.name is %q, as in document %d: every %s needs a name of its own", meta.Name, n,
					o.resource.kind)))
		}
		first[key] = o.Document
	}
	return faults
}

// Admit judges an object that a program made as an API server would. It returns the object with all defaults, or
// everything that is wrong with it. It changes content, as it prunes unknown fields and adds defaults.
func (s *Server) Admit(content map[string]any) (Object, Faults) {
	return s.admit(source{}, content)
}

// Fill is the object as a server would store it, with all defaults, and without fields that the definitions don't know.
// It judges nothing. It changes content.
func (s *Server) Fill(content map[string]any) (Object, error) {
	r, err := s.resourceOf(content["kind"])
	if err != nil {
		return Object{}, err
	}
	_ = r.prune(source{}, content) // unknown fields aren't faults here
	defaulting.Default(content, r.structural)
	object := Object{resource: r, content: content}
	return object, object.convert()
}
