package kubectl

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// shown are the commands that a document shows, and what it says they print.
type shown struct{ page, command, prints string }

// readDocs reads the commands of blocks of the docs: those that begin with "$ ", or in a shell's block with the program. What follows "#" or ">"
// is the shell's.
func readDocs(t *testing.T) []shown {
	t.Helper()
	var all []shown
	pages := []string{"docs/kubectl.md", "docs/history.md", "docs/gate.md", "docs/my-ci.md", "docs/my-device.md", "docs/trex.md", "docs/troubleshooting.md", "README.md"}
	for _, page := range pages {
		text, err := os.ReadFile("../../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```(?:console|sh)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			all = append(all, shownIn(page, strings.ReplaceAll(block[1], "\\\n", " "))...)
		}
	}
	return all
}

func shownIn(page, block string) (all []shown) {
	ours := false
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "$ "), "  #")
		switch {
		case strings.HasPrefix(command, "kubectl linerate "):
			all, ours = append(all, shown{page: page, command: strings.Join(strings.Fields(command), " ")}), true
		case strings.HasPrefix(line, "$ "):
			ours = false
		case ours && !strings.HasPrefix(line, "linerate ") && strings.TrimSpace(line) != "":
			all[len(all)-1].prints += line
		}
	}
	return all
}

// typed is what a person types in a test of a command: in the test's namespace, without what the shell does.
func (p *person) typed(command string) string {
	command, _, _ = strings.Cut(command, " > ")
	return strings.NewReplacer("-n lab", "-n "+p.namespace, "nightly/*.yaml", "test.yaml", "$COMMIT", "r1").Replace(command)
}

// files are those that the docs name.
func (p *person) files(command string) {
	p.Helper()
	p.must(errors.Join(os.MkdirAll(filepath.Join(p.dir, "examples/cluster"), 0o700), os.MkdirAll(filepath.Join(p.dir, "loadtests"), 0o700)))
	p.write("test.yaml", aTest)
	p.write("examples/cluster/router.yaml", aTest)
	p.write("suite.yaml", aSuite)
	for _, name := range []string{"router.yaml", "loadtests/router.yaml"} {
		p.write(name, aRelease)
	}
	if strings.HasPrefix(command, "kubectl linerate run ") { // whatever is run is played as vpp-imix
		p.write("router.yaml", aTest)
	}
	if _, after, replaced := strings.Cut(command, " --image "); replaced { // the file names the image as the command does
		image, _, _ := strings.Cut(after, "=")
		p.write("router.yaml", strings.Replace(aRelease, "example.com/router", image, 1))
	}
	if strings.Contains(command, " --anchor releases/1.0/") {
		p.must(os.MkdirAll(filepath.Join(p.dir, "releases/1.0"), 0o700))
		p.hasKept("releases/1.0/runs.json", "anchor", 0)
	}
}

// hasKept writes five Reports of the release that router.yaml has into a file, as a lab keeps them: of a device that carries so many percent less.
func (p *person) hasKept(file, side string, percent int64) {
	p.Helper()
	server, err := admission.NewServer()
	p.must(err)
	objects, err := server.Load("router.yaml", strings.NewReader(string(p.read("router.yaml"))))
	p.must(err)
	var kept strings.Builder
	for run := range 5 {
		p.must(report.JSON(&kept, runReport(objects[0].LoadTest, slower(percent)(side, run))))
	}
	p.write(file, kept.String())
}

// Each command that the docs show is run as it stands there, but for the namespace and a shell's own part, which is the test's.
func TestEachCommandOfTheDocsWorks(t *testing.T) {
	commands := readDocs(t)
	if len(commands) < 25 {
		t.Fatalf("the docs show %d commands", len(commands))
	}
	for _, c := range commands {
		t.Run(c.page+" "+c.command, func(t *testing.T) {
			p := newPerson(t)
			p.files(c.command)
			line := p.typed(c.command)
			printed := p.asShown(line)
			for words := range strings.Lines(c.prints) {
				words = strings.NewReplacer("namespace lab", "namespace "+p.namespace, " lab/", " "+p.namespace+"/").Replace(strings.TrimSpace(words))
				if !said(printed, words) {
					t.Errorf("%q isn't printed by %s:\n%s", words, line, printed)
				}
			}
			if strings.ContainsAny(printed, "\x1b\r") {
				t.Errorf("terminal codes in a pipe:\n%q", printed)
			}
		})
	}
}

// said says whether a line is printed, whatever ages, widths, addresses and versions are.
func said(printed, line string) bool {
	loose := regexp.MustCompile(`\\?[0-9]+m\b|https://\S+|v1\\\.[0-9]+\\\.[0-9]+|\s+`).ReplaceAllStringFunc(regexp.QuoteMeta(line), func(s string) string {
		if strings.TrimSpace(s) == "" {
			return `\s+`
		}
		return `\S+`
	})
	return regexp.MustCompile(loose).MatchString(printed)
}

