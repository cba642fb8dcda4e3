package intake

import "reflect"

// Size is how large a document is.
type Size struct {
	Bytes int64
	// Elements is the number of elements of all lists together, and of the entries that Limits counts as such.
	Elements int64
	// Containers are lists and objects. Values are these and all others.
	Containers, Values int64
	// Depth is how many lists and objects are in each other.
	Depth int
	// Memory is the most bytes of memory that the decoded document takes besides its text, of the type that the
	// Meter was made for.
	Memory int64
}

// Meter measures the JSON that is written to it, without keeping any of it, and fails as soon as a limit is
// exceeded. It doesn't check that the JSON is well-formed. Documents may follow each other.
type Meter struct {
	Size
	limits Limits
	whole  *shape // of a document

	inText, escaped bool
	// inWord says that a number, true, false or null is being read.
	inWord bool
	open   []frame
	// started says that the innermost list or object has its first element or member. inRaw is the depth from which
	// on all text is kept as it is, or 0 for none.
	started bool
	inRaw   int
	// next is the shape of the value that follows. name is what is known of the member's name that is being read.
	next  *shape
	name  []byte
	named bool
	spare []map[string]bool
}

// frame is an open list or object.
type frame struct {
	shape *shape
	// counts says that its elements or members count as elements. object says that it has members.
	counts, object bool
	// bits are those of a struct's members so far. names are a map's.
	used  [mostBits / 64]uint64
	names map[string]bool
}

// mostBits is of how many members of a struct it is found that they are there twice, more than any of linerate's has.
const mostBits = 128

// longestName is how much of a member's name is kept. No field's name is longer, however it is written.
const longestName = 1024

// NewMeter is a Meter for documents that are decoded into values of a type. A nil type measures no memory.
func NewMeter(limits Limits, target reflect.Type) *Meter {
	if limits.Depth == 0 {
		limits.Depth = deepest
	}
	m := &Meter{limits: limits, whole: shapeOf(target)}
	m.next = m.whole
	return m
}

// Measure is the size of a document that is decoded into values of the type (nil for any). Its error says which
// limit the document exceeds.
func Measure(document []byte, limits Limits, target reflect.Type) (Size, error) {
	m := NewMeter(limits, target)
	_, err := m.Write(document)
	return m.Size, err
}

// Write implements io.Writer.
func (m *Meter) Write(part []byte) (int, error) {
	for i, c := range part {
		if m.inRaw > 0 {
			m.Memory += 2
		}
		if m.inText {
			m.readText(c)
			continue
		}
		if err := m.read(c); err != nil {
			m.Bytes += int64(i)
			return i, err
		}
		if m.limits.Memory > 0 && m.Memory > m.limits.Memory {
			m.Bytes += int64(i)
			return i, tooHeavy(m.limits.Memory, m.Bytes)
		}
	}
	m.Bytes += int64(len(part))
	switch {
	case m.limits.Bytes > 0 && m.Bytes > m.limits.Bytes:
		return 0, tooManyBytes(m.limits.Bytes)
	case m.limits.Elements > 0 && m.Elements > m.limits.Elements:
		return 0, tooManyElements(m.limits.Elements)
	case m.limits.Memory > 0 && m.Memory > m.limits.Memory:
		return 0, tooHeavy(m.limits.Memory, m.Bytes)
	}
	return len(part), nil
}

// readText reads on in a text.
func (m *Meter) readText(c byte) {
	switch {
	case m.escaped:
		m.escaped = false
	case c == '\\':
		m.escaped = true
	case c == '"':
		m.inText = false
		return
	}
	if m.named {
		if len(m.name) < longestName {
			m.name = append(m.name, c)
		}
		if top := m.top(); top.shape != nil && top.shape.members == nil {
			m.Memory++ // a map keeps its keys
		}
	} else if m.next != nil && m.inRaw == 0 {
		m.Memory++
	}
}

func (m *Meter) top() *frame { return &m.open[len(m.open)-1] }

