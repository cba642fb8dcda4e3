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

// said is what the sources say of a type, of its members by their names in Go, and, of a string, which values it has.
type said struct {
	of      string
	members map[string]string
	values  []any
}

// of reads what the sources say of a type.
func (w words) of(t reflect.Type) (said, error) {
	dir := filepath.Join(w.root, strings.TrimPrefix(t.PkgPath(), module))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return said{}, err
	}
	out := said{members: map[string]string{}}
	found := false
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return said{}, err
		}
		for _, declaration := range file.Decls {
			if d, is := declaration.(*ast.GenDecl); is {
				found = out.read(d, t.Name()) || found
			}
		}
	}
	if !found {
		return said{}, fmt.Errorf("%s isn't declared in %s", name(t), dir)
	}
	return out, nil
}

// read takes what a declaration says of the type of this name, and says whether it declares it.
func (s *said) read(d *ast.GenDecl, name string) (declares bool) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.Name != name {
				continue
			}
			declares = true
			if s.of = sentence(spec.Doc, nil); s.of == "" {
				s.of = sentence(d.Doc, nil)
			}
			if struc, is := spec.Type.(*ast.StructType); is {
				s.fields(struc)
			}
		case *ast.ValueSpec:
			if kind, is := spec.Type.(*ast.Ident); is && kind.Name == name && d.Tok == token.CONST {
				s.constants(spec)
			}
		}
	}
	return declares
}

func (s *said) constants(spec *ast.ValueSpec) {
	for _, v := range spec.Values {
		if literal, is := v.(*ast.BasicLit); is && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				s.values = append(s.values, value)
			}
		}
	}
}

// fields reads the comments of members. One comment may speak of several members, the first of which it stands above.
func (s *said) fields(struc *ast.StructType) {
	above := ""
	for _, f := range struc.Fields.List {
		own := sentence(f.Doc, f.Comment)
		if f.Doc != nil {
			above = own
		}
		for _, n := range f.Names {
			switch {
			case own != "":
				s.members[n.Name] = own
			case strings.Contains(above, n.Name):
				s.members[n.Name] = above
			}
		}
	}
}

// sentence is a comment's text in one line, without what is drawn in it.
func sentence(above, beside *ast.CommentGroup) string {
	group := above
	if group == nil {
		group = beside
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
