package cli

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sshtest"
)

func collecting(items ...plan.Collection) *plan.Plan {
	for i := range items {
		items[i].Timeout = plan.Duration(time.Minute)
	}
	return &plan.Plan{Test: plan.Test{Name: "box"}, DUT: plan.DUT{Collect: items}}
}

// phases carry a collection through a run, and return what the Report has.
func phases(t *testing.T, c *collection, progress ...runner.Progress) []report.Collected {
	t.Helper()
	c.collect(t.Context(), plan.CollectBefore)
	for _, p := range progress {
		c.progress(t.Context(), p)
	}
	r := &report.Report{}
	c.finish(t.Context(), r)
	return r.Collected
}

func TestWhatIsCollectedIsKeptByItsDigest(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pf.conf")
	if err := os.WriteFile(file, []byte("block all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCollection(io.Discard, collecting(
		plan.Collection{Name: "name", Command: []string{"sh", "-c", "echo $LINERATE_TEST"}, When: []string{"Before", "After"}},
		plan.Collection{Name: "rules", Paths: []string{file, dir, "/no/such/file"}, When: []string{"After"}}), dir)
	got := phases(t, c)
	if len(got) != 5 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct{ when, content, missing string }{
		{"Before", "box\n", ""}, {"After", "box\n", ""}, {"After", "block all\n", ""},
		{"After", "", "is no regular file"}, {"After", "", "no such file"},
	} {
		g := got[i]
		if g.When != want.when || !strings.Contains(g.Missing, want.missing) || (g.Missing == "") != (want.missing == "") {
			t.Errorf("%d: %+v, want %+v", i, g, want)
		}
		if want.content == "" {
			continue
		}
		kept := content(t, filepath.Join(dir, "collected", collectedName(g.SHA256)))
		if string(kept) != want.content || report.Digest(kept) != g.SHA256 || int(g.Bytes) != len(kept) {
			t.Errorf("%d: %q: %+v", i, kept, g)
		}
		if info, err := os.Stat(filepath.Join(dir, "collected", collectedName(g.SHA256))); err != nil ||
			info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
	}
}

// Only what says During runs beside traffic, once, and no longer than the load.
func TestDuringIsWhileALoadIsHeld(t *testing.T) {
	during := plan.Collection{Name: "d", Command: []string{"echo", "x"}, When: []string{"During"}}
	load := runner.Progress{Phase: report.Hold, OfferedPacketsPerSecond: 1}
	for name, c := range map[string]struct {
		progress []runner.Progress
		want     string
	}{
		"a load":              {[]runner.Progress{{Phase: report.WarmUp, OfferedPacketsPerSecond: 1}, load, load}, ""},
		"only a warm-up":      {[]runner.Progress{{Phase: report.WarmUp, OfferedPacketsPerSecond: 1}}, "no load was held"},
		"nothing is sent yet": {[]runner.Progress{{Phase: report.Hold}}, "no load was held"},
	} {
		got := phases(t, newCollection(io.Discard, collecting(during), ""), c.progress...)
		if len(got) != 1 || got[0].Missing != c.want && c.want != "" || got[0].When != plan.CollectDuring {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	endless := plan.Collection{Name: "d", Command: []string{"sleep", "600"}, When: []string{"During"}}
	got := phases(t, newCollection(io.Discard, collecting(endless), ""), load, runner.Progress{Phase: runner.Draining})
	if len(got) != 1 || !strings.Contains(got[0].Missing, "the load ended first") || got[0].SHA256 != "" {
		t.Errorf("%+v", got)
	}
}

// A device is asked by the machine's own ssh, as docs/my-device.md has it. Where it takes no key, that fails at once.
func TestADeviceIsAskedBySSH(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test wants ssh itself: hack/ci-packages installs it")
		}
		t.Skip("needs ssh itself: apt-get install openssh-client")
	}
	s := sshtest.NewServer(t)
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key, known := filepath.Join(dir, "key"), filepath.Join(dir, "known_hosts")
	for file, text := range map[string]string{key: s.ClientKey, known: s.KnownHost()} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(name string, options ...string) plan.Collection {
		return plan.Collection{Name: name, When: []string{"Before"}, Command: slices.Concat([]string{"ssh", "-F", "/dev/null",
			"-oBatchMode=yes", "-p", port, "-oUserKnownHostsFile=" + known}, options, []string{"lab@" + host, "echo block all; exit 3"})}
	}
	got := phases(t, newCollection(io.Discard, collecting(ask("rules", "-i", key), ask("without a key", "-oIdentityFile=none",
		"-oIdentityAgent=none")), dir))
	if len(got) != 2 || got[0].Bytes != int64(len("block all\n")) || !strings.Contains(got[0].Missing, "exit status 3") ||
		string(content(t, filepath.Join(dir, collectedFolder, collectedName(got[0].SHA256)))) != "block all\n" {
		t.Fatalf("%+v", got)
	}
	if got[1].SHA256 != "" || !strings.Contains(got[1].Missing, "Permission denied") {
		t.Errorf("%+v", got[1])
	}
}

