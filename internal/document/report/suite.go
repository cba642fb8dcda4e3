package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// SuiteVersion is the kind and version of a Suite as JSON. A reader refuses others.
const SuiteVersion = "linerate.dev/suite-report.v1alpha1"

// Suite is the result of a suite of load tests, with its cells, each with its runs, their figures and the verdict.
// It refers to the runs' Reports by their digests, and holds enough of them to make the table without them.
type Suite struct {
	Version  string `json:"version"`
	Producer string `json:"producer"` // linerate's own version
	Name     string `json:"name"`
	// Answer is the first two lines. It is empty before the document is written in a format.
	Answer    Lines  `json:"answer,omitzero"`
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	// Generation is that of the suite's spec when it was measured. It is 0 where it was not measured in a cluster.
	Generation int64     `json:"generation,omitempty"`
	Started    time.Time `json:"started"`
	// Finished is zero while runs are still to come.
	Finished time.Time `json:"finished,omitzero"`
	// Seed is that of the random order of its tests (order: Shuffled). It is 0 where the order was not random.
	Seed int64 `json:"seed,omitempty"`
	// Axes are what was varied, and the order of its values. The first is the table's rows (product), the others
	// are its columns.
	Axes     []Axis      `json:"axes,omitempty"`
	Cells    []SuiteCell `json:"cells"`
	Verdict  Verdict     `json:"verdict"`
	Baseline *Baseline   `json:"baseline,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
}

// Axis is one thing that is varied.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// AxisValue is a cell's value on an axis.
type AxisValue struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
}

// SuiteCell is one combination of the axes' values, measured in one or several runs.
type SuiteCell struct {
	Name   string      `json:"name"`
	Values []AxisValue `json:"values,omitempty"`
	// Product and Loadtest are its place in the table.
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Price is the device's, as the suite says it. It is empty where the suite doesn't.
	Price string `json:"price,omitempty"`
	// Calibration says that it has no device, and its figures are what the generators do by themselves. No
	// criterion judges it.
	Calibration bool `json:"calibration,omitempty"`
	// Identity is the same for calibrations of the same traffic by generators that are asked for in the same way.
	// It is empty where the cell is no calibration.
	Identity string `json:"identity,omitempty"`
	// Capacity is what the generators of this cell did without a device, or nil where unknown.
	Capacity *Capacity `json:"capacity,omitempty"`
	// Figures are the medians over the runs that were measured, or nil for none.
	Figures *Figures `json:"figures,omitempty"`
	// Goals are the same for each goal of a search for several, in its order. Figures are the first goal's.
	Goals []GoalFigures `json:"goals,omitempty"`
	// Curve is what was lost at each load of a loss curve, over the runs that were measured. It is empty for another
	// procedure, and where the loads are too many for one document.
	Curve []CurvePoint `json:"curve,omitempty"`
	// Outliers are the tests, among the runs, that lie far from the others. They count nevertheless.
	Outliers []string `json:"outliers,omitempty"`
	// Verdict is the judgement over all runs. It is nil where there are no criteria.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Message has further remarks on the cell.
	Message string `json:"message,omitempty"`
	// Images are what the device's pod ran in all runs of the figures. They are empty where they aren't known, or
	// not the same, which Message says then.
	Images []plan.Container `json:"images,omitempty"`
	// Runs may have been left out where they are too many for one document.
	Runs []SuiteRun `json:"runs,omitempty"`
}

// Capacity is what generators do without a device, beside a device's figure.
type Capacity struct {
	Cell             string `json:"cell"` // the calibration
	PacketsPerSecond int64  `json:"packetsPerSecond"`
	// Share is the cell's figure as a share of it. Near says that the two are so close that the limit may be the
	// generators', so the figure is a lower bound then.
	Share units.Percent `json:"sharePercent"`
	Near  bool          `json:"near,omitempty"`
}

// SuiteRun is one test of a cell.
type SuiteRun struct {
	Test       string `json:"test"`
	UID        string `json:"uid,omitempty"`
	Repetition int    `json:"repetition"`      // from 1
	Retry      int    `json:"retry,omitempty"` // 0 is the first try of this repetition
	// Report is the digest of its Report, and ConfigMap the one that holds it. They are empty for none.
	Report    string `json:"report,omitempty"`
	ConfigMap string `json:"configMap,omitempty"`
	// plan.Plan.Method of what was run, as runs that differ in it can't be combined
	Plan     string    `json:"plan,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Reason is why the result is what it is, or why there is none. Message says it as a sentence.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Figures are the run's own. They are nil where it was not measured.
	Figures *Figures `json:"figures,omitempty"`
	// Goals are those of each goal of a search for several, in its order. Figures are the first goal's.
	Goals []GoalFigures `json:"goals,omitempty"`
	// Repeated is why another try replaces this one although it has figures, which then don't count. It is empty
	// where its figures count, if it has any.
	Repeated string `json:"repeated,omitempty"`
	// Voided is how many runs of this test came to nothing before this one: they were suspended, lost, or ended
	// while they measured.
	Voided int `json:"voided,omitempty"`
	// Taken is the earlier suite that measured it, at the times given here; nil: this suite did.
	Taken *Taken `json:"taken,omitempty"`
	// Images are what the device's pod ran; empty: it isn't known, or no pod's.
	Images []plan.Container `json:"images,omitempty"`
	// Evidence is as much of its Report as a judgement needs: without streams, samples, and nearly all windows.
	// Nil: it is kept elsewhere, or there is none.
	Evidence *Report `json:"evidence,omitempty"`
}

