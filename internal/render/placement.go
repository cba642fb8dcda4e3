package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/findings"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// findingRemarks are why the figure is what it is, each with what to do.
func findingRemarks(r *report.Report) (remarks []remark) {
	for _, f := range r.Findings[:min(len(r.Findings), report.MostFindingsShown)] {
		found := remark{Tone: toneWarning, Text: capital(f.Sentence) + ". " + capital(f.WayOut) + ".",
			marked: f.Severity != report.FindingNote}
		if f.Severity == report.FindingNote {
			found.Tone = toneNone
		}
		remarks = append(remarks, found)
	}
	return remarks
}

// allSections are the procedure's, and where the device received its frames.
func allSections(r *report.Report) []report.Section {
	return slices.Concat(r.Answer.Sections, placementSections(r.Placement))
}

// placementSections lay out by which queues, and on which processors, the device received frames.
func placementSections(p *report.Placement) []report.Section {
	if p == nil {
		return nil
	}
	processors := &report.SectionTable{Columns: []string{"processor", "frames", "share", "busy", "softirq", "idle",
		"other programs"}}
	total := 0.0
	for _, x := range p.Processors {
		total += float64(x.Frames)
	}
	for _, x := range p.Processors {
		processors.Rows = append(processors.Rows, cells(strconv.Itoa(x.Number), wording.Count(x.Frames),
			share(float64(x.Frames), total), wording.Span(x.Busy.Std()), wording.Span(x.SoftIRQ.Std()),
			wording.Span(x.Idle.Std()), wording.Span(x.Others.Std())))
	}
	queues := &report.SectionTable{Columns: []string{"link", "interface", "received", "by"}}
	for _, l := range p.Links {
		for _, q := range l.Queues {
			queues.Rows = append(queues.Rows, cells(l.Link, l.Interface, wording.Count(l.Received),
				findings.QueueText(q)))
		}
	}
	return []report.Section{
		{Title: "Where frames were received: processors", Evidence: true, Table: processors,
			Legend: []string{fmt.Sprintf(
				"Processors that received frames in window %d, of all network namespaces.", p.Window)}},
		{Title: "Where frames were received: queues", Evidence: true, Table: queues, Legend: []string{
			"Receive queues of the device's interfaces."}},
	}
}

func cells(texts ...string) (row []report.SectionCell) {
	for _, text := range texts {
		row = append(row, report.SectionCell{Text: text})
	}
	return row
}

// share is a part in percent, as far as there is a whole.
func share(part, whole float64) string {
	if whole <= 0 || part < 0 {
		return ""
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}
