package delivery

import (
	"errors"
	"fmt"
	"io"
)

// The bounds of documents. A ConfigMap holds 1 MiB, its name and annotations included (Kubernetes, "ConfigMaps"). A packed document of that size can still fill
// memory: 66 kB unpack to 64 MB of "{},{},{},", each of which becomes a window when it is decoded. So a document has three bounds, and a writer drops detail
// until it meets all three:
//
//	packed ──▶ bytes, unpacked ──▶ elements of lists, decoded
//	900 KiB    32 MiB              100 000                       a Report that fills a ConfigMap has some 6 MB and 30 000
//	           16 MiB               30 000                       a sheet of a suite's runs: one of 256 KiB, packed, has some 3 MB and 10 000
const (
	MaxPacked       = 900 << 10
	maxUnpacked     = 32 << 20
	mostElements    = 100_000
	maxRunsUnpacked = 16 << 20
	mostRunElements = 30_000
	// deepest is how deep lists and objects may be nested; linerate's documents have a dozen levels.
	deepest = 64
)

// The most memory that an element of a list takes, decoded, with all that is in it but other lists' elements and text: of a Report's, and of a suite's runs, which
// have as much of a Report as a judgement needs.
const (
	elementBytes    = 65 << 5
	runElementBytes = 11 << 9
)

// bounds are those of one kind of document.
type bounds struct {
	bytes, elements int64
	// entries is the nesting depth of objects whose members, of whatever names, count as elements; 0: none do.
	entries int
}

var (
	ofDocument = bounds{bytes: maxUnpacked, elements: mostElements}
	// A sheet has its runs by their names, in an object of the outermost one.
	ofRuns = bounds{bytes: maxRunsUnpacked, elements: mostRunElements, entries: 2}
)

// Size is how large a document is once it is unpacked.
type Size struct {
	Bytes int64
	// Elements is the number of elements of all its lists together and, of a sheet, of its runs.
	Elements int64
}

// Memory is the most bytes that a Report of this size takes while it is decoded: its text, what is kept of that, and its elements.
func (s Size) Memory() int64 { return 2*s.Bytes + s.Elements*elementBytes }

// runsMemory is the most bytes that a sheet of this size takes while it is decoded: its text, its runs as they are written, one by one and without spaces, and decoded, with what is
// in them, and one of them written again.
func (s Size) runsMemory() int64 { return 6*s.Bytes + s.Elements*runElementBytes }

// exceeded is the error of a document that exceeds a bound, in words.
type exceeded string

func (e exceeded) Error() string { return string(e) }

// Measure is the size of a document that isn't packed; its error says which bound of a Report's it exceeds.
func Measure(document []byte) (Size, error) {
	m := &meter{bounds: ofDocument}
	_, err := m.Write(document)
	return m.Size, err
}

// SizeOf measures a packed Report without keeping any of it, and refuses one that is cut off, carries more behind its end, or exceeds a bound.
func SizeOf(packed []byte) (Size, error) { return sizeOf(packed, ofDocument) }

func sizeOf(packed []byte, within bounds) (Size, error) {
	r, in, err := unpacking(packed)
	if err != nil {
		return Size{}, err
	}
	m := &meter{bounds: within}
	_, err = io.Copy(m, r)
	switch _, large := errors.AsType[exceeded](err); {
	case large:
		return m.Size, err
	case err != nil:
		return m.Size, fmt.Errorf("unpack: %w", err)
	case in.Len() > 0:
		return m.Size, errors.New("something follows the packed document")
	}
	return m.Size, nil
}

// checkSize refuses a document that exceeds a bound, since no reader would unpack it.
func checkSize(document []byte, within bounds) error {
	_, err := (&meter{bounds: within}).Write(document)
	return err
}

// meter measures the JSON that is written to it, and fails as soon as a bound is exceeded. It doesn't check that the JSON is well-formed.
type meter struct {
	Size
	bounds
	inText, escaped bool
	// depth is how many lists and objects are open, lists which of them have elements that count; first: the innermost of these has none yet.
	depth int
	lists [deepest]bool
	first bool
}

// Write implements io.Writer.
func (m *meter) Write(part []byte) (int, error) {
	m.Bytes += int64(len(part))
	for _, c := range part {
		if m.inText {
			m.readText(c)
			continue
		}
		if err := m.read(c); err != nil {
			return 0, err
		}
	}
	switch {
	case m.Bytes > m.bytes:
		return 0, exceeded(fmt.Sprintf("it unpacks to more than %d MiB, which no document of linerate's does", m.bytes>>20))
	case m.Elements > m.elements:
		return 0, exceeded(fmt.Sprintf("its lists have more than %d elements together, which no document of linerate's does", m.elements))
	}
	return len(part), nil
}

// readText reads on in a text: only its end matters.
func (m *meter) readText(c byte) {
	switch {
	case m.escaped:
		m.escaped = false
	case c == '\\':
		m.escaped = true
	case c == '"':
		m.inText = false
	}
}

func (m *meter) read(c byte) error {
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case ']', '}':
		m.first = false
		m.depth = max(m.depth-1, 0)
		return nil
	case ',':
		if m.depth > 0 && m.lists[m.depth-1] {
			m.Elements++
		}
		return nil
	}
	if m.first { // whatever else follows the bracket begins its first element
		m.Elements++
		m.first = false
	}
	switch c {
	case '"':
		m.inText = true
	case '[', '{':
		if m.depth == deepest {
			return exceeded(fmt.Sprintf("it is nested more than %d deep, which no document of linerate's is", deepest))
		}
		m.first = c == '[' || m.depth+1 == m.entries
		m.lists[m.depth] = m.first
		m.depth++
	}
	return nil
}
