package verify

import (
	"cmp"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Verification is the result of verifying one Report.
type Verification struct {
	// Name is where the Report was read, and its test's name, as in "imix.json: imix".
	Name string `json:"name"`
	// Outcome is Verified where nothing differs, even if something can't be verified. Otherwise it is Differs.
	Outcome Outcome `json:"outcome"`
	// Producer is the linerate that wrote the Report. Remark says if it is another one than this, since then
	// differences may come from changes between the two.
	Producer string `json:"producer"`
	Remark   string `json:"remark,omitempty"`
	// Windows, Figures and Criteria are how many of each the document has.
	Windows  int     `json:"windows"`
	Figures  int     `json:"figures"`
	Criteria int     `json:"criteria"`
	Checks   []Check `json:"checks"`
}

// Outcome is what was found.
type Outcome string

// The outcomes.
const (
	Verified Outcome = "Verified"
	Differs  Outcome = "Differs"
)

// Check is one part of the Report that was compared with what its counters give.
type Check struct {
	Name CheckName `json:"name"`
	// Findings are the differences, and empty where nothing differs.
	Findings []Finding `json:"findings,omitempty"`
	// NotVerified says what could not be verified, as the document lacks something, and why. It is empty where
	// everything was.
	NotVerified []string `json:"notVerified,omitempty"`
}

// CheckName names a check.
type CheckName string

// The checks, in their order.
const (
	CheckDocument CheckName = "Document" // it is a Report of a known procedure, with all that the procedure needs
	CheckTimes    CheckName = "Times"    // the run's parts are in order, and within the run
	// environment, line rates and background traffic follow from what generators and ports reported
	CheckEnvironment CheckName = "Environment"
	// rates and loss of each window follow from its counters, quality and reason from its evidence
	CheckWindows CheckName = "Windows"
	// each window is of the step that the procedure asks for after the windows before it
	CheckProcedure CheckName = "Procedure"
	CheckTotals    CheckName = "Totals"  // all windows together counted no more than the whole run
	CheckResult    CheckName = "Result"  // the result follows from the windows
	CheckFigures   CheckName = "Figures" // the figures follow from the result
	// the verdict follows from the figures, the Plan's criteria and the baseline
	CheckVerdict CheckName = "Verdict"
)

// Finding is one thing that differs.
type Finding struct {
	// Object is where it was found, as in "window 12, west→east". Field is the member there, by its name in the
	// document, as in "received.packetsPerSecond".
	Object string `json:"object"`
	Field  string `json:"field,omitempty"`
	// Stands is what the document says, and Gives what was recomputed, both as JSON. Each is empty where there is
	// none.
	Stands string `json:"stands,omitempty"`
	Gives  string `json:"gives,omitempty"`
	// Message is the finding in a sentence.
	Message string `json:"message"`
}

// Report verifies a Report. By is this linerate, as it names itself as the producer of Reports.
func Report(r *report.Report, version string) Verification {
	v := Verification{Name: report.PlanOf(r).Test.Name, Outcome: Verified, Producer: r.Producer,
		Remark:  remark(r, version),
		Windows: len(r.Windows), Figures: len(r.Figures), Criteria: len(r.Verdict.Criteria)}
	document := checkDocument(r)
	v.add(document)
	if len(document.Findings) == 0 {
		s := newSubject(r)
		for _, check := range []func() Check{s.times, s.environment, s.windows, s.procedure, s.totals, s.result,
			s.figures, s.verdict} {
			v.add(check())
		}
	}
	return v
}

func (v *Verification) add(c Check) {
	v.Checks = append(v.Checks, c)
	if len(c.Findings) > 0 {
		v.Outcome = Differs
	}
}

// Findings are those of all checks.
func (v Verification) Findings() (findings []Finding) {
	for _, c := range v.Checks {
		findings = append(findings, c.Findings...)
	}
	return findings
}

// NotVerified is what could not be verified, of all checks.
func (v Verification) NotVerified() (sentences []string) {
	for _, c := range v.Checks {
		sentences = append(sentences, c.NotVerified...)
	}
	return sentences
}

// String is the outcome in one line, without the findings.
func (v Verification) String() string {
	if n := len(v.Findings()); n > 0 {
		return fmt.Sprintf("%s: differs in %s", v.Name, wording.Counted(n, "place"))
	}
	return fmt.Sprintf("%s: verified: %s, %s, %s", v.Name, wording.Counted(v.Windows, "window"),
		wording.Counted(v.Figures, "figure"), countedCriteria(v.Criteria))
}

func countedCriteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return wording.Count(int64(n)) + " criteria"
}

// remark says that another linerate wrote a Report than the one that verifies it. It is empty where the same one
// did.
func remark(r *report.Report, version string) string {
	if r.Producer == version {
		return ""
	}
	return fmt.Sprintf("%s wrote it, but %s verifies it: a difference may come from changes between the two; verify it with the linerate that wrote it",
		cmp.Or(r.Producer, "an unnamed linerate"), version)
}
