// Command schemas writes a JSON Schema of each document of linerate's, docs/schemas/NAME.json, from the Go
// types and their comments: what it says of a member is what who changes the member reads.
package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/cli/kubectl"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// document is a kind of document.
type document struct {
	name, title string
	goType      reflect.Type
	version     string
}

func documents() []document {
	documentsList := []document{
		{"plan", "linerate: Plan", reflect.TypeFor[plan.Plan](), plan.Version},
		{"report", "linerate: Report", reflect.TypeFor[report.Report](), report.Version},
		{"suite", "linerate: report of a suite", reflect.TypeFor[report.Suite](), report.SuiteVersion},
		{"gate", "linerate: judgement of a gate", reflect.TypeFor[report.Gate](), report.GateVersion},
		{"table", "linerate: table", reflect.TypeFor[report.Table](), report.TableVersion},
		{"comparison", "linerate: comparison", reflect.TypeFor[report.Comparison](), report.ComparisonVersion},
		{"rfc2544", "linerate: Reports in the forms of RFC 2544", reflect.TypeFor[report.RFC2544](),
			report.RFC2544Version},
		{"heatmap", "linerate: heat maps", reflect.TypeFor[report.Heatmap](), report.HeatmapVersion},
		{"trend", "linerate: trend", reflect.TypeFor[report.Trend](), report.TrendVersion},
	}
	for _, printed := range []map[string]reflect.Type{cli.Documents(), kubectl.Documents()} {
		for _, version := range slices.Sorted(maps.Keys(printed)) {
			name, _, _ := strings.Cut(path.Base(version), ".")
			documentsList = append(documentsList, document{name, "linerate: " + name, printed[version], version})
		}
	}
	return documentsList
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the directory to write to, such as docs/schemas")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for _, d := range documents() {
		text, err := d.schema(".")
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if err := os.WriteFile(filepath.Join(args[0], d.name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
