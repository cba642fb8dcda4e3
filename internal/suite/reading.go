package suite

// Reading reads the runs that are stored of a suite, one sheet at a time: they may be many, and nothing else waits for all of them. Its zero value is of no
// use; NewReading makes one. It isn't safe for concurrent use.
type Reading struct {
	m           *Matrix
	page, sheet int
	// Runs are those that were read so far, and Stored says in which sheets they are.
	Runs   Runs
	Stored Stored
}

// NewReading begins to read.
func (m *Matrix) NewReading() *Reading { return &Reading{m: m, Runs: Runs{}, Stored: Stored{}} }

// Done says whether all is read.
func (r *Reading) Done() bool { return r.page >= r.m.Pages() }

// Next reads one sheet. Read gives the data of a ConfigMap, nil where there is none; where it can't, the same sheet is next again. Spoilt hears of what
// can't be understood, and may end it with an error.
func (r *Reading) Next(read func(name string) (map[string][]byte, error), spoilt func(name string, err error) error) error {
	name := SheetName(r.m.suite.Name, r.page, r.sheet)
	data, err := read(name)
	switch {
	case err != nil:
		return err
	case data == nil:
		r.turn()
		return nil
	}
	p, err := r.m.decodeSheet(data)
	if err != nil {
		r.sheet++ // what comes after it may be whole
		return spoilt(name, err)
	}
	for name, run := range p.Runs {
		r.Runs[name], r.Stored[name] = run, r.sheet
	}
	if r.sheet++; !p.Continued {
		r.turn()
	}
	return nil
}

// turn goes on with the next page.
func (r *Reading) turn() { r.page, r.sheet = r.page+1, 0 }
