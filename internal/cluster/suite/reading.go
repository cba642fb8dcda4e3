package suite

import (
	"errors"
	"fmt"
	"maps"
)

// Reading reads a suite's stored runs from the operator's own namespace. It reads one sheet at a time, so that
// only one sheet is in memory beside its runs. NewReading makes a Reading. It isn't safe for concurrent use.
type Reading struct {
	m *Matrix
	// Runs are the runs read so far. Stored has the sheet of each, and Sheets the digests of the sheets.
	Runs   Runs
	Stored Stored
	Sheets Sheets
	// Complete says that all sheets were read.
	Complete bool
}

// NewReading begins to read.
func (m *Matrix) NewReading() *Reading { return &Reading{m: m, Runs: Runs{}, Stored: Stored{}} }

// Name is the name of the next sheet's ConfigMap.
func (r *Reading) Name() string { return SheetName(r.m.suite, len(r.Sheets)) }

// Add adds the runs of the next sheet. After an error the same sheet is next again.
func (r *Reading) Add(data map[string][]byte) error {
	runs, err := r.m.decodeSheet(data)
	if err != nil {
		return err
	}
	number := len(r.Sheets)
	for name := range runs {
		r.Stored[name] = number
	}
	maps.Copy(r.Runs, runs)
	r.Sheets.Record(number, data)
	return nil
}

// ErrOtherCopies says that the copies of a suite's sheets aren't those that its status names.
var ErrOtherCopies = errors.New("they aren't what the operator wrote last")

// ReadCopies reads a suite's runs from the copies in its own namespace. Anyone who may edit that namespace may
// have changed the copies, so they are decoded only if they have the digest in the suite's status. read returns
// the data of a ConfigMap, or nil if there is none.
func (m *Matrix) ReadCopies(read func(name string) (map[string][]byte, error)) (Runs, error) {
	published := m.suite.Status.Operator.StoredRuns
	if published == nil {
		return Runs{}, nil
	}
	var sheets Sheets
	copies := make([]map[string][]byte, published.ConfigMaps)
	for number := range copies {
		data, err := read(CopyName(m.suite.Name, number))
		if err != nil {
			return nil, err
		}
		copies[number] = data
		sheets.Record(number, data)
	}
	if found := sheets.Published(); *found != *published {
		return nil, fmt.Errorf("the runs in ConfigMaps %s-runs-… have the digest %s, and the status of suite %s "+
			"says %s: %w", ReportName(m.suite.Name), found.Digest, m.suite.Name, published.Digest, ErrOtherCopies)
	}
	runs := Runs{}
	for number, data := range copies {
		sheetRuns, err := m.decodeSheet(data)
		if err != nil {
			return nil, fmt.Errorf("ConfigMap %s: %w", CopyName(m.suite.Name, number), err)
		}
		maps.Copy(runs, sheetRuns)
	}
	return runs, nil
}
