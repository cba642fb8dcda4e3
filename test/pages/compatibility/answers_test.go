package compatibility

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// added is what this linerate prints of old documents in addition to what their release printed, and why. What it prints in other words than that release belongs
// here, too, with the words that it had.
var added = []struct{ command, words, why string }{
	{
		"report v1.4.json.gz -o markdown", "\nNegative loss: more came back in this window than was sent in it; those frames were on their way when it began.\n",
		"text explained a negative loss already, and markdown left its reader alone with it",
	},
}

func TestTheCommandLinePrintsOldReportsAsTheirReleaseDid(t *testing.T) {
	archive := txtar.Parse(read(t, "answers.txtar"))
	t.Chdir(filepath.Join(stored, "reports"))
	for _, answer := range archive.Files {
		t.Run(answer.Name, func(t *testing.T) {
			now := asComparedBefore(printed(t, answer.Name))
			for _, a := range added {
				if a.command != answer.Name {
					continue
				}
				if !strings.Contains(now, a.words) {
					t.Errorf("it doesn't say %q any more (%s)", a.words, a.why)
				}
				now = strings.ReplaceAll(now, a.words, "")
			}
			if was := string(answer.Data); now != was {
				t.Errorf("it was\n%s\nand is\n%s", was, now)
			}
		})
	}
	if len(archive.Files) < 30 {
		t.Errorf("%d answers are stored: are they written in another way?", len(archive.Files))
	}
}

// printed is what a command prints, and its exit code as a last line.
func printed(t *testing.T, command string) string {
	t.Helper()
	var out, talk bytes.Buffer
	code := cli.Main(strings.Fields(command), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
	return fmt.Sprintf("%sexit code %d\n", &out, code)
}

func TestAnOldReportWrittenAsJSONIsTheSameInTheNewVersion(t *testing.T) {
	names := named(t, "reports", ".json.gz")
	want := map[string]string{}
	for _, name := range names {
		was := string(unpacked(t, read(t, "reports/"+name+".json.gz")))
		want[name] = strings.ReplaceAll(was, `"version": "`+report.VersionBefore+`"`, `"version": "`+report.Version+`"`)
		if want[name] == was {
			t.Errorf("%s says nothing of its version", name)
		}
	}
	t.Chdir(filepath.Join(stored, "reports"))
	for _, name := range names {
		if got := printed(t, "report "+name+".json.gz -o json"); got != want[name]+"exit code 0\n" {
			t.Errorf("%s is written as\n%.2000s", name, got)
		}
	}
}
