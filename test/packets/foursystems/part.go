package foursystems

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// File is the suite, from a package of tests.
const File = "../../../examples/suites/four-systems.yaml"

// Part is the file with these of its cells alone, each measured once: what there is time for in each run of the tests.
func Part(file string, cells ...string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("take a part of the four systems: %w", err)
	}
	short, found := strings.CutSuffix(string(text), "  repetitions: 2\n")
	if !found {
		return "", fmt.Errorf("%s doesn't end with its repetitions", file)
	}
	var rest []string
	for _, a := range Answers() {
		if !slices.Contains(cells, a.Cell) {
			rest = append(rest, fmt.Sprintf("{system: %s, loadtest: %s}", a.Product, a.Loadtest))
		}
	}
	return short + "  exclusions: [" + strings.Join(rest, ", ") + "]\n", nil
}
