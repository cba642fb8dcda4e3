package admission

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFaults says what keeps a text from being YAML, by the parser's words, the line they are about, and what usually
// causes them.
func yamlFaults(src source, text []byte, err error) Faults {
	pattern := regexp.MustCompile(`line (\d+): (.*)`)
	var faults Faults
	for _, m := range pattern.FindAllStringSubmatch(err.Error(), -1) {
		line, _ := strconv.Atoi(m[1]) // digits by the pattern
		faults = append(faults, syntaxFault(src, text, line, m[2]))
	}
	if len(faults) == 0 {
		message := err.Error()[strings.LastIndex(err.Error(), "yaml: ")+len("yaml: "):]
		faults = Faults{src.fault("", "not YAML: "+message)}
	}
	return faults
}

// syntaxFault places the parser's words, whose lines count from the document's beginning.
func syntaxFault(src source, text []byte, line int, words string) Fault {
	fault := Fault{File: src.file, Document: src.document}
	if key, twice := strings.CutSuffix(words, "already set in map"); twice {
		fault.Line, fault.Message = src.line+line-1, key+"appears twice: remove one"
		return fault
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if strings.HasPrefix(words, "did not find expected") {
		line++ // the parser, other than its scanner, counts these from 0
	}
	line = max(min(line, len(lines)), 1)
	fault.Line = src.line + line - 1
	fault.Message = fmt.Sprintf("not YAML: %s, at %s%s", words, quoted(strings.TrimSpace(string(lines[line-1]))),
		usualCause(words, lines[line-1]))
	return fault
}

// usualCause is what a person most often did where the parser says this, as the end of a sentence.
func usualCause(words string, line []byte) string {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("\t")):
		return ": indent with spaces, not with tabs"
	case strings.Contains(words, "expected key"), strings.Contains(words, "'-' indicator"):
		return ": indent it like the lines that it belongs to"
	case strings.Contains(words, "mapping values"):
		return ": a colon too many, or the line before lacks its own; a text with a colon and a space needs quotes"
	case strings.Contains(words, "expected ','"), strings.Contains(words, "expected node"):
		return ": a bracket or brace before it isn't closed, or a comma is missing"
	case strings.Contains(words, "end of stream"):
		return ": a quote that isn't closed"
	case strings.Contains(words, "start any token"):
		return ": a value that begins with %, @ or ` needs quotes"
	case strings.Contains(words, "expected ':'"):
		return ": write NAME: VALUE"
	}
	return ""
}

// repeatedKeys are the keys that appear twice in a mapping, and those that a merge key behind them would replace.
func repeatedKeys(src source, node *yaml.Node) (faults Faults) {
	for _, child := range node.Content { // an alias has none: its anchor is walked where it stands
		faults = append(faults, repeatedKeys(src, child)...)
	}
	if node.Kind != yaml.MappingNode {
		return faults
	}
	keys := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		fault := Fault{File: src.file, Document: src.document, Line: src.line + key.Line - 1}
		switch {
		case key.Tag == "!!merge" && i > 0:
			fault.Message = "a merge key (<<) stands behind other keys, which it may replace: write it first"
			faults = append(faults, fault)
		case key.Tag == "!!merge":
		case keys[key.Value]:
			fault.Message = fmt.Sprintf("key %q appears twice: remove one", key.Value)
			faults = append(faults, fault)
		}
		keys[key.Value] = true
	}
	return faults
}
