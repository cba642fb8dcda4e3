package walkthrough

import (
	"regexp"
	"strings"
)

// anything is what the page writes for text that it leaves out.
const anything = "…"

// Matches is whether a command's output is what the page shows. Spaces at the ends of lines don't count, and a page
// that shows nothing says nothing of the output.
func (a Action) Matches(output string) bool {
	if len(a.Shows) == 0 {
		return true
	}
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for _, line := range a.Shows {
		if strings.TrimSpace(line) == anything {
			pattern.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " \t"), anything)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `[^\n]*`) + `[ \t]*\n`)
	}
	pattern.WriteString(`$`)
	return regexp.MustCompile(pattern.String()).MatchString(strings.TrimRight(output, "\n") + "\n")
}
