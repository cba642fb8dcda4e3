package sriov

import (
	"os"
	"regexp"

	"github.com/linerate-dev/linerate/test/pages/walkthrough"
)

const (
	pageFile = "../../../docs/sriov.md"
	// changesHeading is the first row of the page's table of what the test types instead.
	changesHeading = "| the page has | the test has |"
	// limitOnPage is the known answer there. The test takes one that only the device knows.
	limitOnPage = "packetsPerSecond: 10000"
)

// numbered is the title of a step that is typed.
var numbered = regexp.MustCompile(`^[0-9]+\. `)

// page is docs/sriov.md.
type page struct {
	text    string
	steps   []walkthrough.Step
	changes map[string]string
}

func readPage() (page, error) {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		return page{}, err
	}
	p := page{text: string(text)}
	if p.steps, err = walkthrough.Read(p.text); err != nil {
		return page{}, err
	}
	p.changes, err = walkthrough.Changes(p.text, changesHeading)
	return p, err
}

// symptoms are the commands in the table of what to do when it doesn't go.
func (p page) symptoms() (commands []string) {
	inTable := regexp.MustCompile("(?s)\n## When it doesn't go\n(.*?)\n## ").FindStringSubmatch(p.text)
	if inTable == nil {
		return nil
	}
	for _, found := range regexp.MustCompile("`((?:ip|ethtool|lspci) [^`]+)`").FindAllStringSubmatch(inTable[1], -1) {
		commands = append(commands, regexp.MustCompile(`\\\|`).ReplaceAllString(found[1], "|"))
	}
	return commands
}
