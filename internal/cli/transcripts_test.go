package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

var update = flag.Bool("update", false, "write what the transcripts of the pages print into them, instead of comparing")

const (
	cliPage = "../../docs/cli.md"
	ciPage  = "../../docs/my-ci.md"
)

// TestTheTranscriptsOfThePage runs each command that docs/cli.md shows, in the page's order and in one
// directory, and compares what it prints with what the page says. Tests are measured in memory, in virtual
// time: by the very runner and renderers, and no packet is sent.
func TestTheTranscriptsOfThePage(t *testing.T) { transcripts(t, cliPage, 10) }

// TestTheTranscriptsOfAPipelinesPage does the same with docs/my-ci.md.
func TestTheTranscriptsOfAPipelinesPage(t *testing.T) { transcripts(t, ciPage, 3) }

// transcripts are those of a page that shows so many commands at least.
func transcripts(t *testing.T, folder string, minimum int) {
	t.Helper()
	tier.Plain(t)
	page, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(desk(t))
	shown, typed := string(text), 0
	ran := console.ReplaceAllStringFunc(shown, func(block string) string {
		fenced := console.FindStringSubmatch(block)
		p := &typist{T: t}
		for line := range strings.Lines(fenced[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				typed++
				p.types(strings.TrimSpace(command))
			}
		}
		return "```console\n" + p.screen.String() + "```"
	})
	if typed < minimum {
		t.Errorf("%d commands were typed: are they written in another way?", typed)
	}
	if ran == shown {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(ran), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s shows what the commands don't print; go test -update writes what they do:\n%s", filepath.Base(page),
		firstApart(shown, ran))
}

var console = regexp.MustCompile("(?s)```console\n(.*?)```")

// firstApart shows where two texts part.
func firstApart(shown, ran string) string {
	shownLines, ok := strings.Split(shown, "\n"), strings.Split(ran, "\n")
	for i := range min(len(shownLines), len(ok)) {
		if shownLines[i] != ok[i] {
			return fmt.Sprintf("line %d is\n%s\nand is printed as\n%s", i+1, shownLines[i], ok[i])
		}
	}
	return fmt.Sprintf("%d lines are shown, and %d printed", len(shownLines), len(ok))
}

// typist types commands at a prompt, and sees what a person would.
type typist struct {
	*testing.T
	screen bytes.Buffer
	code   int
}

func (p *typist) types(line string) {
	p.Helper()
	p.screen.WriteString("$ " + line + "\n")
	command, isLinerate := strings.CutPrefix(line, "linerate ")
	switch {
	case line == "echo $?":
		fmt.Fprintln(&p.screen, p.code)
	case isLinerate:
		p.linerate(command)
	default:
		p.shell(line, nil)
	}
}

// shell runs what isn't linerate.
func (p *typist) shell(line string, input []byte) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), "sh", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &p.screen, &p.screen
	p.code = 0
	if err := cmd.Run(); err != nil {
		failed, ran := errors.AsType[*exec.ExitError](err)
		if !ran {
			p.Fatal(err)
		}
		p.code = failed.ExitCode()
	}
}

// linerate runs a command line of the program's, with what a shell makes of "> FILE", "2> FILE" and "| COMMAND"
// at its end.
func (p *typist) linerate(line string) {
	p.Helper()
	line, filter, piped := strings.Cut(line, " | ")
	line, talkTo, _ := strings.Cut(line, " 2> ")
	line, dataTo, _ := strings.Cut(line, " > ")
	var data, stderr bytes.Buffer
	streams := Streams{Stdin: strings.NewReader(""), Stdout: &p.screen, Stderr: &p.screen}
	if piped || dataTo != "" {
		streams.Stdout = &data
	}
	if talkTo != "" {
		streams.Stderr = &stderr
	}
	synctest.Test(p.T, func(t *testing.T) {
		p.code = execute(t.Context(), simulatedRoot(t, streams), publishedFlags(words(line)), streams)
	})
	p.keep(dataTo, data.Bytes())
	p.keep(talkTo, stderr.Bytes())
	if piped {
		p.shell(filter, data.Bytes())
	}
}

func (p *typist) keep(file string, text []byte) {
	p.Helper()
	if file == "" {
		return
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.Fatal(err)
	}
}

// words are a command line's, as a shell parts them.
func words(line string) []string {
	var lines []string
	for _, w := range regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1) {
		lines = append(lines, strings.Trim(w, `'"`))
	}
	return lines
}

// typo is a LoadTest with three mistakes.
const typo = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: typo}
spec:
  dut: {type: Reference}
  links: [{name: west, lineRate: 1gb}, {name: east, lineRate: 1gbps}]
  trafic: {profile: FixedSize, frameSize: 64}
`

// desk is a directory with all that the page's commands name: two examples, a file with mistakes, and the
// Reports of two releases and of some nights.
func desk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "typo.yaml"), []byte(typo), 0o600)
	for name, from := range map[string]string{"known-answer.yaml": "../../examples/known-answer.yaml",
		"four-systems.yaml": "../../examples/suites/four-systems.yaml"} {
		text, err2 := os.ReadFile(from)
		err = errors.Join(err, err2, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	input, err := readInputs(nil, []string{"../../examples/known-answer.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	knownAnswer := input.plans[0]
	for run := range int64(5) {
		keepReport(t, knownAnswer, filepath.Join(dir, "v1.4"), run, 10_000+13*(run*run%5))
		keepReport(t, knownAnswer, filepath.Join(dir, "v1.5"), 10+run, 9_610+17*(run*run%5))
	}
	for night := range int64(8) {
		limit := 10_000 + 13*(night*night%5)
		if night == 5 {
			limit = 9_100
		}
		keepReport(t, knownAnswer, filepath.Join(dir, "nightly"), 20+night, limit)
	}
	return dir
}

// keepReport measures a device with so large a limit by a plan, on a day of a month, and keeps the Report.
func keepReport(t *testing.T, source *plan.Plan, dir string, day, limit int64) {
	t.Helper()
	p := *source
	p.Test.Product, p.Test.Loadtest = "router", "imix"
	p.DUT = plan.DUT{Type: "Reference", Forwarding: p.DUT.Forwarding,
		Reference: &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: limit, Burst: p.DUT.Reference.Limit.Burst}}}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC).AddDate(0, 0, int(day))))
		r, err := measureOne(t.Context(), Streams{Stderr: &bytes.Buffer{}}, runOptions{quiet: true}, &p, simulated{&p},
			"",
			nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Plan.DUT = plan.DUT{Type: "Device", Forwarding: p.DUT.Forwarding} // whose limit nobody knows
		r.Plan.Test.Name = fmt.Sprintf("router-%d", day)
		folder := reportFolder{dir}
		err = folder.prepare()
		if err == nil {
			_, err = folder.keepTest(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