// asShown plays what the docs describe, and returns all that is printed.
func (p *person) asShown(line string) string {
	p.Helper()
	verb := strings.Fields(line)[2]
	if strings.Contains(line, "suite.yaml") || strings.Contains(line, "four-systems") {
		return p.asShownSuite(verb, line)
	}
	switch verb {
	case "doctor":
		return p.ends(p.starts(line), 1, "operator: no operator is installed", "")
	case "list":
		return p.asShownList(line)
	case "report":
		for _, name := range namesIn(line) {
			p.creates(name)
			p.saysMeasured(name, passed)
		}
		return p.ends(p.starts(line), 0, "OpenBSD", "")
	case "stop":
		p.creates("vpp-imix")
		return p.asShownStop(line)
	case "gate":
		gate := p.starts(line)
		p.saysMeasuredSuite(p.gated(), v1alpha1.ReasonMeasured, slower(5))
		return p.ends(gate, 1, "Failed", "created")
	case "compare", "trend":
		for i, run := range []string{"a", "b", "c", "d", "e"} {
			p.outlives("was-"+run, i, 152_000+int64(i), map[string]string{"linerate.dev/suite": "v14", "linerate.dev/product": "VPP"})
			p.outlives("is-"+run, i, 120_000+int64(i), map[string]string{"linerate.dev/suite": "v15", "linerate.dev/product": "VPP"})
		}
		return p.ends(p.starts(line), 0, "OpenBSD", "")
	case "watch":
		p.creates("vpp-imix")
	}
	return p.asShownRun(line)
}

// namesIn are the names of tests that a command has.
func namesIn(line string) []string {
	words := strings.Fields(line)[3:]
	if flags := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }); flags >= 0 {
		words = words[:flags]
	}
	return words
}

// ends waits for a command's end, and returns all that it printed.
func (p *person) ends(s *started, code int, out, talk string) string {
	p.Helper()
	r := s.ends()
	r.wants(p.T, code, out, talk)
	if r.onTerminal {
		return r.out
	}
	return r.out + r.talk
}

// asShownList has a bit of everything.
func (p *person) asShownList(line string) string {
	p.Helper()
	p.creates("vpp-imix")
	p.creates("vpp-64b")
	p.saysRunning("vpp-imix", 42, v1alpha1.PodStatus{Name: "vpp-imix-1-generator-0", Role: v1alpha1.RoleGenerator, Node: "node-2", State: "Ready",
		Links: []v1alpha1.PodLink{{Link: "west", Device: "0000:03:02.1"}}})
	p.saysWaiting("vpp-64b", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west left")
	suite := p.createsSuite("four-systems")
	p.saysSuiteRuns("four-systems", 1, 1)
	p.saysMeasured(p.makes(suite, 0, 1), passed)
	p.creates("vpp-1518b")
	p.saysInLine(p.makes(suite, 1, 1), "vpp-1518b")
	return p.ends(p.starts(line), 0, "vpp-imix", "")
}

// saysInLine writes what the operator says of tests that wait in this order for two devices which vpp-imix holds.
func (p *person) saysInLine(names ...string) {
	p.Helper()
	lab := queue.Snapshot{
		Nodes:    []queue.Node{{Name: "node-2", Devices: queue.Devices{"lab.dev/east": 2}}},
		Holdings: []queue.Holding{{Test: p.namespace + "/vpp-imix", Node: "node-2", Devices: queue.Devices{"lab.dev/east": 2}}},
	}
	for i, name := range names {
		lab.Claims = append(lab.Claims, queue.Claim{ID: name, Test: p.namespace + "/" + name, Created: time.Unix(int64(i), 0), Stage: queue.Waiting,
			Pods: []queue.Pod{{Devices: queue.Devices{"lab.dev/east": 2}}}})
	}
	line := queue.Arrange(lab)
	for _, name := range names {
		p.saysWaiting(name, v1alpha1.ReasonQueued, line.Turns[name].Message)
	}
}

// asShownSuite is what the docs tell of a suite.
func (p *person) asShownSuite(verb, line string) string {
	p.Helper()
	if verb != "run" {
		p.createsSuite("four-systems")
	}
	if verb == "report" {
		p.saysSuiteEnded(p.suite("four-systems"), v1alpha1.ReasonMeasured)
		return p.ends(p.starts(line), 0, "half", "")
	}
	run := p.starts(line)
	if verb == "stop" {
		return p.ends(run, 0, "", "four-systems: stopping")
	}
	run.talk.await(p.T, "waiting for the operator")
	suite := p.suite("four-systems")
	first := p.makes(suite, 0, 1)
	p.saysSuiteRuns("four-systems", 1, 0)
	run.talk.await(p.T, "0 of 4")
	p.saysMeasured(first, passed)
	run.talk.await(p.T, first+": measured")
	p.saysSuiteRuns("four-systems", 1, 1)
	run.talk.await(p.T, "1 of 4")
	p.saysSuiteEnded(suite, v1alpha1.ReasonMeasured)
	return p.ends(run, 0, "half     imix", "")
}

func (p *person) asShownStop(line string) string {
	p.Helper()
	stop := p.starts(line)
	stop.talk.await(p.T, "vpp-imix: stopping")
	if !strings.Contains(line, "--wait") {
		return p.ends(stop, 0, "", "stopping")
	}
	p.saysMeasured("vpp-imix", interrupted)
	return p.ends(stop, 130, "OpenBSD", "stopping")
}

// asShownRun is run's and watch's.
func (p *person) asShownRun(line string) string {
	p.Helper()
	run := p.starts(line)
	run.talk.await(p.T, "waiting for the operator")
	p.saysWaiting("vpp-imix", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west")
	run.talk.await(p.T, "ResourceMissing")
	p.saysProgress("vpp-imix", 25)
	run.talk.await(p.T, "5/20")
	p.saysMeasured("vpp-imix", passed)
	return p.ends(run, 0, "OpenBSD", "")
}
