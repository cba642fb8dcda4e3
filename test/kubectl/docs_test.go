package kubectl

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/queue"
)

// shown are the commands that a document shows, and what it says they print.
type shown struct{ command, prints string }

func readDocs(t *testing.T) []shown {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubectl.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []shown
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, shown{command: strings.TrimSpace(command)})
				continue
			}
			all[len(all)-1].prints += line
		}
	}
	return all
}

// Each command that the docs show is run as it stands there, but for the namespace and a shell's own part, which is the test's.
func TestEachCommandOfTheDocsWorks(t *testing.T) {
	commands := readDocs(t)
	if len(commands) < 12 {
		t.Fatalf("the docs show %d commands", len(commands))
	}
	for _, c := range commands {
		t.Run(c.command, func(t *testing.T) {
			p := newPerson(t)
			line, _, _ := strings.Cut(c.command, " > ")
			line = strings.ReplaceAll(strings.ReplaceAll(line, "-n lab", "-n "+p.namespace), "nightly/*.yaml", "test.yaml")
			p.write("test.yaml", aTest)
			p.write("suite.yaml", aSuite)
			p.write("router.yaml", aRelease)
			printed := p.asShown(line)
			for words := range strings.Lines(c.prints) {
				words = strings.NewReplacer("namespace lab", "namespace "+p.namespace, " lab/", " "+p.namespace+"/").Replace(strings.TrimSpace(words))
				if !said(printed, words) {
					t.Errorf("%q isn't printed by %s:\n%s", words, line, printed)
				}
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

// asShown plays what the docs tell of, and returns all that is printed.
func (p *person) asShown(line string) string {
	p.Helper()
	verb := strings.Fields(line)[2]
	if strings.Contains(line, "suite.yaml") || strings.Contains(line, "four-systems") {
		return p.asShownSuite(verb, line)
	}
	if verb != "run" {
		p.creates("vpp-imix")
		p.creates("vpp-64b")
	}
	switch verb {
	case "doctor":
		r := p.types(line)
		r.wants(p.T, 1, "fail    operator", "")
		return r.out
	case "list":
		p.saysRunning("vpp-imix", 42, v1alpha1.PodStatus{Name: "vpp-imix-1-generator-0", Role: v1alpha1.RoleGenerator, Node: "node-2", State: "Ready",
			Links: []v1alpha1.PodLink{{Link: "west", Device: "0000:03:02.1"}}})
		p.saysWaiting("vpp-64b", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west left")
		suite := p.createsSuite("four-systems")
		p.saysSuiteRuns("four-systems", 1, 1)
		p.saysMeasured(p.makes(suite, 0, 1), passed)
		p.creates("vpp-1518b")
		p.saysInLine(p.makes(suite, 1, 1), "vpp-1518b")
		r := p.types(line)
		r.wants(p.T, 0, "vpp-imix", "")
		return r.out
	case "report":
		p.saysMeasured("vpp-imix", passed)
		p.saysMeasured("vpp-64b", passed)
		r := p.types(line)
		r.wants(p.T, 0, "OpenBSD", "")
		return r.out
	case "stop":
		return p.asShownStop(line)
	case "gate":
		gate := p.starts(line)
		p.saysMeasuredSuite(p.gated(), v1alpha1.ReasonMeasured, slower(5))
		r := gate.ends()
		r.wants(p.T, 1, "Failed", "created")
		return r.talk
	}
	return p.asShownRun(line)
}

// saysInLine writes what the operator says of tests that wait in this order for two devices which vpp-imix holds.
func (p *person) saysInLine(names ...string) {
	p.Helper()
	lab := queue.Lab{
		Nodes: []queue.Node{{Name: "node-2", Resources: queue.Resources{"lab.dev/east": 2}}},
		Held:  []queue.Holding{{Test: p.namespace + "/vpp-imix", Node: "node-2", Resources: queue.Resources{"lab.dev/east": 2}}},
	}
	for i, name := range names {
		lab.Claims = append(lab.Claims, queue.Claim{ID: name, Test: p.namespace + "/" + name, Created: time.Unix(int64(i), 0), Stage: queue.Waiting,
			Pods: []queue.Pod{{Resources: queue.Resources{"lab.dev/east": 2}}}})
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
		r := p.types(line)
		r.wants(p.T, 0, "half", "")
		return r.out
	}
	run := p.starts(line)
	if verb == "stop" {
		r := run.ends()
		r.wants(p.T, 0, "", "four-systems: stopping")
		return r.talk
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
	r := run.ends()
	r.wants(p.T, 0, "half     imix", "all measured")
	return r.talk
}

func (p *person) asShownStop(line string) string {
	p.Helper()
	stop := p.starts(line)
	stop.talk.await(p.T, "vpp-imix: stopping")
	if !strings.Contains(line, "--wait") {
		r := stop.ends()
		r.wants(p.T, 0, "", "stopping")
		return r.talk
	}
	p.saysMeasured("vpp-imix", interrupted)
	r := stop.ends()
	r.wants(p.T, 130, "OpenBSD", "stopping")
	return r.talk
}

// asShownRun is run's and watch's.
func (p *person) asShownRun(line string) string {
	p.Helper()
	run := p.starts(line)
	run.talk.await(p.T, "waiting for the operator")
	p.saysWaiting("vpp-imix", v1alpha1.ReasonResourceMissing, "no node has lab.dev/west")
	run.talk.await(p.T, "ResourceMissing")
	p.saysRunning("vpp-imix", 20)
	p.saysProgress("vpp-imix", 25)
	run.talk.await(p.T, "5/20")
	p.saysMeasured("vpp-imix", passed)
	r := run.ends()
	r.wants(p.T, 0, "OpenBSD", "measured")
	return r.talk
}

// The krew manifest, filled in as at a release, is one, and names this program.
func TestTheKrewManifest(t *testing.T) {
	text, err := os.ReadFile("../../hack/krew/linerate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.Builder{}
	// The bot's own function takes a template as its first argument.
	inner := strings.ReplaceAll(string(text), `/download/{{ .TagName }}/`, `/download/TAG/`)
	manifest, err := template.New("krew").Funcs(template.FuncMap{"addURIAndSha": func(uri, tag string) string {
		return "uri: " + strings.ReplaceAll(uri, "TAG", tag) + "\n    sha256: " + strings.Repeat("a", 64)
	}}).Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	if err := manifest.Execute(&filled, map[string]string{"TagName": "v0.1.0"}); err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version   string
			Platforms []struct {
				URI, SHA256, Bin string
				Selector         struct{ MatchLabels map[string]string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(filled.String()), &plugin); err != nil {
		t.Fatalf("%v\n%s", err, filled.String())
	}
	if plugin.Metadata.Name != "linerate" || plugin.Spec.Version != "v0.1.0" || len(plugin.Spec.Platforms) != 2 {
		t.Errorf("got %+v", plugin)
	}
	for _, platform := range plugin.Spec.Platforms {
		if !slices.Contains(names(), platform.Bin) || len(platform.SHA256) != 64 || !strings.Contains(platform.URI, "/v0.1.0/linerate_linux_"+platform.Selector.MatchLabels["arch"]) {
			t.Errorf("got %+v", platform)
		}
	}
}
