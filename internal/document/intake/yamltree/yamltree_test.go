package yamltree_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
)

// allocated is how many bytes something takes, whether they are given back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// doubling is a document whose each line stands for twice the line before.
func doubling(lines int, first string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "a0: &a0 %s\n", first)
	for i := 1; i < lines; i++ {
		fmt.Fprintf(&s, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return s.String()
}

func merging(times int) string {
	var s strings.Builder
	s.WriteString("base: &base {")
	for i := range 1000 {
		fmt.Fprintf(&s, "k%d: 1, ", i)
	}
	s.WriteString("}\nall:\n")
	for i := range times {
		fmt.Fprintf(&s, "  m%d: {<<: *base}\n", i)
	}
	return s.String()
}

func TestYAMLThatWasMadeToFillMemoryIsRefusedBeforeItIsDecoded(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"aliases of aliases":            {doubling(60, "[x, y]"), "more than 400,000 values"},
		"a long text, named many times": {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 90_000) + "]\n", "more than 8 MiB of text"},
		"a merge key, again and again":  {merging(500), "more than 400,000 values"},
		"an alias within what it names": {"a: &a [*a]\n", "within what it names"},
		"lists in each other":           {strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), "nested more than 100 deep"},
		"lists in each other, by names": {doublingOnce(300), "nested 302 deep"},
		"many small members":            {"a: {" + strings.Repeat("a: b, ", 250_000) + "}", "400,000 is the most"},
		"a wide list":                   {"[" + strings.Repeat("a,", 1<<20) + "]", "400,000 is the most"},
		"many lines":                    {strings.Repeat("- a\n", 700_000), "400,000 is the most"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			taken := allocated(func() { _, err = yamltree.Parse([]byte(c.text)) })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %v, want %q", err, c.says)
			}
			t.Logf("refusing it takes %d bytes", taken)
			if taken > 128<<20 {
				t.Errorf("refusing it takes %d bytes of memory", taken)
			}
		})
	}
}

// doublingOnce nests by names alone: each line is a list of the line before.
func doublingOnce(lines int) string {
	var s strings.Builder
	s.WriteString("- &a0 x\n")
	for i := 1; i < lines; i++ {
		fmt.Fprintf(&s, "- &a%d [*a%d]\n", i, i-1)
	}
	return s.String()
}

// What is refused by none of the bounds takes no more than half a gigabyte.
func TestTheHeaviestYAMLThatIsReadTakesLessThanItsBound(t *testing.T) {
	for name, text := range map[string]string{
		"a wide list": "[" + strings.Repeat("a,", 399_000) + "]",
		"many lines":  strings.Repeat("- a\n", 199_000),
		"mappings":    strings.Repeat("- {a: 1}\n", 90_000),
	} {
		taken := allocated(func() {
			tree, err := yamltree.Parse([]byte(text))
			if err == nil {
				_, err = tree.JSON(false)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		t.Logf("%s takes %d bytes", name, taken)
		if taken > 768<<20 {
			t.Errorf("%s takes %d bytes", name, taken)
		}
	}
}

func TestNamesAndMergeKeysOfAnHonestFileAreRead(t *testing.T) {
	tree, err := yamltree.Parse([]byte("x: &x {a: 1}\nz:\n  <<: *x\n  b: *x\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.JSON(false)
	if want := `{"x":{"a":1},"z":{"a":1,"b":{"a":1}}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
