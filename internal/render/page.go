package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// page is what the page's template writes.
type page struct {
	Title, Description  string
	Producer            string
	Style               template.CSS
	Script              template.JS
	Tests               []testView
	Bounds, Unconfirmed bool // some figure is a lower bound, or isn't confirmed
	Frames, Sessions    bool // some test is of such traffic
	Datagrams           bool // and some of these of UDP
	Goodput             string
}

// testView is one report on the page. It has the report itself, too, from which figures without further work are
// read. Its parts are embedded, so that a template reads their fields as the test's.
type testView struct {
	ID     string
	Report *report.Report
	answerView
	resultTables
	latencyTables
	Warnings []string
	Findings []remark // why the figure is what it is
	Evidence grid     // a row for each observation behind the answer
	Doubts   []string // what single windows showed beside the result
	Facts    []fact
	Graphs   []graph
	Windows  []windowView
	Plan     string
}

// answerView is a test's answer, in words and in large figures.
type answerView struct {
	Name, Title           string
	Product, Loadtest     string
	Summary               string
	Standing, Class       string
	Measured              bool
	Bound, Unconfirmed    bool
	Packets, Bits         figure
	Percent               figure
	Bar                   string // width of the bar, a CSS length
	Answer, Resolution    string
	MostReceived, Verdict string
	VerdictClass          tone
}

// resultTables have the figures of the result's windows.
type resultTables struct {
	Directions []directionView
	Sessions   grid   // of connections instead, with a row for each direction
	PathDoubts string // why some of its cells are empty
	Generators grid   // of several
	Goals      grid   // with the answer of each, where there are several
	Curve      grid   // of a frame loss curve, with a row for each load
	Sections   []sectionView
	Flames     []drawing // of what the device's processors ran
	Vitals     grid      // of observers, with a row for each series
}

// latencyTables have how long frames were under way, at the load of the result and at others.
type latencyTables struct {
	Latency      grid   // a row for each direction and frame size
	LatencyWords string // what it is
	AtLoad       grid   // of latency by load, with a row for each load, direction and frame size
	AtLoadWords  string // what it is
	LatencyPlots []latencyPlot
}

// figure is a number for people, with the exact one behind it.
type figure struct {
	Sign   string // "≥" for a lower bound, "~" for what isn't confirmed
	Number string
	Unit   string
	Exact  string
}

func newPage(reports []*report.Report) (*page, error) {
	p := &page{Goodput: goodputWords, Title: fmt.Sprintf("linerate: %s", wording.Counted(len(reports), "load test"))}
	for i, r := range reports {
		t, err := newTestView(r, reports, "t"+strconv.Itoa(i+1))
		if err != nil {
			return nil, fmt.Errorf("report %d: %w", i+1, err)
		}
		p.Tests = append(p.Tests, t)
		p.Bounds, p.Unconfirmed = p.Bounds || t.Bound, p.Unconfirmed || t.Unconfirmed
		sessions := report.PlanOf(t.Report).Sessions != nil
		p.Frames, p.Sessions = p.Frames || !sessions, p.Sessions || sessions
		p.Datagrams = p.Datagrams || sessions && report.PlanOf(t.Report).Sessions.Protocol == plan.UDP
	}
	p.Description = p.Title
	if len(reports) > 0 {
		p.Producer = reports[0].Producer + " · " + reports[0].Version
	}
	if len(reports) == 1 {
		p.Title, p.Description = p.Tests[0].Title, p.Tests[0].Title+": "+p.Tests[0].Summary
	}
	return p, nil
}

func newTestView(r *report.Report, reports []*report.Report, id string) (testView, error) {
	var document bytes.Buffer
	enc := json.NewEncoder(&document)
	enc.SetEscapeHTML(false) // the template escapes
	enc.SetIndent("", "  ")
	if err := enc.Encode(report.PlanOf(r)); err != nil {
		return testView{}, fmt.Errorf("write the plan: %w", err)
	}
	h := figures.HeadlineOf(r)
	return testView{ID: id, Report: r, answerView: newAnswerView(r, h), resultTables: newResultTables(r, h, id),
		latencyTables: newLatencyTables(r, reports, id),
		Warnings:      warnings(r), Findings: findingRemarks(r),
		Evidence: gridOf(evidence{rows: r.Answer.Evidence}.table()), Doubts: doubts(r), Facts: facts(r),
		Graphs:  graphs(r, id),
		Windows: windowViews(r), Plan: document.String()}, nil
}

func newAnswerView(r *report.Report, h report.Headline) answerView {
	v := answerView{Name: h.Name, Title: h.Title(), Product: h.Product, Loadtest: h.Loadtest,
		Summary: answer.Figure(r), Standing: answer.Standing(r), Class: strings.ReplaceAll(answer.Standing(r), " ",
			"-"),
		Measured: h.Measured, Bound: h.Bound, Unconfirmed: h.Unconfirmed, Answer: sentenceAfterBadge(r),
		Resolution: resolutionText(r), Verdict: verdictText(r.Verdict),
		VerdictClass: toneOrNone(outcomeOf(r.Verdict))}
	if !h.Measured {
		return v
	}
	v.Packets, v.Bits, v.Percent = mainFigures(h)
	if !h.OfSessions && !h.OfTrains {
		v.Bar = barWidth(h.Percent)
	}
	if m := r.Answer.MaxReceived; m != nil {
		v.MostReceived = mostReceived(m)
	}
	return v
}

