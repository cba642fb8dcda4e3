package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Documents are what was measured: Reports of single tests, and suites.
type Documents struct {
	Reports []*Report
	Suites  []*Suite
}

// Fits says whether so many tests and suites can be written in the named format, which is one of Formats: who asks early measures nothing in
// vain.
func Fits(name string, tests, suites int) error {
	switch {
	case !slices.Contains(Formats(), name):
		return fmt.Errorf("there is no such format as %s; use one of %s", name, strings.Join(Formats(), ", "))
	case name == "viz" && suites > 0:
		return errors.New("format viz holds one test, and a suite has several: write text, json, markdown, junit or html, or a test of the suite's by its name")
	case name == "viz" && tests > 1:
		return fmt.Errorf("format viz holds one test, and there are %d: write them one at a time", tests)
	case name == "html" && (suites > 1 || suites > 0 && tests > 0):
		return errors.New("format html holds one suite, or tests alone: write them one at a time")
	}
	return nil
}

// Render writes all of them in the named format: as one document where the format has such a thing (markdown, junit), else one after the
// other, tests first.
func (d Documents) Render(w io.Writer, name string) error { return d.RenderFor(w, name, TextOptions{}) }

// RenderFor is Render, for a terminal where the options say so: only text heeds them.
func (d Documents) RenderFor(w io.Writer, name string, o TextOptions) error {
	if err := Fits(name, len(d.Reports), len(d.Suites)); err != nil {
		return err
	}
	if name == "junit" {
		return d.junit(w)
	}
	if len(d.Reports) > 0 {
		if err := o.render(w, name, d.Reports); err != nil {
			return err
		}
	}
	for i, s := range d.Suites {
		if err := d.between(w, name, i); err != nil {
			return err
		}
		if err := s.write(w, name, o); err != nil {
			return err
		}
	}
	return nil
}

// between parts what people read.
func (d Documents) between(w io.Writer, name string, suite int) error {
	if len(d.Reports)+suite == 0 || name == "json" {
		return nil
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// write writes a suite in a format that holds one by itself.
func (s *Suite) write(w io.Writer, name string, o TextOptions) error {
	switch name {
	case "json":
		out := *s
		out.Version = SuiteVersion
		return writeDocument(w, &out)
	case "markdown":
		return s.Table().Markdown(w)
	case "html":
		return s.Table().HTML(w)
	}
	return s.Table().Text(w, o)
}

func (o TextOptions) render(w io.Writer, name string, reports []*Report) error {
	if name == "text" {
		return o.Write(w, reports...)
	}
	return Render(w, name, reports...)
}

func (d Documents) junit(w io.Writer) error {
	doc := newJUnit()
	for _, r := range d.Reports {
		s, err := junitSuiteOf(r)
		if err != nil {
			return err
		}
		doc.add(s, r.Finished.Sub(r.Started))
	}
	for _, s := range d.Suites {
		for i := range s.Cells {
			cell, took := s.junitCell(&s.Cells[i])
			doc.add(cell, took)
		}
	}
	return doc.write(w)
}
