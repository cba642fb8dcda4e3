package published

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "before\n<!-- one: made by go test -->\nold\n<!-- end of one -->\nbetween\n<!-- two: by hand -->\nold\n<!-- end of two -->\nafter\n"

func TestSection(t *testing.T) {
	for _, c := range []struct{ what, name, want string }{
		{"only the part of that name is new", "two", "before\n<!-- one: made by go test -->\nold\n<!-- end of one -->\nbetween\n<!-- two: by hand -->\nnew\n<!-- end of two -->\nafter\n"},
		{"a page without such a part stays as it is", "three", page},
	} {
		t.Run(c.what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Section(file, c.name, "new\n")
			got, _ := os.ReadFile(file)
			if string(got) != c.want || (err == nil) == (c.want == page) {
				t.Errorf("%v; the page is now:\n%s", err, got)
			}
		})
	}
}

func TestASectionIsReplacedInPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Rewrite(file, "two", func(old string) string { return old + "and new\n" }); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if want := strings.Replace(page, "<!-- two: by hand -->\nold\n", "<!-- two: by hand -->\nold\nand new\nand new\n", 1); err != nil || string(got) != want {
		t.Errorf("%v; the page is now:\n%s", err, got)
	}
}