// Taken is the earlier suite and the test that a run comes from.
type Taken struct {
	Suite string `json:"suite"`
	Test  string `json:"test"`
}

// GoalFigures are the figures of a search's goal.
type GoalFigures struct {
	Goal string `json:"goal"`
	// Figures are nil if no load is known to meet the goal.
	Figures *Figures `json:"figures,omitempty"`
}

// OfGoal is the figures of the goal of this name, or nil for none.
func OfGoal(goals []GoalFigures, name string) *Figures {
	for _, g := range goals {
		if g.Goal == name {
			return g.Figures
		}
	}
	return nil
}

// Counts says whether the run's figures are part of its cell's medians.
func (r *SuiteRun) Counts() bool { return r.Figures != nil && r.Repeated == "" }

// SuiteJSON is the document of a suite, and its digest. The same suite always makes the same bytes.
func SuiteJSON(s *Suite) (document []byte, digest string, err error) {
	copied := *s
	copied.Version = SuiteVersion
	if err := copied.check(); err != nil {
		return nil, "", fmt.Errorf("write the suite's report: %w", err)
	}
	if document, err = json.Marshal(&copied); err != nil {
		return nil, "", fmt.Errorf("write the suite's report: %w", err)
	}
	return document, Digest(document), nil
}

// JSON writes the suite as an indented document, as ReadDocuments reads it.
func (s *Suite) JSON(w io.Writer) error {
	copied := *s
	copied.Version = SuiteVersion
	return writeDocument(w, &copied)
}

// Digest is that of a document, by which Reports and suites' reports are referred to. It is "sha256:" and 64
// hexadecimal digits.
func Digest(document []byte) string {
	sum := sha256.Sum256(document)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ReadSuite reads what SuiteJSON wrote. It refuses a document of another version, or one that contradicts itself.
func ReadSuite(document []byte) (*Suite, error) {
	s := new(Suite)
	if err := readDocument(document, s, SuiteVersion); err != nil {
		return nil, fmt.Errorf("read the suite's report: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("read the suite's report: %w", err)
	}
	return s, nil
}

// check refuses a document that no suite can have written.
func (s *Suite) check() error {
	if s.Name == "" {
		return errors.New("it has no name")
	}
	names := map[string]bool{}
	for _, c := range s.Cells {
		if c.Name == "" || names[c.Name] {
			return fmt.Errorf("cell %q: each cell has a name of its own", c.Name)
		}
		names[c.Name] = true
		if err := c.check(); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name, err)
		}
	}
	return nil
}

func (c *SuiteCell) check() error {
	measured := 0
	for _, r := range c.Runs {
		if r.Test == "" {
			return errors.New("a run has no test")
		}
		if r.Counts() {
			measured++
		}
		if r.Evidence != nil && (r.Evidence.Version != Version || r.Evidence.Plan == nil) {
			return fmt.Errorf("run %s: its evidence is of version %q, but this linerate reads %q, with a plan", r.Test,
				r.Evidence.Version, Version)
		}
	}
	switch {
	case measured == 0: // it has none, or they were left out, as there were too many
	case c.Figures != nil && c.Figures.Runs != measured:
		return fmt.Errorf("its figures are of %s, but %s has figures", wording.Counted(c.Figures.Runs, "run"),
			wording.Counted(measured, "run"))
	case c.Figures == nil && measured > 0:
		return fmt.Errorf("it has no figures, but %s has", wording.Counted(measured, "run"))
	}
	if measured > 0 {
		return c.checkGoals()
	}
	return nil
}

