package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/bundle"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// measured is a directory with a Report of a simulated run.
func measured(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, stderr, code := typed(t, "", "run", "-q", "--save", dir,
		"../../examples/known-answer.yaml"); code != report.ExitOK {
		t.Fatal(stderr)
	}
	return dir
}

// The way of a bundle: measured here, packed, checked and repeated there, by the same Plan.
func TestABundleIsPackedCheckedAndReplayed(t *testing.T) {
	dir, there := measured(t), t.TempDir()
	file, again := filepath.Join(there, "lab.tar.gz"), filepath.Join(there, "again.tar.gz")
	stdout, stderr, code := typed(t, "", "bundle", dir, "-o", file)
	if code != report.ExitOK || !strings.Contains(stdout, "lab.tar.gz: 1 Report, 3 members, sha256:") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code = typed(t, "", "bundle", dir, "-o", again); code != report.ExitOK {
		t.Fatal(stderr)
	}
	first, second := content(t, file), content(t, again)
	if !bytes.Equal(first, second) {
		t.Error("the same Reports give another bundle the second time")
	}
	if stdout, stderr, code = typed(t, "", "verify", file); code != report.ExitOK ||
		!strings.Contains(stdout, "verified: 12 windows") {
		t.Errorf("verify: exit code %d: %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = typedLater(t, 24*time.Hour, "replay", file, "-q", "--save", filepath.Join(there, "kept"))
	if code != report.ExitOK || !strings.Contains(stdout, "too few runs") {
		t.Errorf("replay: exit code %d: %s%s", code, stdout, stderr)
	}
	bundled, err := readBundle(file)
	if err != nil {
		t.Fatal(err)
	}
	digest := bundled.manifest.Tests[0].PlanDigest
	if !strings.Contains(stderr, "measured again by the Plan "+digest) {
		t.Errorf("%s, want the digest %s", stderr, digest)
	}
	reports, err := report.Read(bytes.NewReader(content(t, filepath.Join(there, "kept", "known-answer.json"))))
	if err != nil || reports[0].Plan.Digest() != digest {
		t.Errorf("the repetition's Plan has the digest %v: %v", reports, err)
	}

	first[len(first)/2] ^= 1
	if err := os.WriteFile(file, first, 0o600); err != nil {
		t.Fatal(err)
	}
	for verb, want := range map[string]int{"verify": report.ExitFailed, "replay": report.ExitBadInput} {
		if _, stderr, code = typed(t, "", verb, file); code != want || !strings.Contains(stderr, ".json was changed") {
			t.Errorf("%s of a changed bundle: exit code %d: %s", verb, code, stderr)
		}
	}
}

// typedLater is typed at a later virtual time, as a run of the same time counts as the same run.
func typedLater(t *testing.T, later time.Duration, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	s := Streams{Stdout: &o, Stderr: &e}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(later)
		code = execute(t.Context(), simulatedRoot(t, s), args, s)
	})
	return o.String(), e.String(), code
}

