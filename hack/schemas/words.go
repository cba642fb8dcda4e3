package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

const module = "github.com/linerate-dev/linerate/"

// words are the comments of the sources below root.
type words struct{ root string }

// comment is what the sources say of a type, of its members by their names in Go, and, of a string, which
// values it has.
type comment struct {
	typeText string
	members  map[string]string
	values   []any
}

// commentOf reads what the sources say of a type.
func (w words) commentOf(t reflect.Type) (comment, error) {
	dir := filepath.Join(w.root, strings.TrimPrefix(t.PkgPath(), module))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return comment{}, err
	}
	result := comment{members: map[string]string{}}
	found := false
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return comment{}, err
		}
		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok {
				found = result.read(d, t.Name()) || found
			}
		}
	}
	if !found {
		return comment{}, fmt.Errorf("%s isn't declared in %s", name(t), dir)
	}
	return result, nil
}

// read takes what a declaration says of the type of this name, and says whether it declares it.
func (s *comment) read(d *ast.GenDecl, name string) (declares bool) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.Name != name {
				continue
			}
			declares = true
			if s.typeText = sentence(spec.Doc, nil); s.typeText == "" {
				s.typeText = sentence(d.Doc, nil)
			}
			if struc, ok := spec.Type.(*ast.StructType); ok {
				s.fields(struc)
			}
		case *ast.ValueSpec:
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == name && d.Tok == token.CONST {
				s.constants(spec)
			}
		}
	}
	return declares
}

func (s *comment) constants(spec *ast.ValueSpec) {
	for _, v := range spec.Values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				s.values = append(s.values, value)
			}
		}
	}
}

// fields reads the comments of members. One comment may speak of several members, the first of which it stands above.
func (s *comment) fields(struc *ast.StructType) {
	prefix := ""
	for _, f := range struc.Fields.List {
		textOwn := sentence(f.Doc, f.Comment)
		if f.Doc != nil {
			prefix = textOwn
		}
		for _, n := range f.Names {
			switch {
			case textOwn != "":
				s.members[n.Name] = textOwn
			case strings.Contains(prefix, n.Name):
				s.members[n.Name] = prefix
			}
		}
	}
}

// sentence is a comment's text in one line, without what is drawn in it.
func sentence(doc, lineComment *ast.CommentGroup) string {
	group := doc
	if group == nil {
		group = lineComment
	}
	if group == nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(group.Text()) {
		if !strings.HasPrefix(line, "\t") {
			lines = append(lines, line)
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
