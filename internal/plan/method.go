package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// A Plan says how something is measured, and a little of what is measured, of whom and for whom. Figures of two runs can be set against each
// other where the first is the same:
//
//	Plan ─┬─ method: engine, links, shared ports, directions, generators, procedure ─────▶ must be the same
//	      ├─ device: type, forwarding, an exact limit ───────────────────────────────────▶ may differ: that is what is compared
//	      └─ name, criteria, observers, baseline, deadline ───────────────────────────────────────────────────▶ change no figure

// Method identifies how the Plan measures: the first 32 hexadecimal digits of the SHA-256 of that part of it. Runs of the same method may be
// taken for repetitions, where the device is the same too.
func (p *Plan) Method() string {
	document, err := json.Marshal(p.method())
	if err != nil { // none of its members holds what JSON can't
		return ""
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])[:32]
}

// method is the Plan without what changes no figure, and without the device.
func (p *Plan) method() *Plan {
	m := *p
	m.Version = Version // which version a Plan is written in changes no figure
	m.Test, m.DUT, m.Criteria, m.Observers, m.Baseline, m.AllowDifferent, m.ActiveDeadline = Test{}, DUT{}, nil, nil, "", nil, 0
	m.Sending = nil
	if p.Procedure.Reset != nil {
		m.Procedure.Reset = &Reset{} // how long it may take changes no figure
	}
	m.Links = slices.Clone(p.Links)
	for i := range m.Links {
		m.Links[i].DUT.MAC = "" // another box has another address
	}
	m.Generators = slices.Clone(p.Generators)
	for i := range m.Generators {
		m.Generators[i].Server = "" // where it runs is the lab's affair
	}
	return &m
}

// MethodDifferences says where two Plans measure differently: each place with what it is in the one and in the other, at most so many of them. None:
// they have the same method.
func MethodDifferences(a, b *Plan, most int) []string {
	return differences(a.method(), b.method(), most)
}

// Differences says where two Plans differ in anything, at most so many places; none: they are the same.
func Differences(a, b *Plan, most int) []string { return differences(a, b, most) }

// DeviceDifferences says where the devices under test of two Plans differ, as far as a Plan knows.
func DeviceDifferences(a, b *Plan, most int) []string { return differences(a.DUT, b.DUT, most) }

func differences(a, b any, most int) []string {
	d := differ{most: most}
	d.values("", generic(a), generic(b))
	return d.all()
}

// generic is a value as JSON has it.
func generic(v any) any {
	document, err := json.Marshal(v)
	if err != nil { // none of a Plan's members holds what JSON can't
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var out any
	if dec.Decode(&out) != nil {
		return nil
	}
	return out
}

// differ walks two values side by side.
type differ struct {
	said       []string
	most, more int
}

func (d *differ) say(path string, a, b any) {
	d.tell(fmt.Sprintf("%s is %s in the one and %s in the other", path, brief(a), brief(b)))
}

func (d *differ) tell(difference string) {
	if len(d.said) == d.most {
		d.more++
		return
	}
	d.said = append(d.said, difference)
}

// all is what was said, and how much wasn't.
func (d *differ) all() []string {
	if d.more > 0 {
		return append(d.said, fmt.Sprintf("and %d more", d.more))
	}
	return d.said
}

func (d *differ) values(path string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, same := b.(map[string]any); same {
			d.objects(path, a, b)
			return
		}
	case []any:
		if b, same := b.([]any); same && len(a) == len(b) {
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
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := name
		if path != "" {
			at = path + "." + name
		}
		d.values(at, a[name], b[name])
	}
}

// brief is a value in a few characters.
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
