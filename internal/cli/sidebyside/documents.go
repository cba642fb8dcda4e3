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

// HoldsReports says whether a directory's file may hold Reports, packed with gzip or not, by its name: a suite's document only refers to them.
func HoldsReports(name string) bool {
	name = strings.TrimSuffix(name, packedSuffix)
	return strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, SuiteSuffix)
}

// packedSuffix ends the names of files that are packed with gzip.
const packedSuffix = ".gz"

// ReadFile passes a file to read, unpacked if its name ends like a packed file's.
func ReadFile(name string, read func(io.Reader) error) (err error) {
	in, err := intake.Open(name, report.MaxDocument)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return read(in)
}

// AddBaselineDocuments adds to a baseline what a path holds: Reports and suites' documents in a file ("-": stdin), or the Reports of a folder and the folders below it.
func AddBaselineDocuments(stdin io.Reader, path string, to *suite.Reference) error {
	if info, err := os.Stat(path); path == "-" || err != nil || !info.IsDir() {
		return addFile(stdin, path, to)
	}
	before := len(to.Reports)
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !HoldsReports(file) {
			return err
		}
		if err := addFile(stdin, file, to); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	if err == nil && len(to.Reports) == before {
		err = fmt.Errorf("it holds no Report: linerate run --save %s keeps them there, and kubectl linerate report NAME -o json writes them", path)
	}
	return err
}

func addFile(stdin io.Reader, name string, to *suite.Reference) error {
	documents, err := ReadDocuments(stdin, name)
	if err != nil {
		return err
	}
	for _, r := range documents.Reports {
		r.Samples = nil // nothing is compared of them
		to.Reports = append(to.Reports, analysis.KeptReport{Report: r})
	}
	for _, s := range documents.Suites {
		if err := to.Add(s); err != nil {
			return err
		}
	}
	return nil
}

// ReadDocuments reads the reports of tests and suites in a file; "-" is stdin.
func ReadDocuments(stdin io.Reader, name string) (d report.Documents, err error) {
	if name == "-" {
		return report.ReadDocuments(stdin)
	}
	err = ReadFile(name, func(in io.Reader) (err error) {
		d, err = report.ReadDocuments(in)
		return err
	})
	return d, err
}
