package kubectl

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// narrow is the terminal that has been usual for fifty years.
func narrow() *unix.Winsize { return &unix.Winsize{Row: 24, Col: 80} }

// colours are words painted for a terminal; codes all that a terminal doesn't show.
var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	codes   = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
)

// Each command that the docs show does on a terminal what it does piped, its text is no wider than that, and nothing is painted where NO_COLOR
// forbids it.
func TestEachCommandOfTheDocsOnATerminal(t *testing.T) {
	typed := map[string]bool{}
	for _, c := range readDocs(t) {
		if strings.Contains(c.command, " > ") || typed[c.command] {
			continue // it goes into a file, or was tried
		}
		typed[c.command] = true
		t.Run(c.page+" "+c.command, func(t *testing.T) {
			t.Parallel() // each has a namespace and a folder of its own
			painted, plain := onTerminal(t, c.command), onTerminal(t, c.command, "NO_COLOR=1")
			if found := colours.FindString(plain); found != "" {
				t.Errorf("NO_COLOR is set, and there is %q in\n%q", found, plain)
			}
			if is := colours.MatchString(painted); is != paints(c.command) {
				t.Errorf("coloured: %v, in\n%q", is, painted)
			}
			if !isText(c.command) {
				return
			}
			for line := range strings.Lines(strings.ReplaceAll(codes.ReplaceAllString(painted, ""), "\r", "\n")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !forCopying(line) {
					t.Errorf("%d characters in a line: %q", n, line)
				}
			}
		})
	}
}

// isText says whether a command prints for people, and not a document in a format.
func isText(command string) bool {
	return !strings.Contains(command, " -o ") || strings.Contains(command, " -o text")
}

// paints says whether a command prints results, which have colours on a terminal: lists and what is done have none.
func paints(command string) bool {
	verb := strings.Fields(command)[2]
	return isText(command) && verb != "list" && (verb != "stop" || strings.Contains(command, "--wait"))
}

// forCopying says whether a line is left to the terminal to break: a way out with its command, and what stays above the progress.
func forCopying(line string) bool {
	return strings.HasPrefix(line, "        → ") || strings.Contains(line, ": measured: ")
}

// onTerminal plays a command of the docs on a terminal, and returns all that went there.
func onTerminal(t *testing.T, command string, env ...string) string {
	t.Helper()
	p := newPerson(t)
	p.files(command)
	p.seat, p.env = narrow(), env
	return p.asShown(p.typed(command))
}

// Control characters in conditions don't reach the terminal.
func TestControlCharactersOfOthersOnATerminal(t *testing.T) {
	const words = "pod died: \x1b[2J\x1b]0;mine\a"
	p := newPerson(t)
	p.creates("vpp-imix")
	p.saysWaiting("vpp-imix", "PodRefused", words)
	p.seat = narrow()
	list := p.types("kubectl linerate list")
	watch := p.starts("kubectl linerate watch vpp-imix")
	watch.out.await(t, "PodRefused")
	p.saysEnded("vpp-imix", "SetupFailed", words)
	for _, r := range []result{list, watch.ends(), p.types("kubectl linerate report vpp-imix")} {
		if !strings.Contains(r.out, "pod died: ") || strings.Contains(r.out, "\x1b[2J") || strings.ContainsAny(r.out, "\a") {
			t.Errorf("%s:\n%q", r.line, r.out)
		}
	}
}
