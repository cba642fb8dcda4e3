package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/history"
)

// reportFiles reads Reports from files and directories. It skips files of a directory that hold no Report, and
// names them at the end.
type reportFiles struct {
	stdin   io.Reader
	skipped []string
}

// records reads the Reports behind a path. The path "-" is stdin. A file holds one or more Reports, packed with
// gzip or not. A directory is searched, with all its subdirectories, for *.json and *.json.gz. Of each Report
// only what a comparison needs stays in memory, not its windows and samples.
func (a *reportFiles) records(path string) ([]history.Record, error) {
	if path == "-" {
		return a.read("-", a.stdin)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, exit.BadInput("%w", err)
	case !info.IsDir():
		records, err := a.file(path)
		if err != nil {
			return nil, exit.BadInput("%s: %w", path, err)
		}
		return records, nil
	}
	return a.directory(path)
}

func (a *reportFiles) directory(path string) ([]history.Record, error) {
	var records []history.Record
	skippedBefore := len(a.skipped)
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !sidebyside.HoldsReports(file) {
			return err
		}
		found, err := a.file(file)
		if err != nil {
			a.skipped = append(a.skipped, fmt.Sprintf("%s: %v", file, err))
			return nil
		}
		records = append(records, found...)
		return nil
	})
	switch {
	case err != nil:
		return nil, exit.BadInput("%w", err)
	case len(records) == 0 && len(a.skipped) > skippedBefore:
		return nil, exit.BadInput("%s holds no Report that can be read; the first of %d files: %s", path,
			len(a.skipped)-skippedBefore, a.skipped[skippedBefore])
	case len(records) == 0:
		return nil, exit.BadInput("%s holds no Report: linerate run --save %s keeps them there", path, path)
	}
	return records, nil
}

func (a *reportFiles) file(name string) (records []history.Record, err error) {
	err = sidebyside.ReadFile(name, func(input io.Reader) (err error) {
		records, err = a.read(name, input)
		return err
	})
	return records, err
}

func (a *reportFiles) read(name string, input io.Reader) ([]history.Record, error) {
	reports, err := report.Read(input)
	if err != nil {
		return nil, err
	}
	records := make([]history.Record, len(reports))
	for i, r := range reports {
		lossy := r.LowestLossy()
		r.Windows, r.Samples = nil, nil
		if lossy != nil && !r.Answer.Measured {
			r.Windows = []report.Window{*lossy}
		}
		records[i] = history.Record{Name: name, Report: r}
	}
	return records, nil
}

// printSkipped names on stderr the files that were skipped.
func (a *reportFiles) printSkipped(stderr io.Writer) {
	for i, s := range a.skipped {
		if i == 5 {
			fmt.Fprintf(stderr, "and %d more\n", len(a.skipped)-i)
			return
		}
		fmt.Fprintf(stderr, "left out: %s\n", s)
	}
}

// sideNames are the last parts of the paths, or the whole paths if two last parts are the same.
func sideNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(p), ".gz"), ".json")
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) < len(names) {
		return slices.Clone(paths)
	}
	return names
}

// sides reads the Reports to compare, one side for each path.
func (a *reportFiles) sides(paths []string) ([]history.Side, error) {
	names := sideNames(paths)
	var sides []history.Side
	var errs []error
	for i, path := range paths {
		records, err := a.records(path)
		errs = append(errs, err)
		sides = append(sides, history.Side{Name: names[i], Records: records})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, exit.BadInput("%w", err)
	}
	return sides, nil
}
