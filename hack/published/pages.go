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

// page is one of docs/measured/published: what was published, figure by figure, beside what linerate measured,
// and all cells of linerate's suites.
type page struct {
	file, suites string // of docs/measured/published, and of examples/published
	labels       []string
	counterparts []publishedCell
	tables       []table
}

// publishedCell is a figure that was published, and what of ours stands beside it. They come from published.yaml.
type publishedCell struct {
	Cell   string        `json:"cell"`
	Figure string        `json:"figure"`
	Beside []counterpart `json:"beside,omitempty"` // none: nothing of ours can stand there
	Apart  string        `json:"apart,omitempty"`  // what can't be compared
}

// counterpart names a cell of a suite and its figures: "routers router imix".
type counterpart struct {
	Name string   `json:"name,omitempty"`
	Of   string   `json:"of"`
	As   []string `json:"as"`
}

func (b counterpart) refs() (refsList []ref) {
	suite, cell, _ := strings.Cut(b.Of, " ")
	for _, unit := range b.As {
		refsList = append(refsList, ref{suite, cell, unit})
	}
	return refsList
}

// table has a row for each label.
type table struct {
	title, labels string // what the labels stand for
	rows          []string
	columns       []column
}

// column has a figure in each row; a ref without a suite has none.
type column struct {
	head string
	ours []ref
}

// refs are all figures that the page shows.
func (p page) refs() (refsList []ref) {
	for _, c := range p.counterparts {
		for _, b := range c.Beside {
			refsList = append(refsList, b.refs()...)
		}
	}
	for _, t := range p.tables {
		for _, c := range t.columns {
			refsList = append(refsList, c.ours...)
		}
	}
	return slices.DeleteFunc(refsList, func(r ref) bool { return r.suite == "" })
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
	pages := []page{routersPage(), floodPage(), modesPage(), sessionsPage()}
	for i := range pages {
		name := strings.TrimSuffix(pages[i].file, ".md")
		if pages[i].counterparts = cells[name]; len(pages[i].counterparts) == 0 {
			return nil, fmt.Errorf("%s has no figures of %s", publishedFile, name)
		}
	}
	return pages, nil
}

// write takes over what is kept of suites in their published form, and writes the pages.
func write(dir, save string) error {
	pages, err := readPages(dir)
	if err != nil {
		return err
	}
	m, err := readMeasured(dir)
	if err != nil {
		return err
	}
	for _, method := range ways() {
		if err := m[method].take(method, dirOf(save, method, formPublished), pages); err != nil {
			return err
		}
	}
	wrong := []error{m.write(dir)}
	for _, p := range pages {
		wrong = append(wrong, published.Section(filepath.Join(dir, p.file), part, p.text(m)))
	}
	return errors.Join(wrong...)
}

// writeMinutes writes how long the suites take.
func writeMinutes(dir string, reckonings []reckoning) error {
	return published.Section(filepath.Join(dir, "README.md"), minutesPart, minutesTable(reckonings))
}

// text is the page's part.
func (p page) text(m measured) string {
	var b strings.Builder
	b.WriteString("### Beside the published figures\n\n| published | figure | by `linerate run` | by the operator | what can't be compared |\n| --- | ---: | ---: | ---: | --- |\n")
	for _, c := range p.counterparts {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Cell, c.Figure, c.ours(m, onMachine), c.ours(m, byOperator),
			c.Apart)
	}
	p.cells(&b, m, onMachine, "by `linerate run`")
	p.cells(&b, m, byOperator, "by the operator")
	return b.String()
}

// ours is what a way measured beside a published figure.
func (c publishedCell) ours(m measured, method string) string {
	if len(c.Beside) == 0 {
		return "-"
	}
	var all []string
	empty := true
	for _, b := range c.Beside {
		var texts []string
		for _, r := range b.refs() {
			texts = append(texts, m.text(method, r))
		}
		text := strings.Join(slices.Compact(texts), ", ")
		empty = empty && text == notMeasured
		if b.Name != "" {
			text = b.Name + ": " + text
		}
		all = append(all, text)
	}
	if empty {
		return notMeasured
	}
	return strings.Join(all, "; ")
}

// cells are all cells of the page's suites, as a way measured them.
func (p page) cells(b *strings.Builder, m measured, method, words string) {
	fmt.Fprintf(b, "\n### All cells, %s\n\n", words)
	var pending, finished []string
	for _, t := range p.tables {
		t.write(b, m, method)
	}
	for _, name := range p.labels {
		s, ok := m[method].Suites[name]
		reason := ""
		if method == byOperator {
			reason = onlyByRun(name)
		}
		switch {
		case ok:
			finished = append(finished, name)
			fmt.Fprintf(b, "- %s: %s.\n", name, s.Source)
		case reason != "":
			fmt.Fprintf(b, "- %s: not by the operator: %s.\n", name, reason)
		default:
			fmt.Fprintf(b, "- %s: %s.\n", name, notMeasured)
		}
		if reason == "" && !s.Ended {
			pending = append(pending, name)
		}
	}
	if len(pending) > 0 {
		flags := "-suite " + strings.Join(pending, ",")
		if method == byOperator {
			flags = "-operator " + flags
			for _, name := range pending {
				if byImage()[name] != "" {
					flags += " -image " + name + "=IMAGE"
				}
			}
		}
		fmt.Fprintf(b, "\nWhat is not measured yet, `make published-loadtests FORM=published PLAY='%s'` measures, and writes it here.\n", flags)
	}
	if len(finished) == 0 {
		return
	}
	b.WriteString("\nAgainst expectation:\n\n")
	for _, s := range m[method].Surprises[p.file] {
		fmt.Fprintf(b, "- %s.\n", s.Words)
	}
	if len(m[method].Surprises[p.file]) == 0 {
		b.WriteString("- nothing.\n")
	}
}

func (t table) write(b *strings.Builder, m measured, method string) {
	fmt.Fprintf(b, "%s\n\n| %s |", t.title, t.labels)
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
				text = m.text(method, c.ours[i])
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
