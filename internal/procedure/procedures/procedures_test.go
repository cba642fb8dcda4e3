package procedures_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
)

// typesOfThePlan are the constants of package plan whose name begins with Type.
func typesOfThePlan(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../document/plan/procedure.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Type") {
			types[spec.Names[0].Name], err = strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
		}
		return true
	})
	return types
}

// A type that the Plan has and no procedure carries out would be measured as a ramp.
func TestEachTypeOfAPlanHasAProcedure(t *testing.T) {
	types := typesOfThePlan(t)
	if types["TypeRamp"] != plan.TypeRamp || len(types) < 4 {
		t.Fatalf("the Plan's types were not found: %v", types)
	}
	byKind := map[string]string{}
	for name, value := range types {
		p := plan.Procedure{Type: value}
		if err := procedures.Check(p, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		kind := fmt.Sprintf("%T", procedures.New(p))
		if first, found := byKind[kind]; found {
			t.Errorf("%s and %s are both a %s", name, first, kind)
		}
		byKind[kind] = name
		if got := procedures.New(p).Rates().Full.Field; !strings.HasPrefix(strings.ToLower(got), strings.ToLower(value)+
			".") {
			t.Errorf("%s: the full rate is of %s, not of the type's own member", name, got)
		}
	}
}

func TestAPlanWithoutATypeIsARamp(t *testing.T) {
	p := plan.Procedure{}
	if got := fmt.Sprintf("%T", procedures.New(p)); got != "ramp.Ramp" {
		t.Errorf("%s", got)
	}
	if err := procedures.Check(p, nil); err != nil {
		t.Error(err)
	}
}

func TestATypeThatIsNotKnownIsRefused(t *testing.T) {
	err := procedures.Check(plan.Procedure{Type: "Latency"}, nil)
	const want = `procedure.type "Latency" is not known here; this linerate knows BackToBack, ConstantLoad, FrameLoss, MaximumOfferedLoad, Ramp, Search, Soak, Trains: use one of these, or the linerate that wrote the plan`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