// checkGoals refuses figures of a goal that combine another number of runs than have such figures.
func (c *SuiteCell) checkGoals() error {
	for _, g := range c.Goals {
		total, measured := 0, 0
		if g.Figures != nil {
			total = g.Figures.Runs
		}
		for _, r := range c.Runs {
			if r.Counts() && OfGoal(r.Goals, g.Goal) != nil {
				measured++
			}
		}
		if total != measured {
			return fmt.Errorf("its figures of goal %q are of %s, but %s has such figures", g.Goal,
				wording.Counted(total, "run"), wording.Counted(measured, "run"))
		}
	}
	return nil
}

// Table is the suite's table, with a note if the suite has not ended.
func (s *Suite) Table() *Table {
	t := &Table{Version: TableVersion, Title: s.Name, Notes: s.Notes}
	if s.Finished.IsZero() {
		t.Notes = append([]string{"the suite has not ended: this is what was measured so far"}, s.Notes...)
	}
	if n := s.unbegun(); n > 0 {
		t.Notes = append(t.Notes[:len(t.Notes):len(t.Notes)], fmt.Sprintf("in %d of %s no test has ended yet", n,
			wording.Counted(len(s.Cells), "cell")))
	}
	for i := range s.Cells {
		t.Cells = append(t.Cells, s.Cells[i].Rows()...)
	}
	return t
}

// Rows are the cell's rows in the suite's table, one, or for a search for several goals one for each. The first row
// has what concerns the whole cell, such as its verdict.
func (c *SuiteCell) Rows() []Cell {
	first := Cell{Product: c.Product, Loadtest: c.Loadtest, Price: c.Price, Figures: c.Figures, Message: c.Message,
		Images: c.Images}
	if c.Calibration {
		first.Unjudged = "not judged"
	}
	if c.Verdict != nil {
		first.Verdict = c.Verdict.Outcome
		first.Message = joinedWords(c.Verdict.Words(), c.Message)
	}
	first.Message = joinedWords(first.Message, c.Figures.unconfirmedOfSeveral())
	first.Missing, first.Repeated = c.Gaps()
	for _, o := range c.Outliers {
		first.Message = joinedWords(first.Message, OutlierWords(o))
	}
	rows := []Cell{first}
	if len(c.Goals) < 2 {
		return rows
	}
	rows[0].Loadtest += ", " + c.Goals[0].Goal
	unjudged := ""
	if c.Verdict != nil {
		unjudged = "with " + c.Goals[0].Goal
	}
	for _, g := range c.Goals[1:] {
		row := Cell{Product: c.Product, Loadtest: c.Loadtest + ", " + g.Goal, Price: c.Price, Figures: g.Figures,
			Unjudged: unjudged, Message: g.Figures.unconfirmedOfSeveral(), Images: c.Images}
		for _, r := range c.Runs {
			if r.Counts() && OfGoal(r.Goals, g.Goal) == nil {
				row.Missing = append(row.Missing, Missing{Test: r.Test, Reason: string(NotMeasured),
					Message: "it has no figure of goal " + g.Goal})
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// unconfirmedOfSeveral says how many of several runs are not confirmed. A single run has a sign for that.
func (f *Figures) unconfirmedOfSeveral() string {
	if f == nil || f.Runs < 2 {
		return ""
	}
	return f.UnconfirmedWords()
}

// OutlierWords say that a test is an outlier of its cell.
func OutlierWords(test string) string { return test + " lies far from the others" }

// unbegun is how many cells have no test that ended, which explains why they have no figures.
func (s *Suite) unbegun() (n int) {
	for i := range s.Cells {
		if s.Cells[i].Figures == nil && len(s.Cells[i].Runs) == 0 {
			n++
		}
	}
	return n
}

// Words are those of the criteria that were not met, or of all criteria if all were met.
func (v Verdict) Words() string {
	var wrong, total string
	for _, c := range v.Criteria {
		total = joinedWords(total, c.Name+": "+c.Message)
		if c.Outcome != Passed {
			wrong = joinedWords(wrong, c.Name+": "+c.Message)
		}
	}
	if wrong != "" {
		return wrong
	}
	return total
}

func joinedWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
