package foursystems

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/test/pages/published"
)

// Publish writes a measured suite between a page's marks of the name: as linerate printed it for the command,
// and each cell beside what is known.
func Publish(page, name, command string, r Render, faults []string, machine string) error {
	s, err := r.Suite()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s; it took %s.\n\n", published.Provenance(s.Finished),
		s.Finished.Sub(s.Started).Round(time.Second))
	fmt.Fprintf(&b, "```console\n$ %s\n%s\n```\n\n", command, strings.TrimSpace(r("text")))
	fmt.Fprintf(&b, "The same with `-o markdown`:\n\n%s\n\n", strings.TrimSpace(r("markdown")))
	fmt.Fprintf(&b, "Compared with the known values, both directions together:\n\n| cell | known, packets/s | measured | off |\n| :--- | ---: | ---: | ---: |\n")
	for _, a := range Answers() {
		got := figuresOf(s, a.Cell).PacketsPerSecond
		fmt.Fprintf(&b, "| %s | %s | %d | %+.2f %% |\n", a.Cell, a.expected(), got,
			share(float64(got), a.PacketsPerSecond)*100)
	}
	fmt.Fprintf(&b, "\nThe machine meanwhile: %s.\n", machine)
	for _, f := range faults {
		fmt.Fprintf(&b, "\nNot as it should be: %s.\n", f)
	}
	return published.Section(page, name, b.String())
}

// expected says what is known of the cell.
func (a Answer) expected() string {
	if a.LineRate {
		return fmt.Sprintf("%.0f: the links' line rate", a.PacketsPerSecond)
	}
	return fmt.Sprintf("%.0f", a.PacketsPerSecond)
}
