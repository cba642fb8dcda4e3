package yamltree

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A document may have at most so many characters that may part two values, before it is parsed, since each value
// takes half a kilobyte of memory then, and so many values, bytes of text and levels after it, with all that
// aliases repeat. An API server takes no object of more than 3 MiB.
const (
	mostMarks  = 400_000
	mostValues = 400_000
	mostText   = 8 << 20
	deepest    = 100
)

// Tree is a document that is within these bounds.
type Tree struct {
	Root *yaml.Node
	text []byte
}

// Parse parses one document.
func Parse(text []byte) (Tree, error) {
	if n := marks(text); n > mostMarks {
		return Tree{}, intake.Exceeded(fmt.Sprintf("it has %s lines, commas, colons, dashes and brackets, and %s is the most: split it into several documents", wording.Count(int64(n)), wording.Count(mostMarks)))
	}
	t := Tree{Root: new(yaml.Node), text: text}
	if err := yaml.Unmarshal(text, t.Root); err != nil {
		return Tree{}, inKubernetesWords(text, err)
	}
	whole, err := sizeOf(t.Root, 0, map[*yaml.Node]*size{})
	switch {
	case err != nil:
		return Tree{}, err
	case whole.values > mostValues:
		return Tree{}, intake.Exceeded(fmt.Sprintf("with what its aliases repeat it has more than %s values, which is the most: write what they name fewer times", wording.Count(mostValues)))
	case whole.levels > deepest:
		return Tree{}, intake.Exceeded(fmt.Sprintf("with what its aliases repeat it is nested %d deep, and %d is the most: nothing that linerate reads is", whole.levels, deepest))
	case whole.text > mostText:
		return Tree{}, intake.Exceeded(fmt.Sprintf("with what its aliases repeat it has more than %d MiB of text, which is the most: write what they name fewer times", mostText>>20))
	}
	return t, nil
}

// inKubernetesWords is the error of the parser that Kubernetes has, which counts lines another way. It isn't asked
// where something could be repeated.
func inKubernetesWords(text []byte, err error) error {
	if bytes.IndexByte(text, '*') >= 0 {
		return err
	}
	if _, theirs := sigsyaml.YAMLToJSONStrict(text); theirs != nil {
		return theirs
	}
	return err
}

// marks is how many characters may part two values.
func marks(text []byte) (n int) {
	for _, c := range text {
		if bytes.IndexByte([]byte("\n,:-[{?"), c) >= 0 {
			n++
		}
	}
	return n
}

// size is how many values a part of a document has, bytes of text, and levels, with all that its aliases repeat.
type size struct{ values, text, levels int64 }

// sizeOf walks each node once. A nil size is that of a node that the walk is still in.
func sizeOf(node *yaml.Node, depth int, sizes map[*yaml.Node]*size) (size, error) {
	if depth > deepest {
		return size{}, intake.Exceeded(fmt.Sprintf("it is nested more than %d deep, at its line %d: nothing that linerate reads is", deepest, node.Line))
	}
	if s, walked := sizes[node]; walked {
		if s == nil {
			return size{}, fmt.Errorf("line %d: an alias stands within what it names", node.Line)
		}
		return *s, nil
	}
	sizes[node] = nil
	whole := size{values: 1, text: int64(len(node.Value) + len(node.Tag)), levels: 1}
	parts := node.Content
	if node.Alias != nil {
		parts = []*yaml.Node{node.Alias}
	}
	for _, part := range parts {
		s, err := sizeOf(part, depth+1, sizes)
		if err != nil {
			return size{}, err
		}
		whole.values, whole.text = min(whole.values+s.values, 1<<40), min(whole.text+s.text, 1<<40)
		whole.levels = max(whole.levels, s.levels+1)
	}
	if node.Alias != nil {
		whole.levels-- // it stands for what it names
	}
	sizes[node] = &whole
	return whole, nil
}

// JSON is the document as JSON, as Kubernetes reads it (YAML 1.1). Strictly, a key that appears twice is an error.
// Otherwise keys may be merged in.
func (t Tree) JSON(strictly bool) ([]byte, error) {
	if strictly {
		return sigsyaml.YAMLToJSONStrict(t.text)
	}
	return sigsyaml.YAMLToJSON(t.text)
}

// Decode decodes a document into a value that is small when it is JSON, such as a list of links or a program's
// settings. Strictly, fields that the type doesn't know, and keys that appear twice, are errors.
func Decode(text []byte, target any, strictly bool) error {
	t, err := Parse(text)
	if err != nil {
		return err
	}
	document, err := t.JSON(strictly)
	if err != nil {
		return err
	}
	if strictly {
		return intake.StrictJSON(document, target, intake.Small)
	}
	return intake.JSON(document, target, intake.Small)
}
