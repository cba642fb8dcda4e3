package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Runs are stored in sheets, which are ConfigMaps of the operator's own namespace, where nobody else writes.
// Each sheet has a copy in the suite's namespace, for commands that compare with the suite. Anyone who may edit
// that namespace may change copies, so the status has their digest.
//
//	operator's own namespace   SUITE-U-runs-0, SUITE-U-runs-1, …   U: a digest of the suite's UID
//	the suite's namespace      SUITE-suite-runs-0, …               copies of these
//	                           SUITE-suite                         the suite's report: its table
//
// Runs are added to the last sheet until it is full, and each run stays in its sheet. So an interruption of the
// operator loses no stored run.
const (
	// sheetSize is the size in bytes from which the next sheet is begun. It is a fraction of what a ConfigMap
	// holds, since each added run rewrites its sheet.
	sheetSize = 256 << 10
	// maxAdded is how many runs are added to a sheet at once.
	maxAdded = 1000
	// sheetVersion is the version of a sheet's content.
	sheetVersion = "linerate.dev/suite-runs.v1alpha1"
	// roleRuns is the role of a sheet in the operator's own namespace.
	roleRuns = "suite-runs"
)

// sheetContent is the content of a sheet.
type sheetContent struct {
	Version string `json:"version"`
	Suite   string `json:"suite"` // its UID
	Runs    Runs   `json:"runs"`
}

// Stored are the runs that are stored, each with the number of its sheet, from 0.
type Stored map[string]int

// Contains says that a run is stored.
func (s Stored) Contains(run string) bool {
	_, ok := s[run]
	return ok
}

// Sheet is a ConfigMap of runs that must be written.
type Sheet struct {
	Number int
	Data   map[string][]byte
	// Added are the runs that weren't stored before.
	Added []string
}

// ReportName is the ConfigMap of a suite's report.
func ReportName(suite string) string { return suite + "-suite" }

// SheetName is the name of a sheet in the operator's own namespace. A digest of the suite's UID separates suites of the
// same name.
func SheetName(s *v1alpha1.LoadTestSuite, number int) string {
	const digits = 8
	return fmt.Sprintf("%s-%s-runs-%d", s.Name, manifests.DigestOfUID(string(s.UID))[:digits], number)
}

// CopyName is the name of a sheet's copy in the suite's namespace.
func CopyName(suite string, number int) string {
	return ReportName(suite) + "-runs-" + strconv.Itoa(number)
}

// SheetMap is the ConfigMap of a sheet in the operator's own namespace. The suite is in another namespace, and
// can't own it, so the operator deletes it, by its labels.
func SheetMap(s *v1alpha1.LoadTestSuite, namespace string, sheet Sheet) *corev1.ConfigMap {
	labels := map[string]string{"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelRole: roleRuns,
		v1alpha1.LabelSuiteUID: string(s.UID)}
	maps.Copy(labels, SheetLabels(s.Namespace, s.Name))
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: SheetName(s, sheet.Number),
		Labels: labels}, BinaryData: sheet.Data}
}

// SheetLabels are labels of the sheets of all suites that have or had this name.
func SheetLabels(namespace, name string) map[string]string {
	return map[string]string{v1alpha1.LabelNamespace: namespace, v1alpha1.LabelSuite: name}
}

// NextSheet adds runs that aren't stored yet to the last sheet or, if that is full, to a new one. The remaining
// runs wait for the sheet after it.
func (m *Matrix) NextSheet(runs Runs, stored Stored) (Sheet, error) {
	lastSheet := 0
	for _, number := range stored {
		lastSheet = max(lastSheet, number)
	}
	var present, fresh []string
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		switch number, ok := stored[name]; {
		case !ok:
			fresh = append(fresh, name)
		case number == lastSheet:
			present = append(present, name)
		}
	}
	fresh = fresh[:min(len(fresh), maxAdded)]
	data, added, err := m.fill(runs, present, fresh)
	if err == nil && added == 0 {
		lastSheet++
		data, added, err = m.fill(runs, nil, fresh)
	}
	if err != nil {
		return Sheet{}, fmt.Errorf("encode sheet %d of the runs: %w", lastSheet, err)
	}
	return Sheet{Number: lastSheet, Data: data, Added: fresh[:added]}, nil
}

// fill is the data of a sheet with the present runs, and as many fresh ones as fit, or nil if none fits. If the
// runs are too large, it next tries about as many as would fit if all had the same size. A single run may fill
// a ConfigMap.
func (m *Matrix) fill(runs Runs, present, fresh []string) (data map[string][]byte, added int, err error) {
	for n := len(fresh); n > 0; {
		data, err := m.encodeSheet(runs, slices.Concat(present, fresh[:n]))
		total, size := len(present)+n, len(data[delivery.KeyRuns])
		switch {
		case err == nil && (size <= m.sheetSize || total == 1):
			return data, n, nil
		case err != nil && total == 1:
			return nil, 0, err
		case err != nil:
			n /= 2
		default:
			n = min(total*m.sheetSize/size*9/10-len(present), n-1)
		}
		if len(present) == 0 {
			n = max(n, 1)
		}
	}
	return nil, 0, nil
}

func (m *Matrix) encodeSheet(runs Runs, names []string) (map[string][]byte, error) {
	content := sheetContent{Version: sheetVersion, Suite: string(m.suite.UID), Runs: make(Runs, len(names))}
	for _, name := range names {
		content.Runs[name] = runs[name]
	}
	document, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return delivery.EncodeRuns(document)
}

// decodeSheet reads what encodeSheet wrote. It refuses a sheet of another suite of the same name.
func (m *Matrix) decodeSheet(data map[string][]byte) (Runs, error) {
	var content sheetContent
	if err := delivery.DecodeRuns(data, sheetVersion, &content); err != nil {
		return nil, err
	}
	if content.Suite != string(m.suite.UID) {
		return nil, fmt.Errorf("its runs are those of suite %s, and this is %s", content.Suite, m.suite.UID)
	}
	return content.Runs, nil
}

// Sheets are the digests of the sheets' data, in order.
type Sheets []string

// Record records a sheet's data, and returns its digest.
func (s *Sheets) Record(number int, data map[string][]byte) string {
	for len(*s) <= number {
		*s = append(*s, "")
	}
	(*s)[number] = report.Digest(data[delivery.KeyRuns])
	return (*s)[number]
}

// Published is the digest and the number of the sheets' copies, for the status.
func (s Sheets) Published() *v1alpha1.StoredRuns {
	var lines []byte
	for number, digest := range s {
		lines = fmt.Appendf(lines, "%d %s\n", number, digest)
	}
	return &v1alpha1.StoredRuns{ConfigMaps: int32(len(s)), Digest: report.Digest(lines)}
}
