// Command limits writes the part of docs/api.md on what the compiler, and not the schema, demands of fields.
package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/compile"
)

func main() {
	fmt.Print(`
## Limits

What a value must be on its own, the schema says, and the API server refuses the rest. What it must be beside others,
and the limits below, the compiler says. ` + "`linerate run` and `kubectl linerate run`" + ` refuse such a file before they begin. After
` + "`kubectl apply`" + ` the test ends at once: its condition Accepted is False, and names the field, its value and the way out.

| field of spec | must be |
|---|---|
`)
	rows := compile.ShareLimits()
	for name, limits := range compile.DurationLimits() {
		rows[name] = fmt.Sprintf("between %s and %s", limits[0], limits[1])
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Printf("| `%s` | %s |\n", name, rows[name])
	}
}
