package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// A Plan says how something is measured (the method), and a little about the device and the purpose. Figures of two
// runs can be compared if their methods are the same, in this part:
//
//	Plan ─┬─ method: engine, links, shared ports, directions, generators, procedure ─────▶ must be the same
//	      ├─ device: type, forwarding, an exact limit ───────────────────────────────────▶ may differ: that is what is compared
//	      └─ name, criteria, observers, baseline, deadline ───────────────────────────────────────────────────▶ change no figure

// Method identifies how the Plan measures, by the first 32 hexadecimal digits of the SHA-256 of that part of it.
// Runs of the same method on the same device count as repetitions.
func (p *Plan) Method() string {
	document, err := json.Marshal(p.method())
	if err != nil { // can't happen, as JSON can hold all its members
		return ""
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])[:32]
}

// Document is the Plan as a document of its own, as people read it.
func (p *Plan) Document() ([]byte, error) {
	var document bytes.Buffer
	enc := json.NewEncoder(&document)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(p)
	return document.Bytes(), err
}

// Digest is the SHA-256 of the Plan's Document. Plans that are alike in everything have the same.
func (p *Plan) Digest() string {
	document, err := p.Document()
	if err != nil { // can't happen, as JSON can hold all members of a Plan
		return ""
	}
	sum := sha256.Sum256(document)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// method is the Plan without what changes no figure, and without the device.
func (p *Plan) method() *Plan {
	m := *p
	m.Test, m.DUT, m.Criteria, m.Observers, m.Baseline, m.AllowDifferent, m.ActiveDeadline, m.Names = Test{}, DUT{},
		nil, nil, "", nil, 0, nil
	m.Sending, m.Procedure.Profile = nil, false // a profile comes after the answer
	if p.Procedure.Reset != nil {
		m.Procedure.Reset = &Reset{} // how long it may take changes no figure
	}
	m.Links = slices.Clone(p.Links)
	for i := range m.Links {
		m.Links[i].DUT.MAC, m.Links[i].DUT.SourceMACs = "", nil // another box has another address
	}
	m.Generators = slices.Clone(p.Generators)
	for i := range m.Generators {
		m.Generators[i].Server = "" // where a generator runs isn't part of the method
	}
	return &m
}

// MethodDifferences says where two Plans' methods differ, each place with both values, at most so many of them.
// There are none where the methods are the same.
func MethodDifferences(a, b *Plan, limit int) []string {
	return differences(a.method(), b.method(), limit)
}

// Differences says where two Plans differ in anything, at most so many places. There are none where they are the
// same.
func Differences(a, b *Plan, limit int) []string { return differences(a, b, limit) }

// DeviceDifferences says where the devices under test of two Plans differ, as far as a Plan knows.
func DeviceDifferences(a, b *Plan, limit int) []string {
	first, second := a.DUT, b.DUT
	for _, d := range []*DUT{&first, &second} { // no device is another for what is said about it
		d.Collect, d.Notes, d.Price, d.Disclosure = nil, "", "", ""
	}
	return differences(first, second, limit)
}

func differences(a, b any, limit int) []string {
	d := differ{limit: limit}
	d.values("", generic(a), generic(b))
	return d.lines()
}

// generic converts a value to JSON's types.
func generic(v any) any {
	document, err := json.Marshal(v)
	if err != nil { // can't happen, as JSON can hold all members of a Plan
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return nil
	}
	return value
}

// differ walks two values side by side.
type differ struct {
	found         []string
	limit, hidden int
}

func (d *differ) say(path string, a, b any) {
	d.add(fmt.Sprintf("%s is %s in the one and %s in the other", path, brief(a), brief(b)))
}

func (d *differ) add(difference string) {
	if len(d.found) == d.limit {
		d.hidden++
		return
	}
	d.found = append(d.found, difference)
}

// lines are the differences that were recorded, and how many more there are.
func (d *differ) lines() []string {
	if d.hidden > 0 {
		return append(d.found, fmt.Sprintf("and %d more", d.hidden))
	}
	return d.found
}

func (d *differ) values(path string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			d.objects(path, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				d.values(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
			}
			return
		}
	default:
		if a == b {
			return
		}
	}
	d.say(path, a, b)
}

func (d *differ) objects(path string, a, b map[string]any) {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		place := name
		if path != "" {
			place = path + "." + name
		}
		d.values(place, a[name], b[name])
	}
}

// brief prints a value in a few characters.
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case map[string]any:
		return "set"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case string:
		if len(v) > 40 {
			return fmt.Sprintf("%q…", v[:40])
		}
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}
