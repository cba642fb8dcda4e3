package walkthrough

import (
	"slices"
	"strings"
	"testing"
)

func page(lines ...string) string { return strings.ReplaceAll(strings.Join(lines, "\n"), "'''", fence) }

func TestStepsHaveTheirCommandsAndFiles(t *testing.T) {
	steps, err := Read(page(
		"# Page", "$ this is prose", "## 1. Functions", "'''console",
		"$ echo 4 > numvfs    # four", "$ for vf in a b; do", ">   echo $vf", "> done", "a", "b", "'''",
		"## 2. Settings", "Write them into `/etc/settings.yaml`:", "", "'''yaml", "# a comment", "policy: static", "'''", "'''console", "$ kubectl get node", "'''"))
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 3 || steps[1].Title != "1. Functions" || steps[2].Title != "2. Settings" || len(steps[0].Actions) != 0 {
		t.Fatalf("steps: %+v", steps)
	}
	loop, file, get := steps[1].Actions[1], steps[2].Actions[0], steps[2].Actions[1]
	if steps[1].Actions[0].Command != "echo 4 > numvfs    # four" || steps[1].Actions[0].Line != 5 ||
		loop.Command != "for vf in a b; do\n  echo $vf\ndone" || !slices.Equal(loop.Shows, []string{"a", "b"}) {
		t.Errorf("the first step has %+v", steps[1].Actions)
	}
	if file.Language != "yaml" || file.File != "# a comment\npolicy: static\n" ||
		file.Path != "/etc/settings.yaml" || file.Command != "" {
		t.Errorf("the file is %+v", file)
	}
	if get.Command != "kubectl get node" || len(get.Shows) != 0 {
		t.Errorf("the second step's command is %+v", get)
	}
}

func TestABlockThatNobodyCanFollowIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"output without a command":         page("'''console", "4: ens1f0", "'''"),
		"a continuation below the output":  page("'''console", "$ ls", "a", "> b", "'''"),
		"a block that never ends":          page("'''console", "$ ls"),
		"output below a file, not command": page("'''yaml", "a: b", "'''", "'''console", "4", "'''"),
	} {
		if steps, err := Read(text); err == nil {
			t.Errorf("%s: read as %+v", name, steps)
		}
	}
}

func TestOutputIsHeldToWhatThePageShows(t *testing.T) {
	link := []string{"4: ens1f0: <UP> mtu 9216 …", "    vf 0  spoof checking on, trust off", "    …"}
	for _, tt := range []struct {
		name   string
		shows  []string
		output string
		want   bool
	}{
		{"the same", []string{"0"}, "0\n", true},
		{"another figure", []string{"0"}, "-1\n", false},
		{"what is left out", link, "4: ens1f0: <UP> mtu 9216 qdisc mq\n    vf 0  spoof checking on, trust off\n    vf 1\n", true},
		{"nothing where something is left out", link, "4: ens1f0: <UP> mtu 9216 \n    vf 0  spoof checking on, trust off\n", true},
		{"a line too little", link, "4: ens1f0: <UP> mtu 9216 qdisc mq\n", false},
		{"a line too much", []string{"0"}, "0\n0\n", false},
		{"a page that shows nothing", nil, "anything", true},
		{"letters that patterns have", []string{"a.b (c)*"}, "aXb (c)*\n", false},
	} {
		if got := (Action{Shows: tt.shows}).Matches(tt.output); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestThePagesOwnTableChangesWhatIsTyped(t *testing.T) {
	text := page("prose", "", "| the page has | the test has |", "|---|---|", "| `25gbps` | `1gbps` |", "| \"cpu\":30 | \"cpu\":2 |", "",
		"| another | table |", "|---|---|", "| `x` | `y` |")
	changes, err := Changes(text, "| the page has | the test has |")
	if err != nil || len(changes) != 2 {
		t.Fatalf("%v, %v", changes, err)
	}
	if got := Change(`{"cpu":30} 25gbps, 25gbps x`, changes); got != `{"cpu":2} 1gbps, 1gbps x` {
		t.Errorf("changed to %s", got)
	}
	for name, text := range map[string]string{
		"no table":          "prose",
		"a row of one cell": page("| the page has | the test has |", "|---|---|", "| `25gbps` |"),
	} {
		if changes, err := Changes(text, "| the page has | the test has |"); err == nil {
			t.Errorf("%s: %v", name, changes)
		}
	}
}