func newResultTables(r *report.Report, h report.Headline, id string) (t resultTables) {
	t.Vitals, t.Goals, t.Sections = gridOf(vitalsTable(r)), gridOf(goalsTable(r)), sectionViews(r, id)
	t.Flames = flames(r, id)
	if !h.Measured {
		return t
	}
	if h.OfTrains { // whose sections say all
		return t
	}
	if h.OfSessions {
		t.Sessions, t.PathDoubts = gridOf(sessionsTable(r)), strings.TrimSpace(pathDoubtWords(r.Answer.Directions))
	} else {
		t.Directions = directionViews(r, h)
	}
	t.Curve = gridOf(curveTable(r))
	if len(r.Answer.Generators) > 1 {
		t.Generators = gridOf(generatorTable(r))
	}
	return t
}

func newLatencyTables(r *report.Report, reports []*report.Report, id string) (t latencyTables) {
	if latency := atLoadTable(r, reports); latency != nil {
		t.AtLoad, t.AtLoadWords, t.LatencyPlots = gridOf(latency), atLoadWordsOf(r), latencyPlots(r, reports, id)
	}
	if latency := latencyTable(r, reports); latency != nil {
		t.Latency, t.LatencyWords = gridOf(latency), latencyWords
	}
	return t
}

// gridOf is a table as the page has it, or the zero grid for no table.
func gridOf(t *table) grid {
	if t == nil {
		return grid{}
	}
	return t.grid(combined, nil)
}

// split takes a figure and its unit apart, so "299.75 kpps" is 299.75 and kpps.
func split(h report.Headline, text, exact string) figure {
	number, unit, _ := strings.Cut(text, " ")
	return figure{Number: number, Unit: unit, Exact: exact, Sign: h.Sign()}
}

// barWidth is a share as a CSS length. A bar that is full can't be fuller.
func barWidth(share units.Percent) string { return wording.Percent(min(max(share, 0), units.Hundred)) }

func percentFigure(h report.Headline, p units.Percent) figure {
	return split(h, p.FormatFixed()+" %", p.String()+" %")
}

func exact(v int64, unit string) string { return wording.Count(v) + " " + unit }

// String is the figure in one.
func (f figure) String() string { return f.Sign + f.Number + " " + f.Unit }

// OutcomeClass is the style sheet's name for a criterion's outcome.
func (testView) OutcomeClass(o report.Outcome) tone { return toneOf(o) }

// graph is what one track shows, at two widths each.
type graph struct {
	ID, Name string
	Checked  bool
	Sessions bool   // it is of connections
	Missing  string // what is drawn below their goodput
	Caption  string // what is drawn against time
	Results  string // the key of the shaded windows
	Drawings []drawing
	Curves   []drawing
	// Points are the readings for the pointer's readout, in this order: end of the reading, intended, offered,
	// received, CPU, phase. Those of sessions are end, goodput, retransmits, phase.
	Points [][]any
}

func graphs(r *report.Report, id string) []graph {
	var graphs []graph
	for i, t := range tracksOf(r) {
		g := graph{ID: id + "g" + strconv.Itoa(i), Name: t.Name, Checked: i == 0, Sessions: t.sessions,
			Missing: whatIsMissing(report.PlanOf(r)) + "s", Caption: timelineCaption(r, t.sessions),
			Results: "the result's window"}
		if len(r.ResultWindows()) > 1 {
			g.Results += "s"
		}
		for _, narrow := range []bool{false, true} {
			if d, ok := newTimeline(r, t, narrow); ok {
				d.ID = g.ID + "-" + d.Class
				g.Drawings = append(g.Drawings, d)
			}
			if d, ok := newCurve(r, t, narrow); ok {
				d.ID = g.ID + "c-" + d.Class
				g.Curves = append(g.Curves, d)
			}
		}
		readings, _ := t.readings(r)
		for _, x := range readings {
			if t.sessions {
				g.Points = append(g.Points, []any{r1(x.end), math.Round(x.goodput), r1(x.retransmits),
					phaseText(x.phase)})
				continue
			}
			g.Points = append(g.Points, []any{r1(x.end), math.Round(x.intended), math.Round(x.offered),
				math.Round(x.received), r1(x.cpu), phaseText(x.phase)})
		}
		graphs = append(graphs, g)
	}
	return slices.DeleteFunc(graphs, func(g graph) bool { return len(g.Drawings) == 0 })
}

// sentenceAfterBadge is the answer's sentence without its first words, which the badge has.
func sentenceAfterBadge(r *report.Report) string {
	return capital(strings.TrimPrefix(answer.Sentence(r), capital(answer.Standing(r))+": "))
}