// Five runs of each side are what it takes to say that none is faster.
func TestARepetitionIsComparedInTheWordsOfStatistics(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		if _, stderr, code := typedLater(t, time.Duration(i)*time.Hour, "run", "-q", "--save",
			filepath.Join(dir, strconv.Itoa(i)), "../../examples/known-answer.yaml"); code != report.ExitOK {
			t.Fatal(stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "lab.tar.gz")
	if stdout, stderr, code := typed(t, "", "bundle", dir, "-o", file); code != report.ExitOK {
		t.Fatalf("%s%s", stdout, stderr)
	}
	stdout, stderr, code := typedLater(t, 24*time.Hour, "replay", file, "-q", "--runs", "5", "--save", "")
	if code != report.ExitOK || !strings.Contains(stdout, "no difference shown") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if n := strings.Count(stderr, "measured again by the Plan sha256:"); n != 1 {
		t.Errorf("five Reports of one Plan are repeated as %d: %s", n, stderr)
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatIsNotBundled(t *testing.T) {
	dir := measured(t)
	saved := filepath.Join(dir, "known-answer.json")
	target := filepath.Join(t.TempDir(), "lab.tar.gz")
	other := filepath.Join(t.TempDir(), "known-answer.json")
	secret := strings.Replace(string(content(t, saved)), `"dut": {`,
		`"dut": {"setup": {"command": ["./up", "--password", "hunter2"], "deadline": "1m"},`, 1)
	if err := os.WriteFile(other, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file's name":        {[]string{saved}, "ends with .tar.gz"},
		"nothing":               {[]string{"-o", target}, "at least one Report"},
		"no Report":             {[]string{empty, "-o", target}, "no Report to pack"},
		"no such file":          {[]string{filepath.Join(empty, "a.json"), "-o", target}, "no such file"},
		"two of a name":         {[]string{saved, saved, "-o", target}, "would both be known-answer.json"},
		"a password in a Plan":  {[]string{other, "-o", target}, "plan.dut.setup has a setting that is named as a password"},
		"a page, named by hand": {[]string{filepath.Join(dir, "known-answer.html"), "-o", target}, "it holds no Report"},
	} {
		_, stderr, code := typed(t, "", append([]string{"bundle"}, c.args...)...)
		if code != report.ExitBadInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d: %s, want %q", name, code, stderr, c.want)
		}
		if _, err := os.Stat(target); err == nil {
			t.Errorf("%s: there is a bundle", name)
		}
	}
}

// A bundle may come from anybody.
func TestAReplayReachesNoFurtherThanAPersonAllows(t *testing.T) {
	base := func() *plan.Plan {
		reports, err := report.Read(bytes.NewReader(content(t, filepath.Join(measured(t), "known-answer.json"))))
		if err != nil {
			t.Fatal(err)
		}
		return reports[0].Plan
	}
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		want   string
		trust  bool
	}{
		"a program": {func(p *plan.Plan) { p.DUT.Setup = &plan.Program{Command: []string{"rm", "-r", "/"}} },
			"dut.setup runs rm -r /", false},
		"a program at the end": {func(p *plan.Plan) { p.DUT.Teardown = &plan.Program{Command: []string{"rm"}} },
			"dut.teardown runs rm", false},
		"a reset": {func(p *plan.Plan) { p.DUT.ResetCommand = []string{"rm"} }, "procedure.reset runs rm", false},
		"a source": {func(p *plan.Plan) {
			p.Observers = append(p.Observers, plan.Observer{Name: "o", Prometheus: &plan.PrometheusQuery{URL: "http://a"}})
		}, "observer o asks http://a", false},
		"a server":           {func(p *plan.Plan) { p.Generators[0].Server = "a:4501" }, "is the server a:4501", false},
		"a name that climbs": {func(p *plan.Plan) { p.Test.Name = "../../etc/cron.d/a" }, "the test's name is", true},
		"a link's name":      {func(p *plan.Plan) { p.Links[0].Name = "../a" }, "a link's name is", true},
		"no generator":       {func(p *plan.Plan) { p.Generators = nil }, "no generator", true},
		"a port on no link":  {func(p *plan.Plan) { p.Generators[0].Ports[0].Link = "x" }, "has a port on no link", true},
		"other links":        {func(p *plan.Plan) { p.Directions[0].From = "x" }, "is between other links", true},
	} {
		p := base()
		o := replayOptions{trust: c.trust, runOptions: runOptions{sites: func(p *plan.Plan) (site, error) {
			return simulated{p}, nil
		}}}
		if _, err := o.siteOf(&report.Report{Plan: p}); err != nil {
			t.Fatal(err)
		}
		c.change(p)
		if _, err := o.siteOf(&report.Report{Plan: p}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		o.trust = true
		if _, err := o.siteOf(&report.Report{Plan: p}); (err == nil) == c.trust {
			t.Errorf("%s, trusted: %v", name, err)
		}
	}
}

// The manifest's word for a Plan counts no more than the Plan in the Report.
func TestAManifestThatContradictsItsReportsIsRefused(t *testing.T) {
	text := content(t, filepath.Join(measured(t), "known-answer.json"))
	file := filepath.Join(t.TempDir(), "lab.tar.gz")
	for want, test := range map[string]bundle.Test{
		"the manifest says sha256:0":       {Report: "reports/a.json", PlanDigest: "sha256:0"},
		`has no member "reports/b.json"`:   {Report: "reports/b.json"},
		"plans/a.json: report 1: version ": {Report: "plans/a.json"},
	} {
		var packed bytes.Buffer
		if err := bundle.Write(&packed, &bundle.Manifest{Tests: []bundle.Test{test}}, []bundle.File{
			{Name: "reports/a.json", Content: text}, {Name: "plans/a.json", Content: []byte("{}")}}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readBundle(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
