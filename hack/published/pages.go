package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/surprise"
	"github.com/linerate-dev/linerate/test/published"
)

// page is one of docs/measured/published: its suites, and the tables in which their cells are beside the published figures.
type page struct {
	file, suites string // of docs/measured/published, and of examples/published
	of           []string
	tables       []table
}

// table has a row for each label.
type table struct {
	title, of string // of says what the labels are
	rows      []string
	columns   []column
}

// column holds either published figures or linerate's, one for each row.
type column struct {
	head      string
	published []string
	ours      []ref
}

// name of the part of each page that is written here.
const part = "measured"

// write writes the measured part of each page from the suites that are kept in a directory. A page of which none is kept stays as it is.
func write(dir, save string) error {
	suites, err := readKept(save)
	if err != nil {
		return err
	}
	var wrong []error
	for _, p := range pages() {
		wrong = append(wrong, published.Again(filepath.Join(dir, p.file), part, func(old string) string {
			if old != "" && !slices.ContainsFunc(p.of, func(name string) bool { return suites[name] != nil }) {
				return old
			}
			return p.text(suites)
		}))
	}
	return errors.Join(wrong...)
}

// text is the page's part.
func (p page) text(suites kept) string {
	var b strings.Builder
	for _, t := range p.tables {
		t.write(&b, suites)
	}
	var measured []*report.Suite
	for _, name := range p.of {
		if source := suites.source(name); source != "" {
			fmt.Fprintf(&b, "- %s.\n", source)
			measured = append(measured, suites[name])
		} else {
			fmt.Fprintf(&b, "- %s: %s.\n", name, notMeasured)
		}
	}
	if strings.Contains(b.String(), notMeasured) {
		fmt.Fprintf(&b, "\nWhat is not measured yet, `make published-loadtests FORM=published` measures, with all four pages, or `linerate run examples/published/%s` this page alone; `go run ./hack/published -pages docs/measured/published` then writes it here.\n", p.suites)
	}
	if len(measured) == 0 {
		return b.String()
	}
	b.WriteString("\nAgainst expectation:\n\n")
	found := surprise.Of(measured...)
	for _, s := range found {
		fmt.Fprintf(&b, "- %s.\n", s.Words)
	}
	if len(found) == 0 {
		b.WriteString("- nothing.\n")
	}
	return b.String()
}

func (t table) write(b *strings.Builder, suites kept) {
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
			switch {
			case c.ours != nil && c.ours[i].as != nil:
				text = suites.text(c.ours[i])
			case c.published != nil && c.published[i] != "":
				text = c.published[i]
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
