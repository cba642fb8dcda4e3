package pack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

func TestATagChangesWithTheProgramsInAnImage(t *testing.T) {
	dir := t.TempDir()
	program := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tag := func(programs map[string]string) string {
		tag, err := pack.Tag("e2e", programs)
		if err != nil || !strings.HasPrefix(tag, "e2e-") || len(tag) != len("e2e-")+12 {
			t.Fatalf("%q, %v", tag, err)
		}
		return tag
	}
	one := tag(map[string]string{"/linerate": program("a", "one"), "/manager": program("b", "two")})
	if again := tag(map[string]string{"/manager": program("c", "two"), "/linerate": program("d", "one")}); again != one {
		t.Errorf("the same programs have the tags %s and %s", one, again)
	}
	if other := tag(map[string]string{"/linerate": program("a", "one"), "/manager": program("b", "three")}); other == one {
		t.Error("another program has the same tag")
	}
	if _, err := pack.Tag("e2e", map[string]string{"/linerate": filepath.Join(dir, "none")}); err == nil {
		t.Error("a program that isn't there has a tag")
	}
}
