package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/test/pages/published"
)

// page is one of docs/measured/published: what was published, figure by figure, beside what linerate measured, and all cells of linerate's suites.
type page struct {
	file, suites string // of docs/measured/published, and of examples/published
	of           []string
	beside       []publishedCell
	tables       []table
}

// publishedCell is a figure that was published, and what of ours stands beside it. They come from published.yaml.
type publishedCell struct {
	Cell   string   `json:"cell"`
	Figure string   `json:"figure"`
	Beside []beside `json:"beside,omitempty"` // none: nothing of ours can stand there
	Apart  string   `json:"apart,omitempty"`  // what can't be compared
}

// beside names a cell of a suite and its figures: "routers router imix".
type beside struct {
	Name string   `json:"name,omitempty"`
	Of   string   `json:"of"`
	As   []string `json:"as"`
}

func (b beside) refs() (all []ref) {
	suite, cell, _ := strings.Cut(b.Of, " ")
	for _, as := range b.As {
		all = append(all, ref{suite, cell, as})
	}
	return all
}

// table has a row for each label.
type table struct {
	title, of string // of says what the labels are
	rows      []string
	columns   []column
}

// column has a figure in each row; a ref without a suite has none.
type column struct {
	head string
	ours []ref
}

// refs are all figures that the page shows.
func (p page) refs() (all []ref) {
	for _, c := range p.beside {
		for _, b := range c.Beside {
			all = append(all, b.refs()...)
		}
	}
	for _, t := range p.tables {
		for _, c := range t.columns {
			all = append(all, c.ours...)
		}
	}
	return slices.DeleteFunc(all, func(r ref) bool { return r.suite == "" })
}

const (
	// publishedFile has the published figures, below the names of the suites' files.
	publishedFile = "published.yaml"
	// part and minutesPart are the names of what is written here: of each page, and of their first one.
	part, minutesPart = "measured", "minutes"
)

// readPages are the four published loadtests.
func readPages(dir string) ([]page, error) {
	text, err := os.ReadFile(filepath.Join(dir, publishedFile))
	if err != nil {
		return nil, err
	}
	cells := map[string][]publishedCell{}
	if err := yaml.UnmarshalStrict(text, &cells); err != nil {
		return nil, fmt.Errorf("%s: %w", publishedFile, err)
	}
	all := []page{routersPage(), floodPage(), modesPage(), sessionsPage()}
	for i := range all {
		name := strings.TrimSuffix(all[i].file, ".md")
		if all[i].beside = cells[name]; len(all[i].beside) == 0 {
			return nil, fmt.Errorf("%s has no figures of %s", publishedFile, name)
		}
	}
	return all, nil
}

// write takes over what is kept of suites in their published form, and writes the pages.
func write(dir, save string) error {
	all, err := readPages(dir)
	if err != nil {
		return err
	}
	m, err := readMeasured(dir)
	if err != nil {
		return err
	}
	for _, way := range ways() {
		if err := m[way].take(way, dirOf(save, way, formPublished), all); err != nil {
			return err
		}
	}
	wrong := []error{m.write(dir)}
	for _, p := range all {
		wrong = append(wrong, published.Section(filepath.Join(dir, p.file), part, p.text(m)))
	}
	return errors.Join(wrong...)
}

// writeMinutes writes how long the suites take.
func writeMinutes(dir string, all []reckoning) error {
	return published.Section(filepath.Join(dir, "README.md"), minutesPart, minutesTable(all))
}

// text is the page's part.
func (p page) text(m measured) string {
	var b strings.Builder
	b.WriteString("### Beside the published figures\n\n| published | figure | by `linerate run` | by the operator | what can't be compared |\n| --- | ---: | ---: | ---: | --- |\n")
	for _, c := range p.beside {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Cell, c.Figure, c.ours(m, onMachine), c.ours(m, byOperator), c.Apart)
	}
	p.cells(&b, m, onMachine, "by `linerate run`")
	p.cells(&b, m, byOperator, "by the operator")
	return b.String()
}

// ours is what a way measured beside a published figure.
func (c publishedCell) ours(m measured, way string) string {
	if len(c.Beside) == 0 {
		return "-"
	}
	var all []string
	nothing := true
	for _, b := range c.Beside {
		var texts []string
		for _, r := range b.refs() {
			texts = append(texts, m.text(way, r))
		}
		text := strings.Join(slices.Compact(texts), ", ")
		nothing = nothing && text == notMeasured
		if b.Name != "" {
			text = b.Name + ": " + text
		}
		all = append(all, text)
	}
	if nothing {
		return notMeasured
	}
	return strings.Join(all, "; ")
}

// cells are all cells of the page's suites, as a way measured them.
func (p page) cells(b *strings.Builder, m measured, way, words string) {
	fmt.Fprintf(b, "\n### All cells, %s\n\n", words)
	var still, over []string
	for _, t := range p.tables {
		t.write(b, m, way)
	}
	for _, name := range p.of {
		s, is := m[way].Suites[name]
		why := ""
		if way == byOperator {
			why = onlyByRun(name)
		}
		switch {
		case is:
			over = append(over, name)
			fmt.Fprintf(b, "- %s: %s.\n", name, s.Source)
		case why != "":
			fmt.Fprintf(b, "- %s: not by the operator: %s.\n", name, why)
		default:
			fmt.Fprintf(b, "- %s: %s.\n", name, notMeasured)
		}
		if why == "" && !s.Over {
			still = append(still, name)
		}
	}
	if len(still) > 0 {
		flags := "-suite " + strings.Join(still, ",")
		if way == byOperator {
			flags = "-operator " + flags
			for _, name := range still {
				if byImage()[name] != "" {
					flags += " -image " + name + "=IMAGE"
				}
			}
		}
		fmt.Fprintf(b, "\nWhat is not measured yet, `make published-loadtests FORM=published PLAY='%s'` measures, and writes it here.\n", flags)
	}
	if len(over) == 0 {
		return
	}
	b.WriteString("\nAgainst expectation:\n\n")
	for _, s := range m[way].Surprises[p.file] {
		fmt.Fprintf(b, "- %s.\n", s.Words)
	}
	if len(m[way].Surprises[p.file]) == 0 {
		b.WriteString("- nothing.\n")
	}
}

func (t table) write(b *strings.Builder, m measured, way string) {
	fmt.Fprintf(b, "%s\n\n| %s |", t.title, t.of)
	rule := "\n| --- |"
	for _, c := range t.columns {
		fmt.Fprintf(b, " %s |", c.head)
		rule += " ---: |"
	}
	b.WriteString(rule + "\n")
	for i, label := range t.rows {
		fmt.Fprintf(b, "| %s |", label)
		for _, c := range t.columns {
			text := "-"
			if c.ours[i].suite != "" {
				text = m.text(way, c.ours[i])
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
