package sidebyside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// SuiteSuffix ends the names of files that hold a suite's document.
const SuiteSuffix = ".suite.json"

// HoldsReports reports whether a file of this name may hold Reports, packed with gzip or not. A suite's
// document only refers to Reports.
func HoldsReports(name string) bool {
	name = strings.TrimSuffix(name, packedSuffix)
	return strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, SuiteSuffix)
}

// packedSuffix ends the names of files that are packed with gzip.
const packedSuffix = ".gz"

// ReadFile passes a file's content to read, unpacked if the name ends with packedSuffix.
func ReadFile(name string, read func(io.Reader) error) (err error) {
	input, err := intake.Open(name, report.MaxDocument)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	return read(input)
}

// AddBaselineDocuments adds what a path holds to a baseline. A file ("-" is stdin) holds Reports and suites'
// documents. Of a folder and the folders below it, only Reports are added.
func AddBaselineDocuments(stdin io.Reader, path string, reference *suite.Reference) error {
	if info, err := os.Stat(path); path == "-" || err != nil || !info.IsDir() {
		return addFile(stdin, path, reference)
	}
	reportsBefore := len(reference.Reports)
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !HoldsReports(file) {
			return err
		}
		if err := addFile(stdin, file, reference); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	if err == nil && len(reference.Reports) == reportsBefore {
		err = fmt.Errorf("it holds no Report: linerate run --save %s keeps them there, and kubectl linerate report "+
			"NAME -o json writes them", path)
	}
	return err
}

func addFile(stdin io.Reader, name string, reference *suite.Reference) error {
	documents, err := ReadDocuments(stdin, name)
	if err != nil {
		return err
	}
	for _, r := range documents.Reports {
		r.Samples = nil // comparisons don't need them
		reference.Reports = append(reference.Reports, analysis.KeptReport{Report: r})
	}
	for _, s := range documents.Suites {
		if err := reference.Add(s); err != nil {
			return err
		}
	}
	return nil
}

// ReadDocuments reads the reports of tests and suites in a file. "-" is stdin.
func ReadDocuments(stdin io.Reader, name string) (d report.Documents, err error) {
	if name == "-" {
		return report.ReadDocuments(stdin)
	}
	err = ReadFile(name, func(input io.Reader) (err error) {
		d, err = report.ReadDocuments(input)
		return err
	})
	return d, err
}