func TestWhatIsCollectedIsBounded(t *testing.T) {
	var stderr bytes.Buffer
	p := collecting(plan.Collection{Name: "much", Command: []string{"head", "-c", "5000000", "/dev/zero"}, When: []string{"Before"}},
		plan.Collection{Name: "endless", Command: []string{"sh", "-c", "echo begun; sleep 600"}, When: []string{"After"}})
	p.DUT.Collect[1].Timeout = plan.Duration(300 * time.Millisecond)
	got := phases(t, newCollection(&stderr, p, ""))
	if len(got) != 2 || !got[0].Cut || got[0].Bytes != maxCollectedItem || got[0].Missing != "" {
		t.Errorf("%+v", got)
	}
	if got[1].Bytes != int64(len("begun\n")) || !strings.Contains(got[1].Missing, "did not end within 300ms") {
		t.Errorf("%+v", got[1])
	}
	if !strings.Contains(stderr.String(), "box: dut.collect endless: After: sh -c") {
		t.Error(stderr.String())
	}
}

// From the file to the bundle: what was collected stands in the Report and beside it, and secrets stay here.
func TestWhatIsCollectedIsBundledWithoutSecrets(t *testing.T) {
	dir := t.TempDir()
	test, shadow, config := filepath.Join(dir, "box.yaml"), filepath.Join(dir, "shadow"), filepath.Join(dir, "config")
	for file, text := range map[string]string{shadow: "root:x:0\n", config: "password hunter2\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(string(content(t, "../../examples/known-answer.yaml")), "  dut:", `  dut:
    notes: fan replaced
    price: 149 USD
    disclosure: lent by its maker
    collect:
    - {name: config, paths: [`+config+`], when: [Before]}
    - {name: hello, command: [echo, hello], when: [Before]}
    - {name: shadow, paths: [`+shadow+`], when: [After]}
`, 1)
	if err := os.WriteFile(test, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := typed(t, "", "run", "-q", "--save", dir, "-o", "markdown", test)
	if code != report.ExitOK {
		t.Fatal(stderr)
	}
	for _, want := range []string{"149 USD", "lent by its maker", "fan replaced", "Collected config"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
	file := filepath.Join(dir, "lab.tar.gz")
	_, stderr, code = typed(t, "", "bundle", filepath.Join(dir, "known-answer.json"), "-o", file)
	if code != report.ExitOK || !strings.Contains(stderr, "known-answer/before-config-1.txt: 1 place: a setting") ||
		!strings.Contains(stderr, "known-answer/after-shadow-1.txt: the whole file: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, stderr, code = typed(t, "", "replay", file); code != report.ExitBadInput ||
		!strings.Contains(stderr, "dut.collect hello runs echo") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
