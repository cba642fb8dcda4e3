package apiserver

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// invalid is an example of a fault, with what its first two lines say of it.
type invalid struct {
	document   []byte
	want       string // the message that its author must get
	byCompiler bool   // the server can't see the fault
	inCluster  bool   // it is one in a cluster only
}

func readInvalid(t *testing.T, file string) invalid {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	want, ok := strings.CutPrefix(first, "# want: ")
	if !ok {
		t.Fatalf("the first line is %q: it must say what is wanted", first)
	}
	inCluster := strings.HasPrefix(rest, "# refused by: cluster\n")
	return invalid{document: text, want: want, inCluster: inCluster, byCompiler: inCluster || strings.HasPrefix(rest, "# refused by: compile\n")}
}

func TestInvalidExamplesAreRefused(t *testing.T) {
	namespace, admit, rules := newNamespace(t), newAdmission(t), ruleMessages(t)
	byRule, byCompiler := 0, 0
	for _, file := range exampleFiles(t, "config/invalid-examples/*.yaml") {
		t.Run(base(file), func(t *testing.T) {
			example := readInvalid(t, file)
			name, err := create(t, namespace, example.document)
			if example.byCompiler {
				byCompiler++
				if err != nil {
					t.Fatalf("only the compiler should refuse it: %v", err)
				}
				refusedByCompiler(t, admit, stored(t, namespace, name), example)
				return
			}
			if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Fatalf("the server says %v", err)
			}
			if saidByRule(rules, example.want) {
				byRule++
				if !strings.Contains(err.Error(), example.want) {
					t.Errorf("got  %v\nwant …%s…", err, example.want)
				}
			}
		})
	}
	if byRule == 0 || byCompiler == 0 {
		t.Errorf("refused by a rule: %d, by the compiler: %d: the headers are not understood", byRule, byCompiler)
	}
	t.Logf("refused by a rule: %d, by the compiler: %d", byRule, byCompiler)
}

// saidByRule tells faults that a CEL rule finds, and so in our words, from those that the server finds in its own. A rule says "at least 100ms"
// and not "at least 1".
func saidByRule(rules []string, want string) bool {
	return slices.ContainsFunc(rules, func(message string) bool {
		_, after, found := strings.Cut(message, want)
		next, _ := utf8.DecodeRuneInString(after)
		return found && !unicode.IsDigit(next) && !unicode.IsLetter(next)
	})
}

// refusedByCompiler compiles what the server gives back, as kubectl would print it.
func refusedByCompiler(t *testing.T, admit *admission.Server, test *v1alpha1.LoadTest, example invalid) {
	t.Helper()
	text, err := yaml.Marshal(test)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := admit.Load("stored.yaml", bytes.NewReader(text))
	if err != nil {
		t.Fatalf("the server stored it, admission refuses it: %v", err)
	}
	_, faults := compile.Compile(test)
	if example.inCluster {
		_, faults = compile.ForCluster(test)
	}
	if err := objects[0].Faults(faults); err == nil || !strings.Contains(err.Error(), example.want) {
		t.Errorf("got  %v\nwant …%s…", err, example.want)
	}
}
