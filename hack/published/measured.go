package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// measuredFile has all figures of the pages that linerate measured, so that a page can be written again
// although the suites' documents, which are large, are gone.
const measuredFile = "measured.json"

// measured are the figures of each way.
type measured map[string]*wayMeasured

// wayMeasured are the figures of one way, and by each page's name what of its suites goes against expectation.
type wayMeasured struct {
	Suites    map[string]suiteMeasured `json:"suites,omitempty"`
	Surprises map[string][]surprising  `json:"surprises,omitempty"`
}

// suiteMeasured are the figures of a suite, as they are shown.
type suiteMeasured struct {
	Source string `json:"source"`
	// Over: each of its tests has ended.
	Ended bool                         `json:"over,omitempty"`
	Cells map[string]map[string]string `json:"cells"`
}

// readMeasured reads the figures of a directory of pages.
func readMeasured(pages string) (measured, error) {
	m := measured{onMachine: {}, byOperator: {}}
	text, err := os.ReadFile(filepath.Join(pages, measuredFile))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	if err := read.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", measuredFile, err)
	}
	for _, method := range ways() {
		if m[method] == nil {
			m[method] = &wayMeasured{}
		}
	}
	return m, nil
}

func ways() []string { return []string{onMachine, byOperator} }

func (m measured) write(pages string) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(pages, measuredFile), append(text, '\n'), 0o644) // a document of the project
}

// take takes over the figures that a way has kept in a directory. A suite that isn't over doesn't take the
// place of one that is.
func (w *wayMeasured) take(method, dir string, pages []page) error {
	for _, p := range pages {
		var suites []*report.Suite
		for _, name := range p.labels {
			s, err := readSuite(filepath.Join(dir, name+".suite.json"))
			if err != nil {
				return err
			}
			if s == nil || s.Finished.IsZero() && w.Suites[name].Ended {
				continue
			}
			if err := takeIdle(s, dir, p.refs()); err != nil {
				return err
			}
			suites = append(suites, s)
			if w.Suites == nil {
				w.Suites, w.Surprises = map[string]suiteMeasured{}, map[string][]surprising{}
			}
			w.Suites[name] = suiteMeasured{Source: source(s, producer(method, dir, s)), Ended: !s.Finished.IsZero(),
				Cells: figuresOf(s, p.refs())}
		}
		if len(suites) == 0 {
			continue
		}
		w.Surprises[p.file] = p.withSurprises(w.Surprises[p.file], suites)
	}
	return nil
}

// producer is the version that measured. What a cluster's document says is how its image was called when it was packed.
func producer(method, dir string, s *report.Suite) string {
	if method == byOperator {
		if text, err := os.ReadFile(filepath.Join(dir, s.Name+".version")); err == nil {
			return "linerate " + string(text)
		}
	}
	return s.Producer
}

// figuresOf are the figures of a suite's cells that pages refer to.
func figuresOf(s *report.Suite, refs []ref) map[string]map[string]string {
	figures, cells := map[string]map[string]string{}, map[string]*report.SuiteCell{}
	for i := range s.Cells {
		cells[cellName(s.Cells[i].Product, s.Cells[i].Loadtest)] = &s.Cells[i]
	}
	for _, r := range refs {
		c := cells[r.cell]
		if r.suite != s.Name || c == nil {
			continue
		}
		text := shown(c, amounts()[r.unit])
		if text == "" {
			continue
		}
		if figures[r.cell] == nil {
			figures[r.cell] = map[string]string{}
		}
		figures[r.cell][r.unit] = text
	}
	return figures
}

// ref names a cell of linerate's suites, and which of its figures is shown.
type ref struct{ suite, cell, unit string }

// cellName is a cell by its row and column in the suite's table.
func cellName(product, loadtest string) string { return strings.TrimSpace(product + " " + loadtest) }

// notMeasured stands where a cell has not been measured.
const notMeasured = "not measured yet"

// text is a figure, the reason why there is none, or that the way has not measured it yet.
func (m measured) text(method string, r ref) string {
	if method == byOperator && onlyByRun(r.suite) != "" {
		return "by `linerate run` only"
	}
	return cmp.Or(m[method].Suites[r.suite].Cells[r.cell][r.unit], notMeasured)
}
