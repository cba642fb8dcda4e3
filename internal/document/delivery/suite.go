package delivery

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// KeySuite is the key of a suite's report in its ConfigMap.
const KeySuite = "suite.json.gz"

// EncodeSuite is the binary data and the annotations of the ConfigMap for a suite's report. If the report is too
// large, it leaves out first the messages of runs, then the runs with figures, and at last the messages of
// verdicts, and a note says so. Cells, their figures, what they lack and their verdicts stay. The suite itself
// isn't changed.
func EncodeSuite(s *report.Suite) (data map[string][]byte, annotations map[string]string, err error) {
	for _, thinner := range []func(*report.Suite) *report.Suite{asItIs, withoutWords, withoutRuns, withoutReasons} {
		document, digest, err := report.SuiteJSON(thinner(s))
		if err != nil {
			return nil, nil, err
		}
		packed, err := pack(document)
		_, large := errors.AsType[intake.Exceeded](err)
		if err != nil && !large {
			return nil, nil, fmt.Errorf("pack the suite's report: %w", err)
		}
		if !large && len(packed) <= MaxPacked {
			return map[string][]byte{KeySuite: packed}, map[string]string{AnnotationDigest: digest}, nil
		}
	}
	return nil, nil, fmt.Errorf("the report of suite %s doesn't fit into a ConfigMap, even without its runs: part the suite in two", s.Name)
}

// DecodeSuite reads what EncodeSuite wrote, and refuses what is not what its annotations say.
func DecodeSuite(data map[string][]byte, annotations map[string]string) (*report.Suite, error) {
	document, err := unpack(data[KeySuite])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", KeySuite, err)
	}
	if digest, expected := report.Digest(document), annotations[AnnotationDigest]; digest != expected {
		return nil, fmt.Errorf("%s: its digest is %s, and the annotation %s says %q: somebody changed it", KeySuite,
			digest, AnnotationDigest, expected)
	}
	return report.ReadSuite(document)
}

func asItIs(s *report.Suite) *report.Suite { return s }

// withoutWords leaves out the messages of runs with figures, and cuts those of the others.
func withoutWords(s *report.Suite) *report.Suite {
	return eachRun(s, "the words of single runs are left out or cut: together they are too large for a ConfigMap",
		func(r report.SuiteRun) (report.SuiteRun, bool) {
			r.UID, r.ConfigMap, r.Message = "", "", shortened(r.Message)
			if r.Figures != nil {
				r.Message = ""
			}
			return r, true
		})
}

// withoutRuns leaves out the runs with figures, and those that a later try replaced. It keeps runs that explain
// what a cell lacks.
func withoutRuns(s *report.Suite) *report.Suite {
	const note = "single runs that gave a figure are left out: together they are too large for a ConfigMap; their own Reports have them"
	mapped := eachRun(s, note, func(r report.SuiteRun) (report.SuiteRun, bool) {
		r.UID, r.ConfigMap, r.Message = "", "", shortened(r.Message)
		return r, true
	})
	for i := range mapped.Cells {
		measured := map[int]bool{}
		for _, r := range mapped.Cells[i].Runs {
			measured[r.Repetition] = measured[r.Repetition] || r.Figures != nil
		}
		mapped.Cells[i].Runs = slices.DeleteFunc(mapped.Cells[i].Runs,
			func(r report.SuiteRun) bool { return measured[r.Repetition] })
	}
	return mapped
}

// withoutReasons also leaves out the messages of verdicts.
func withoutReasons(s *report.Suite) *report.Suite {
	bare := withoutRuns(s)
	bare.Notes = append(bare.Notes, "the words of verdicts are left out: together they are too large for a ConfigMap")
	for i := range bare.Cells {
		if v := bare.Cells[i].Verdict; v != nil {
			bare.Cells[i].Verdict = &report.Verdict{Outcome: v.Outcome}
		}
	}
	return bare
}

// eachRun is a copy of the suite with each run changed or left out, and a note.
func eachRun(s *report.Suite, note string, become func(report.SuiteRun) (report.SuiteRun, bool)) *report.Suite {
	copied := *s
	copied.Cells, copied.Notes = nil, append(append([]string(nil), s.Notes...), note)
	for _, cell := range s.Cells {
		runs := cell.Runs
		cell.Runs = nil
		for _, run := range runs {
			if run, stays := become(run); stays {
				cell.Runs = append(cell.Runs, run)
			}
		}
		copied.Cells = append(copied.Cells, cell)
	}
	return &copied
}

// shortened is a run's message in a few words.
func shortened(text string) string {
	const limit = 120
	end := min(len(text), limit)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == len(text) {
		return text
	}
	return text[:end] + "…"
}
