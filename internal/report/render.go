package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// format is one way to write reports.
type format struct {
	name  string
	write func(io.Writer, ...*Report) error
}

func formats() []format {
	return []format{{"text", Text}, {"json", JSON}, {"markdown", Markdown}, {"junit", JUnit}, {"html", HTML}, {"viz", oneViz}}
}

// Formats are the names that Render takes, in the order to show them.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Render writes the reports in the named format, one of Formats. Several reports make one document, but for "viz", which holds one.
func Render(w io.Writer, name string, reports ...*Report) error {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("format %q is not known: use one of %s", name, strings.Join(Formats(), ", "))
	}
	return all[i].write(w, reports...)
}

func oneViz(w io.Writer, reports ...*Report) error {
	if len(reports) != 1 {
		return fmt.Errorf("format viz holds one test, and %s were given: write each to a file of its own, named as its line in the graph", counted(len(reports), "report"))
	}
	return Viz(w, reports[0])
}
