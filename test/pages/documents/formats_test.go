package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/render"
)

// What a page says of -o is what the programs take.
func TestPagesNameExistingFormats(t *testing.T) {
	kinds := []render.Kind{render.Tests, render.Table, render.Comparison, render.Trend, render.Gate}
	lists := regexp.MustCompile(`-o ((?:[a-z]+\|)+[a-z]+)|-o FORMAT\[=FILE\],…` + "`: " + `((?:[a-z]+, )+[a-z]+);`)
	found := 0
	for name, text := range pages(t) {
		for _, m := range lists.FindAllStringSubmatch(text, -1) {
			found++
			named := strings.Split(strings.ReplaceAll(m[1]+m[2], ", ", "|"), "|")
			if !slices.ContainsFunc(kinds, func(k render.Kind) bool { return slices.Equal(named, render.Formats(k)) }) {
				t.Errorf("%s names the formats %q, which no kind of document has in that order", name, named)
			}
		}
	}
	if found < 4 {
		t.Errorf("%d lists of formats were found, and there were 4 at least", found)
	}
}
