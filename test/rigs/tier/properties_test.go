package tier_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the packages whose full tier other targets of the Makefile play, as they need root or minutes of real packets.
var elsewhere = []string{"./internal/run/iperf3", "./internal/run/sessions"}

// drawsMore finds what a package repeats more often in the full tier: itself, or by proceduretest's AnyHistoryEnds.
var drawsMore = regexp.MustCompile(`(?m)tier\.(Times|Some|Full)\b|^//go:build full|\bAnyHistoryEnds\(t, func`)

// TestPropertiesHasEveryPackageThatDrawsMoreInTheFullTier: what a target of the Makefile leaves out is never played whole.
func TestPropertiesHasEveryPackageThatDrawsMoreInTheFullTier(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(makefile), "\nproperties:")
	_, recipe, _ := strings.Cut(rest, "\n")
	recipe, _, _ = strings.Cut(recipe, "\n")
	played := slices.DeleteFunc(strings.Fields(recipe), func(word string) bool { return !strings.HasPrefix(word, "./internal/") })
	if !found || len(played) == 0 {
		t.Fatalf("the Makefile has no target properties that tests packages: %q", recipe)
	}
	var want []string
	err = fs.WalkDir(os.DirFS("../../.."), "internal", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile("../../../" + name)
		pkg := "./" + path.Dir(name)
		if drawsMore.Match(text) && !slices.Contains(want, pkg) && !slices.Contains(elsewhere, pkg) {
			want = append(want, pkg)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(played)
	slices.Sort(want)
	if !slices.Equal(played, want) {
		t.Errorf("make properties plays\n%s\nand these draw more in the full tier:\n%s", strings.Join(played, "\n"), strings.Join(want, "\n"))
	}
}
