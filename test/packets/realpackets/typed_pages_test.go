//go:build full

package realpackets

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/pages/walkthrough"
)

// typePage types a page that repeats a published load test, in the shorter form of its last table: each command, in one shell, where the page's files lie. The
// namespaces that it makes are in none that anybody else sees, and end with it. It returns the folder.
func typePage(t *testing.T, name string) (folder string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := walkthrough.Read(string(text))
	if err != nil {
		t.Fatal(err)
	}
	shorter, err := walkthrough.Changes(string(text), "| the page has | shorter |")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	script := "set -ex\n"
	for _, step := range steps {
		for _, action := range step.Actions {
			switch {
			case action.Command != "":
				script += action.Command + "\n"
			case action.Path != "":
				if err := os.WriteFile(filepath.Join(folder, action.Path), []byte(walkthrough.Change(action.File, shorter)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c",
		"mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up && exec bash page.sh")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+filepath.Dir(linerate)+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := os.WriteFile(filepath.Join(folder, "page.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	t.Logf("%s took %v", name, time.Since(began).Round(time.Second))
	return folder
}

// suiteOf is a suite of which each cell must have a figure, in each of so many directions.
func suiteOf(t *testing.T, folder, name string, cells int) *report.Suite {
	t.Helper()
	s := readSuite(t, filepath.Join(folder, "linerate-reports"), name)
	figures := 0
	for _, c := range s.Cells {
		if c.Figures == nil {
			t.Errorf("%s: %s: %s", name, c.Name, c.Message)
			continue
		}
		if figures++; !c.Calibration {
			t.Logf("%s: %s", c.Name, line(c.Figures))
		}
	}
	if figures != cells {
		t.Errorf("%s has %d cells with figures, want %d", name, figures, cells)
	}
	return s
}

func line(f *report.Figures) string {
	if f.GoodputBitsPerSecond != nil {
		return fmt.Sprintf("%.2f Mb/s", float64(*f.GoodputBitsPerSecond)/1e6)
	}
	return fmt.Sprintf("%d packets/s", f.PacketsPerSecond)
}

// TestTheFloodOfItsPage: the sink's kernel counted, before and after each flood, what linerate says that came back, and the marked frames of the path's proof.
func TestTheFloodOfItsPage(t *testing.T) {
	needRoot(t)
	folder := typePage(t, "flood.md")
	s := suiteOf(t, folder, "flood", 4)
	for _, c := range s.Cells {
		if c.Calibration {
			continue
		}
		r := readReport(t, filepath.Join(folder, "linerate-reports", fmt.Sprintf("flood-%s-r1.json", c.Name)))
		kernel := kernelCount(t, folder, r, plan.CollectAfter) - kernelCount(t, folder, r, plan.CollectBefore)
		var returned int64
		for _, total := range r.Totals {
			returned += total.Returned.Packets
		}
		if marked := kernel - returned; marked < 0 || marked > 5_000 {
			t.Errorf("%s: the sink's kernel received %d frames, linerate counted %d", c.Name, kernel, returned)
		}
	}
}

// kernelCount is the content of what a Report says was collected.
func kernelCount(t *testing.T, folder string, r *report.Report, when string) int64 {
	t.Helper()
	i := slices.IndexFunc(r.Collected, func(c report.Collected) bool { return c.When == when })
	if i < 0 || r.Collected[i].Missing != "" {
		t.Fatalf("%s: %s was not collected: %+v", r.Plan.Test.Name, when, r.Collected)
	}
	text, err := os.ReadFile(filepath.Join(folder, "linerate-reports", "collected", strings.TrimPrefix(r.Collected[i].SHA256, "sha256:")))
	if err != nil {
		t.Fatal(err)
	}
	frames, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

// TestTheFirewallOfItsPage: each mode, over each link and both, carries TCP and frames, also where it translates their addresses.
func TestTheFirewallOfItsPage(t *testing.T) {
	needRoot(t)
	folder := typePage(t, "firewall.md")
	suiteOf(t, folder, "tcp", 12)
	frames := suiteOf(t, folder, "frames", 9+36)
	suiteOf(t, folder, "sweep", 12)
	for _, c := range frames.Cells {
		if c.Figures == nil || c.Calibration {
			continue
		}
		r := readReport(t, filepath.Join(folder, "linerate-reports", fmt.Sprintf("frames-%s-r1.json", c.Name)))
		for _, p := range r.Path {
			if translated := p.Learned != nil && p.Learned.TranslatedFlows > 0; translated != strings.HasPrefix(c.Name, "nat-") {
				t.Errorf("%s: %s→%s: addresses were translated: %v", c.Name, p.From, p.To, translated)
			}
		}
	}
}

// TestTheBoardsOfTheirPage: all six loads have figures over the path, to the board, and through its NAT, those both ways in each direction.
func TestTheBoardsOfTheirPage(t *testing.T) {
	needRoot(t)
	folder := typePage(t, "boards.md")
	s := suiteOf(t, folder, "boards", 18)
	for _, c := range s.Cells {
		r := readReport(t, filepath.Join(folder, "linerate-reports", fmt.Sprintf("boards-%s-r1.json", c.Name)))
		want := 1
		if strings.HasSuffix(c.Name, "-both") {
			want = 2
		}
		if got := len(r.Answer.Directions); got != want {
			t.Errorf("%s: %d directions, want %d", c.Name, got, want)
		}
		for _, d := range r.Answer.Directions {
			if d.Sessions == nil || d.Sessions.GoodputBitsPerSecond == 0 {
				t.Errorf("%s: %s→%s: %+v", c.Name, d.From, d.To, d.Sessions)
			}
		}
	}
}