func (m *Meter) read(c byte) error {
	goesOn := m.inWord
	m.inWord = false
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case ']', '}':
		m.close()
		return nil
	case ',':
		if len(m.open) > 0 {
			m.count()
			m.expect()
		}
		return nil
	case ':':
		if len(m.open) > 0 && m.named {
			return m.member()
		}
		return nil
	}
	if !m.started && len(m.open) > 0 { // whatever else follows the bracket begins its first element
		m.started = true
		m.count()
	}
	switch c {
	case '"':
		if m.inText = true; !m.named {
			m.value(c)
		}
	case '[', '{':
		m.value(c)
		return m.enter(c)
	default:
		if m.inWord = true; !goesOn {
			m.value(c)
		}
	}
	return nil
}

// member takes a member's name, whose value follows. It refuses a second one of the name. Decoders differ in which
// of the two counts, so a program that looked at the document, or signed it, may have read another one.
func (m *Meter) member() error {
	top := m.top()
	s := top.shape
	m.next, m.named = nil, false
	switch {
	case s == nil || s.raw || m.inRaw > 0:
		return nil
	case s.members != nil:
		name := unquoted(m.name)
		found, ok := s.members[folded(name)]
		if m.next = found.shape; !ok || found.bit >= mostBits {
			return nil
		}
		word, bit := found.bit/64, uint64(1)<<(found.bit%64)
		if top.used[word]&bit != 0 {
			return twice(name)
		}
		top.used[word] |= bit
		return nil
	}
	if m.next = s.element; len(m.name) == longestName {
		return nil
	}
	if top.names == nil {
		top.names = m.noNames()
	}
	name := unquoted(m.name)
	if top.names[name] {
		return twice(name)
	}
	top.names[name] = true
	return nil
}

// noNames is an empty set of names, either one that a closed object had, or a new one.
func (m *Meter) noNames() map[string]bool {
	n := len(m.spare)
	if n == 0 {
		return map[string]bool{}
	}
	names := m.spare[n-1]
	m.spare = m.spare[:n-1]
	return names
}

// fewNames is up to how many names a set had that is used again, since emptying a large one takes long.
const fewNames = 64

// reuse keeps the names' set of an object that is closed.
func (m *Meter) reuse(names map[string]bool) {
	if names != nil && len(names) <= fewNames {
		clear(names)
		m.spare = append(m.spare, names)
	}
}

// value adds what a value takes that begins here.
func (m *Meter) value(c byte) {
	m.Values++
	s := m.next
	if s == nil || m.inRaw > 0 || c == 'n' { // null takes nothing
		return
	}
	m.Memory += s.base
	switch {
	case s.generic && c == '{':
		m.Memory += genericMap
	case s.generic, s.raw, c == '"':
		m.Memory += genericValue
	}
}

// enter opens a list or an object.
func (m *Meter) enter(c byte) error {
	if len(m.open) == m.limits.Depth {
		return tooDeep(m.limits.Depth)
	}
	m.Containers++
	object := c == '{'
	m.open = append(m.open, frame{shape: m.next, object: object, counts: !object || len(m.open)+1 == m.limits.Entries})
	m.Depth = max(m.Depth, len(m.open))
	if m.inRaw == 0 && m.next != nil && m.next.raw {
		m.inRaw = len(m.open)
	}
	m.started = false
	m.expect()
	return nil
}

// close closes the innermost list or object.
func (m *Meter) close() {
	if len(m.open) == 0 {
		return
	}
	if m.inRaw == len(m.open) {
		m.inRaw = 0
	}
	m.reuse(m.top().names)
	m.open = m.open[:len(m.open)-1]
	m.started, m.named = true, false
	if len(m.open) == 0 {
		m.next = m.whole
	}
}

// count adds an element or a member to the innermost list or object.
func (m *Meter) count() {
	top := m.top()
	if top.counts {
		m.Elements++
	}
	if s := top.shape; s != nil && m.inRaw == 0 && s.members == nil {
		m.Memory += s.perElement
	}
}

// expect says what follows, a member's name or an element.
func (m *Meter) expect() {
	top := m.top()
	m.named, m.name = top.object, m.name[:0]
	m.next = nil
	if s := top.shape; !top.object && s != nil && !s.raw {
		m.next = s.element
	}
}
