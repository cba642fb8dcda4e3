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

// reportFiles reads Reports from files and directories. It counts the files that it skipped because they hold no Report, and names them once at the end.
type reportFiles struct {
	stdin   io.Reader
	skipped []string
}

// records are the Reports behind a path: "-" is stdin, a file holds one or more (packed with gzip or not), and a directory is searched, with all its
// subdirectories, for *.json and *.json.gz. Only what a comparison needs of each Report stays in memory, not its windows and samples.
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
	var all []history.Record
	before := len(a.skipped)
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !sidebyside.HoldsReports(file) {
			return err
		}
		records, err := a.file(file)
		if err != nil {
			a.skipped = append(a.skipped, fmt.Sprintf("%s: %v", file, err))
			return nil
		}
		all = append(all, records...)
		return nil
	})
	switch {
	case err != nil:
		return nil, exit.BadInput("%w", err)
	case len(all) == 0 && len(a.skipped) > before:
		return nil, exit.BadInput("%s holds no Report that can be read; the first of %d files: %s", path, len(a.skipped)-before, a.skipped[before])
	case len(all) == 0:
		return nil, exit.BadInput("%s holds no Report: linerate run --save %s keeps them there", path, path)
	}
	return all, nil
}

func (a *reportFiles) file(name string) (records []history.Record, err error) {
	err = sidebyside.ReadFile(name, func(in io.Reader) (err error) {
		records, err = a.read(name, in)
		return err
	})
	return records, err
}

func (a *reportFiles) read(name string, in io.Reader) ([]history.Record, error) {
	reports, err := report.Read(in)
	if err != nil {
		return nil, err
	}
	records := make([]history.Record, len(reports))
	for i, r := range reports {
		lossy := r.LowestLossy()
		r.Windows, r.Samples = nil, nil
		if lossy != nil && !r.Result.Measured {
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

// sideNames are the paths' last parts, or the paths where those are the same.
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

// sides reads the Reports to compare: one side for each path.
func (a *reportFiles) sides(paths []string) ([]history.Side, error) {
	names := sideNames(paths)
	var sides []history.Side
	var wrong []error
	for i, path := range paths {
		records, err := a.records(path)
		wrong = append(wrong, err)
		sides = append(sides, history.Side{Name: names[i], Records: records})
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, exit.BadInput("%w", err)
	}
	return sides, nil
}
