package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// limits are what the documents of one input may have together. An hour sampled each second is about 2 MB of text
// and 3 MB of memory; three bytes of a window without anything in it are 456 bytes of memory.
var limits = intake.Limits{Bytes: MaxDocument, Memory: 256 << 20}

// MaxDocument is the most bytes that the documents of one input may have together, unpacked.
const MaxDocument = 64 << 20

// JSON writes the reports as one indented document each, one after the other, as Read reads them.
func JSON(w io.Writer, reports ...*Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	for i, r := range reports {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write report %d: %w", i+1, err)
		}
	}
	return nil
}

// Read reads the reports that JSON wrote, one document after the other, up to 64 MiB that take up to 256 MiB of
// memory. It refuses what is not a report, a report of another version, one that contradicts itself, and an input
// without any report. It ignores members that it doesn't know.
func Read(r io.Reader) ([]*Report, error) {
	return read(r, limits)
}

func read(r io.Reader, limits intake.Limits) ([]*Report, error) {
	var reports []*Report
	err := eachDocument(r, limits, func(document []byte) error {
		r, err := Decode(document)
		reports = append(reports, r)
		return err
	}, reflect.TypeFor[Report]())
	if err != nil {
		return nil, err
	}
	return reports, nil
}

// ReadDocuments reads what Documents wrote as JSON, the reports of tests and of suites, in any order, as strictly
// as Read.
func ReadDocuments(r io.Reader) (Documents, error) {
	var d Documents
	err := eachDocument(r, limits, func(document []byte) error {
		if versionOf(document) == SuiteVersion {
			s, err := ReadSuite(document)
			d.Suites = append(d.Suites, s)
			return err
		}
		r, err := Decode(document)
		d.Reports = append(d.Reports, r)
		return err
	}, reflect.TypeFor[Report](), reflect.TypeFor[Suite]())
	if err != nil {
		return Documents{}, err
	}
	return d, nil
}

// eachDocument hands out the documents of an input, one after the other, which together are within the limits as
// values of each of the types.
func eachDocument(r io.Reader, limits intake.Limits, read func([]byte) error, targets ...reflect.Type) error {
	documents, err := intake.Documents(r, limits, targets...)
	switch {
	case err != nil:
		return err
	case len(documents) == 0:
		return errors.New("the input holds no report: give what linerate wrote with -o json or --save")
	}
	for i, document := range documents {
		switch err := read(document); {
		case err != nil && !json.Valid(document):
			return fmt.Errorf("report %d is not JSON: %w; give what linerate wrote with -o json or --save (NAME.json)",
				i+1, err)
		case err != nil:
			return fmt.Errorf("report %d: %w", i+1, err)
		}
	}
	return nil
}

// versionOf is what kind of document it says to be, or empty for none.
func versionOf(document []byte) string {
	var head struct {
		Version string `json:"version"`
	}
	_ = intake.JSON(document, &head, limits)
	return head.Version
}

// Decode reads one report, and refuses what follows it. Whoever takes documents of others bounds their size first.
func Decode(document []byte) (*Report, error) {
	r := new(Report)
	if err := readDocument(document, r, Version); err != nil {
		return nil, err
	}
	return r, r.check()
}

// readDocument reads one document of this version, and nothing else.
func readDocument(document []byte, target any, version string) error {
	var head struct {
		Version string `json:"version"`
	}
	if err := intake.JSON(document, &head, limits); err != nil {
		return fmt.Errorf("not a report: %w", err)
	}
	if head.Version != version {
		return fmt.Errorf("version is %q, and this linerate reads %q: use the linerate that wrote it", head.Version,
			version)
	}
	return intake.JSON(document, target, limits)
}

// check refuses a report that no run can have written, since its readers rely on it.
func (r *Report) check() error {
	switch {
	case r.Plan == nil:
		return errors.New("it has no plan, so nothing says what was measured")
	case r.Plan.Version != plan.Version:
		return fmt.Errorf("plan.version is %q, and this linerate reads %q", r.Plan.Version, plan.Version)
	case r.Ending == "":
		return errors.New("it doesn't say how the run ended")
	case r.Answer.Measured && (r.Answer.Total == nil || len(r.Answer.Directions) == 0):
		return errors.New("answer.measured is true, and answer.total or answer.directions is missing")
	case r.Answer.Saturated && !r.Answer.Measured:
		return errors.New("answer.saturated is true, and answer.measured is not")
	}
	return cmp.Or(r.checkWindows(), r.checkSamples())
}

func (r *Report) checkWindows() error {
	for _, w := range r.Windows {
		if len(w.Directions) != len(r.Plan.Directions) {
			return fmt.Errorf("window %d has %s, and the plan has %d", w.Number, wording.Counted(len(w.Directions),
				"direction"), len(r.Plan.Directions))
		}
		if w.Evidence != nil && len(w.Evidence.Directions) != len(w.Directions) {
			return fmt.Errorf("window %d has evidence of %s, and the plan has %d", w.Number,
				wording.Counted(len(w.Evidence.Directions), "direction"), len(r.Plan.Directions))
		}
		if w.Start < 0 || w.Duration < 0 {
			return fmt.Errorf("window %d starts at %s and lasts %s: neither can be negative", w.Number, w.Start.Std(),
				w.Duration.Std())
		}
	}
	return nil
}

func (r *Report) checkSamples() error {
	for i, s := range r.Samples {
		if len(s.Directions) != len(r.Plan.Directions) {
			return fmt.Errorf("sample %d has %s, and the plan has %d", i+1, wording.Counted(len(s.Directions),
				"direction"), len(r.Plan.Directions))
		}
	}
	if !slices.IsSortedFunc(r.Samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) }) {
		return errors.New("its samples are not in order of time")
	}
	return nil
}

// Documents are what was measured, as Reports of single tests, and suites.
type Documents struct {
	Reports []*Report
	Suites  []*Suite
}

// writeDocument writes a value as JSON that people can read, too.
func writeDocument(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
